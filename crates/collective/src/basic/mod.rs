//! Algorithms that the operations of communicators with one group share with those of intercommunicators,
//! whose groups use them among themselves.

mod barrier;
mod bcast;
mod reduce;
mod scatter;

pub(super) use barrier::barrier as by_dissemination;
pub(super) use bcast::bcast as bcast_by_tree;
pub(super) use reduce::reduce as reduce_by_tree;
pub(super) use scatter::scatter as scatter_straight;
