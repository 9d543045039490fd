//! Waiting: poll, spin, yield, and after long idleness sleep.
//!
//! Who waits makes progress, for the VNI it waits on and for the others: no VNI is abandoned because its thread
//! computes. A sleeping thread is woken by its process's bell, which every arriving message and every completion
//! rings.
//!
//! Under execution `offload` the VNIs' own threads make the progress (`service.rs`), and who waits only waits: its attempts at
//! progress do nothing, and before it sleeps it looks at what it waits for alone, since whoever completes that rings the bell.
//!
//! | file | idea |
//! |---|---|
//! | `event.rs` | what a thread waits for |
//! | `wait.rs` | the loops in which a thread waits |
//! | `counter.rs` | one looks for all, the others sleep until they are signalled (wake-up `counter`) |
//! | `fairness.rs` | yields of a thread whose waits all end at once |
//! | `test.rs` | attempts at progress by threads that do not wait |

mod counter;
mod event;
mod fairness;
mod test;
mod wait;

pub use event::Event;

/// While one VNI is polled, the others get a look every so many rounds.
const OTHERS_EVERY: u32 = 16;
