//! What reductions on the [blackboard](super::blackboard) have in common.
//!
//! | file | idea |
//! |---|---|
//! | `fold_all.rs` | computing with the vectors of all ranks |
//! | `pieces.rs` | long vectors in chunks, and chunks in pieces |

mod fold_all;
mod pieces;

pub(super) use fold_all::{FoldFrom, fold_all};
pub(super) use pieces::{Chunks, Piece};
