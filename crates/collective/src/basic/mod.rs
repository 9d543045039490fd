//! What the algorithms of several operations have in common. Intercommunicators use these algorithms, too,
//! within their groups.
//!
//! | file | idea |
//! |---|---|
//! | `barrier.rs`, `bcast.rs`, `reduce.rs`, `scatter.rs` | algorithms |
//! | `accumulator.rs` | results that grow |
//! | `scattered_reduction.rs` | reductions of long vectors in pieces, by messages |
//! | `parts.rs` | data of any length on the blackboard, in parts |
//! | `offer.rs` | data of any length in one round, published or exposed |
//! | `offered_blocks.rs` | blocks of any lengths in one round, one for each rank |
//! | `of_two.rs` | what two ranks give each other, in the way that the giver chooses |

mod accumulator;
mod barrier;
mod bcast;
mod of_two;
mod offer;
mod offered_blocks;
mod parts;
mod reduce;
mod scatter;
mod scattered_reduction;

pub(super) use accumulator::{Accumulator, Side};
pub(super) use barrier::barrier as by_dissemination;
pub(super) use bcast::bcast as bcast_by_tree;
pub(super) use of_two::{OfTwo, Ways};
pub(super) use offer::Offer;
pub(super) use offered_blocks::OfferedBlocks;
pub(super) use parts::{InParts, publish_and_read};
pub(super) use reduce::reduce as reduce_by_tree;
pub(super) use scatter::scatter as scatter_straight;
pub(super) use scattered_reduction::{Pieces, even_pieces};
