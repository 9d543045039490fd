//! A simulated network in virtual time, and the benchmarks of `distributed-rma-locks` (Schmid, Besta,
//! Hoefler: *High-performance distributed RMA locks*, HPDC 2016, doi:10.1145/2907294.2907323) on it.
//!
//! The locks are those of `heddle-rma-locks`, unchanged: a [`SimulatedProcess`] implements their trait
//! [`Rma`](heddle_rma_locks::Rma). Thousands of processes run in one thread, by discrete events, and the same
//! seed gives the same run. `heddle bench rma-locks` (`heddle-experiments`) runs them.
//!
//! | file | idea |
//! |---|---|
//! | `network.rs` | [`SimulatedNetwork`]: the machine's parameters, and where each number comes from |
//! | `world.rs` | memory, operations on the way, and waits |
//! | `process.rs` | [`SimulatedProcess`]: the operations of a process |
//! | `simulation.rs` | [`Simulation`]: the loop of events |
//! | `random.rs` | [`Random`]: numbers that a seed determines |
//! | `lock.rs` | [`LockKind`]: the locks behind one face |
//! | `benchmark.rs` | [`Workload`]: LB, ECSB, SOB, WCSB, WARB |
//! | `hash_table.rs` | [`HashTable`]: DHT |
//!
//! **Operations.** An operation takes `one_way` to its target, its turn there (at the interface of the node
//! if it comes from another one, else at the memory of the process), takes effect, and its answer takes the
//! rest of its time back. Puts and adds let their process go on after `issue`; a flush waits for their
//! answers.
//!
//! **Waits.** A process that waits for a word of another node gets it again and again. The gets are not
//! simulated one by one: each such process adds to the load of the target's interface, which delays all
//! other operations there ([`SimulatedNetwork`]), and after a change of the word it looks at the next time
//! at which its get would have arrived. It acts on the value that it finds then, so it may miss one that
//! did not last. A process that waits for a word of its own node polls its cache, and looks as soon as the
//! line has come.
//!
//! **Not modelled:** the sender's interface, congestion inside of the network, differences in distance
//! between nodes (but [`SimulatedNetwork::sizes`] may have more levels), the size of messages (all are of 8
//! bytes), and the noise of an operating system.

mod benchmark;
mod hash_table;
mod lock;
mod network;
mod process;
mod random;
mod simulation;
mod world;

pub use benchmark::{Benchmark, RunFigures, Shares, Workload};
pub use hash_table::HashTable;
pub use lock::{LockKind, RmaRwParameters, Tuned};
pub use network::{DistanceTimes, MICROSECOND, NANOSECOND, SimulatedNetwork, Time};
pub use process::SimulatedProcess;
pub use random::Random;
pub use simulation::{Simulation, Stuck};
