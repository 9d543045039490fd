//! Performance variables: the counters, by classes.
//!
//! Counters and times count from the moment in which their handle is started, and can be stopped, reset and
//! written: each handle counts from its own zero, so that tools do not disturb each other. Levels and
//! percentages show the present value to all handles.
//!
//! | file | idea |
//! |---|---|
//! | `variable.rs` | what a variable is |
//! | `sections.rs` | the counters of critical sections: the same figures for each, and for all together |
//! | `events.rs` | the counters that belong to no critical section |

mod events;
mod sections;
mod variable;

pub use variable::{Performance, VariableClass};

use std::sync::OnceLock;

/// All performance variables, in the order of their indices.
pub fn performances() -> &'static [Performance] {
    static PERFORMANCES: OnceLock<Vec<Performance>> = OnceLock::new();
    PERFORMANCES.get_or_init(|| {
        let mut all = events::variables();
        all.extend(sections::variables());
        all
    })
}
