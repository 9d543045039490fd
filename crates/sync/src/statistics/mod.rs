//! Counting what happens, at the price of a store.
//!
//! Each thread counts in a separate block: a relaxed load, an addition and a relaxed store to a cache line
//! that no other thread writes. A reader sums over the blocks, at any time; the sums of a running program are
//! of slightly different moments, those of a stopped one are exact.
//!
//! | | |
//! |---|---|
//! | [`PerThread`] | a block for each thread: found by the thread's identity, in a table of fixed size |
//! | [`Tally`], [`Histogram`] | what a block is made of |

mod histogram;
mod per_thread;
mod tally;

pub use histogram::{BUCKETS, Histogram, HistogramSnapshot};
pub use per_thread::{Block, PerThread};
pub use tally::{Tally, Writers};
