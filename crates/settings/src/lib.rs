//! Settings: what the environment and MPI_T's control variables choose. They are read once, at
//! initialisation; a wrong value is an error that names the allowed ones.
//!
//! This crate is the one place that describes a setting: `heddle info`, MPI_T and the reference page
//! (`docs/reference.md`) come from [`Variable::all`] and [`info_keys`]. The crate stands on `heddle-model`,
//! which describes the parts of a model, and on `heddle-bootstrap`; `heddle-message`, `heddle-comm`,
//! `heddle-p2p`, `heddle-collective`, `heddle-rma`, `heddle-process`, `heddle-tool`, `heddle-abi`,
//! `heddle-experiments` and `heddle-cli` use it. All functions may be called by any thread.
//!
//! | file | idea |
//! |---|---|
//! | `lib.rs` | the settings in force in this process |
//! | `settings.rs` | the settings that are no part of the model, a row for each |
//! | `kinds.rs` | the kinds of their values |
//! | `collectives.rs` | the algorithms of collective operations, and where one takes over from another |
//! | `algorithm.rs` | the names of these algorithms |
//! | `collective_operation.rs` | the operations that have a choice of them |
//! | `collective_table.rs` | a file with algorithms by the number of processes and bytes |
//! | `chosen.rs` | the settings that the environment and the control variables choose |
//! | `given.rs` | the values given to variables |
//! | `mistyped.rs` | variables of the environment that look like a setting, and are none |
//! | `variable.rs` | every environment variable: the settings here and the parts of the model |
//! | `info_keys.rs` | the info keys that Heddle knows |
//! | `cores.rs` | a list of cores |
//! | `spread_rule.rs` | when messages are spread over VNIs |

mod algorithm;
mod chosen;
mod collective_operation;
mod collective_table;
mod collectives;
mod cores;
mod given;
pub mod info_keys;
mod kinds;
mod mistyped;
mod settings;
mod spread_rule;
mod variable;

pub use algorithm::Algorithm;
pub use collective_operation::CollectiveOperation;
pub use collective_table::{CollectiveTable, Rule, number_with_unit};
pub use collectives::Collectives;
pub use cores::Cores;
pub use given::{given, write};
pub use kinds::bypasses;
pub use mistyped::mistyped_variables;
pub use settings::Settings;
pub use spread_rule::SpreadRule;
pub use variable::Variable;

use std::sync::OnceLock;

heddle_platform::per_process! {
    static IN_FORCE: OnceLock<Settings> = OnceLock::new();
}

/// The settings with which MPI was initialised; `None` before that.
pub fn in_force() -> Option<&'static Settings> {
    IN_FORCE.get()
}

/// Returns true if `HEDDLE_STRICT` is on. Every check that is left out for programs which other libraries run
/// asks here; `docs/leniency.md` lists these checks.
pub fn is_strict() -> bool {
    in_force().is_some_and(|settings| settings.strict)
}

/// Puts settings in force for the rest of the process, and returns those in force: the first caller's.
pub fn put_in_force(settings: Settings) -> &'static Settings {
    IN_FORCE.get_or_init(|| settings)
}
