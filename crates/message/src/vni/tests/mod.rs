//! Tests of whole VNIs: several ranks in one process, many threads, floods of unexpected messages, cancelled
//! sends.

mod cancelled;
mod flood;
mod lost;
mod many_threads;
mod order;
pub(crate) mod ranks;
mod served;
mod stopped;
