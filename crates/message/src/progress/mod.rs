//! Waiting: a thread polls, spins, yields, and after a long idle time sleeps.
//!
//! A waiting thread makes progress on the VNI that it waits on and on the others, so no VNI stands still
//! because its thread computes. The process's doorbell wakes a sleeping thread; every arriving message and
//! every completion rings it.
//!
//! Under execution `offload` the offload threads make the progress (`offload.rs`). A waiting
//! thread makes none unless they have no core, and before it sleeps it checks its own event alone, since the
//! thread that completes it rings the doorbell.
//!
//! | file | idea |
//! |---|---|
//! | `event.rs` | the events that a thread waits for |
//! | `wait.rs` | the loops in which a thread waits |
//! | `sleep.rs` | what tools learn of threads that sleep |
//! | `counter.rs` | one thread polls, the others sleep until they are signalled (wake-up `counter`) |
//! | `beside_server.rs` | a wait in which the thread stands in for an offload thread that has no core |
//! | `turns.rs` | a wait for another process where threads take turns on the cores |
//! | `fairness.rs` | yields of a thread whose waits all end promptly |
//! | `backoff.rs` | the tries that a test skips after it was refused |
//! | `test.rs` | progress by threads that do not wait |

mod backoff;
mod beside_server;
mod counter;
mod event;
mod fairness;
mod sleep;
mod test;
mod turns;
mod wait;

pub use event::{Awaited, AwaitedEvent};
pub use test::{count_short_test, is_test_short};
pub use wait::ended_promptly;

/// The number of rounds in which a thread polls one VNI before it polls the others once.
const OTHERS_EVERY: u32 = 16;
