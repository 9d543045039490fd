//! What reductions on the [blackboard](super::blackboard) have in common.
//!
//! | file | idea |
//! |---|---|
//! | `fold_from.rs` | computing with published vectors |
//! | `own.rs` | computing with this rank's vector where it is, and with those of the others |
//! | `pieces.rs` | long vectors in chunks, chunks in pieces, and the order of their rounds |
//! | `in_pieces.rs` | long vectors of which all ranks compute pieces |

mod fold_from;
mod in_pieces;
mod own;
mod pieces;

pub(super) use fold_from::FoldFrom;
pub(super) use in_pieces::InPieces;
pub(super) use own::OwnOperands;
pub(super) use pieces::Chunks;
