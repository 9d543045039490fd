//! For tests of the machine.
//!
//! | module | what it has |
//! |---|---|
//! | `by_hand` | a machine whose threads go on when the test says so |
//! | `invariants` | what is true of a machine at any time |
//! | `real_threads` | a machine whose threads are threads of the host that wait for the token |

mod by_hand;
mod invariants;
mod real_threads;

pub(crate) use by_hand::{ByHand, COSTS, NoNames, START, cores, site};
pub(crate) use invariants::{check_whole, waiting_for};
pub(crate) use real_threads::{Program, Running, run};
