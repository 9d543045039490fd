//! Distributed locks over remote memory access: `distributed-rma-locks` (Schmid, Besta, Hoefler: *High-performance distributed RMA
//! locks*, HPDC 2016, doi:10.1145/2907294.2907323), in the repaired forms that `README.md` explains.
//!
//! | file | idea |
//! |---|---|
//! | `rma.rs` | [`Rma`]: the operations that the locks need |
//! | `layout.rs` | [`Layout`]: levels of the machine, and which process keeps which word |
//! | `queue.rs` | one queue of the tree: entering, passing on, leaving |
//! | `mcs.rs` | [`RmaMcs`]: a tree of queues; with one level it is D-MCS |
//! | `rw.rs` | [`RmaRw`]: the tree, and counters for readers |
//! | `simple.rs` | [`Spin`] and [`SimpleRw`]: the locks of foMPI that the paper compares with |
//!
//! It uses no other crate. The locks keep all their state in the words of an [`Rma`], so a handle is a value that any number of
//! processes make from the same [`Layout`].

mod layout;
mod mcs;
mod queue;
mod rma;
mod rw;
mod simple;

pub use layout::Layout;
pub use mcs::RmaMcs;
pub use rma::{Rank, Rma, Word};
pub use rw::RmaRw;
pub use simple::{SimpleRw, Spin};

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a lock's function over an [`Rma`] whose futures are ready at once.
///
/// # Panics
/// If a future is not ready.
#[inline]
pub fn now<R>(future: impl Future<Output = R>) -> R {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("an operation on real memory is ready at once"),
    }
}
