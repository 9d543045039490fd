//! MPI_T: variables that a program or a tool can read and set, and events that it can observe.
//!
//! The crate stands on `heddle-settings` and on the counters of `heddle-model`; from `heddle-message` it
//! takes errors and the number of VNIs. `heddle-abi` uses it.
//!
//! | file | idea |
//! |---|---|
//! | `control.rs` | control variables: every setting and every part of the model |
//! | `performance` | performance variables: the [counters](heddle_model::counters) |
//! | `value.rs` | the values of both, as C sees them |
//! | `event.rs` | event types, over the [tracepoints](heddle_model::Tracepoint) |
//! | `instance.rs` | instances of events, for callbacks |
//! | `registration.rs` | registrations of events, and how callbacks are called |
//! | `category.rs` | categories of variables and events |
//! | `session.rs` | sessions and handles |
//! | `life.rs` | initialising and finalising MPI_T |
//! | `lookup.rs` | looking up the objects that C names by numbers |
//!
//! No lock here is one that an MPI call needs, and reading the counters does not disturb the threads that
//! count. Every number from C is looked up; one that names nothing is an error. All functions may be called
//! by any thread.

mod category;
mod control;
mod event;
mod instance;
mod life;
mod lookup;
mod performance;
mod registration;
mod session;
mod value;

pub use category::{CATEGORIES, Category};
pub use control::{Control, controls};
pub use event::{EVENTS, EventType, SOURCE_MEANING, SOURCE_NAME, TICKS_PER_SECOND, timestamp};
pub use instance::Instance;
pub use life::{finalize, initialize};
pub use lookup::{at, check, index_of};
pub use performance::{Performance, VariableClass, performances};
pub use registration::{CallbackState, DroppedFunction, EventFunction, FreeFunction};
pub use session::{
    HandleOperation, allocate_control, allocate_event, allocate_performance, check_event,
    check_event_callback, control_of, create_session, free_control, free_event, free_performance,
    free_session, operate, read, set_dropped_handler, set_event_callback, write,
};
pub use value::{Type, Value};
