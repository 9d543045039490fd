//! One-sided communication (MPI 5.0, chapter 12): windows behind handles. The crate `heddle-window` has what
//! they do, `heddle-comm` the communicators over which they are made.
//!
//! | file | idea |
//! |---|---|
//! | `object.rs` | the window, and windows in use |
//! | `create.rs` | making and freeing windows |
//! | `exchange.rs` | the processes that make a window tell each other a value |
//! | `hints.rs` | the info hints of windows |
//! | `epochs.rs` | fences and groups of ranks |
//! | `operations.rs` | put, get and accumulates, with datatypes and operators behind handles |
//! | `express.rs` | the same for the most frequent arguments, with the fewest instructions |

mod create;
mod epochs;
mod exchange;
mod express;
mod hints;
mod object;
mod operations;

pub use create::{Memory, create, free};
pub use express::{PlainCopy, PlainIntegers, flush_express};
pub use hints::{Hints, default_lock};
pub use object::{WINS, Win, WinRef};
pub use operations::{Far, accumulate, check_predefined, compare_and_swap, get, put};
