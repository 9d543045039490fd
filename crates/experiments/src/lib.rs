#![deny(unsafe_code)]
//! What `heddle bench` and `heddle papers` measure, and what they make of the figures: tables, pictures, and
//! verdicts on targets and on the papers' statements.
//!
//! MPI is measured from outside, by programs that are compiled and started. The locks of `heddle-locks`,
//! `heddle-sync` and `heddle-combining` are measured in this process, and the distributed ones are simulated
//! by `heddle-rma-sim`. All that is measured takes turns in the rounds of one harness.
//!
//! | module | what |
//! |---|---|
//! | [`mod@bench`] | `heddle bench`: MPI libraries beside each other |
//! | `locks` | `heddle bench locks`: locks beside the other mutexes of this machine |
//! | `rma_locks` | `heddle bench rma-locks`: the distributed locks, simulated |
//! | [`papers`] | `heddle papers`: the papers' experiments, and their statements |
//! | `harness` | what they share: alternating rounds, medians, the load by other programs, files |
//! | `report` | charts, targets, verdicts |
//! | `installation` | where Heddle is installed |
//! | `error` | [`BenchError`] |

pub mod bench;
mod error;
mod harness;
mod installation;
mod locks;
pub mod papers;
mod report;
mod rma_locks;

pub use error::BenchError;
pub use installation::Installation;
