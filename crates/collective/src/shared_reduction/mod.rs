//! What reductions on the [blackboard](super::blackboard) have in common.
//!
//! | file | idea |
//! |---|---|
//! | `fold_all.rs` | computing with the published vectors of all ranks |
//! | `own.rs` | computing with this rank's vector where it is, and with those of the others |
//! | `exposed.rs` | computing with vectors that nobody copies to the blackboard |
//! | `pieces.rs` | long vectors in chunks, chunks in pieces, and the order of their rounds |
//! | `in_pieces.rs` | long vectors of which all ranks compute pieces |

mod exposed;
mod fold_all;
mod in_pieces;
mod own;
mod pieces;

pub(super) use exposed::ExposedVectors;
pub(super) use fold_all::{FoldFrom, fold_all};
pub(super) use in_pieces::InPieces;
pub(super) use own::OwnOperands;
pub(super) use pieces::Chunks;
