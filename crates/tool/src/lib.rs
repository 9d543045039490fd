//! MPI_T: the variables that a program or a tool can look at and set.
//!
//! The crate stands on `heddle-settings` and on the counters of `heddle-model`; from `heddle-message` it takes errors and the
//! number of VNIs. `heddle-abi` uses it.
//!
//! | file | idea |
//! |---|---|
//! | `control.rs` | control variables: every setting and every part of the model |
//! | `performance.rs` | performance variables: what is [counted](heddle_model::counters) |
//! | `value.rs` | the values of both, as C sees them |
//! | `category.rs` | what belongs together |
//! | `session.rs` | sessions and handles |
//! | `life.rs` | initialising and finalising MPI_T |
//! | `lookup.rs` | looking up what C names by numbers |
//!
//! Nothing here holds a lock that a call of MPI needs, and reading costs those who count nothing. Whatever number
//! comes from C is looked up: one that leads nowhere is an error.

mod category;
mod control;
mod life;
mod lookup;
mod performance;
mod session;
mod value;

pub use category::{CATEGORIES, Category};
pub use control::{Control, controls};
pub use life::{finalize, initialize};
pub use lookup::{at, check, index_of};
pub use performance::{Class, Performance, performances};
pub use session::{
    Operation, allocate_control, allocate_performance, control_of, create_session, free_control,
    free_performance, free_session, operate, read, write,
};
pub use value::{Type, Value};
