//! The parts of a model, each with the environment variable that chooses it.

use super::arbitration::Arbitration;
use super::error::ModelError;
use super::model::Model;
use super::options::{
    Bias, Choice, Class, Execution, Granularity, Lifetime, OffloadThreads, ProgressEntry, ReferenceCounts,
    RequestPool, Requests, TestBackoff, WakeUp,
};
use super::threshold::CollectThreshold;
use heddle_locks::hmcs::Thresholds;

/// The form of a variable's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// The allowed names, with commas between them.
    Names,
    /// Numbers.
    Numbers,
    /// Text in a form that the part defines.
    Text,
}

/// A part of a model.
#[derive(Debug)]
pub struct Part {
    /// The part's name, in words.
    pub name: &'static str,
    /// The part's environment variable. In lower case it is the name of the MPI_T control variable.
    pub variable: &'static str,
    /// Whom it concerns.
    pub class: Class,
    /// The meaning of the part.
    pub meaning: &'static str,
    /// The form of the part's values.
    pub values: Values,
    /// The allowed values, for a sentence.
    pub allowed: fn() -> String,
    /// Some allowed values, to try them in combination with others.
    pub examples: fn() -> Vec<&'static str>,
    /// The value in a model.
    pub get: fn(&Model) -> String,
    /// Sets the value in a model, or returns why not.
    pub set: fn(&mut Model, &str) -> Result<(), String>,
    /// The condition under which the part acts; `None` if it acts in every model.
    pub acts_under: Option<Condition>,
}

/// A condition that a model meets or not.
#[derive(Debug)]
pub struct Condition {
    /// The condition, for a sentence: an execution, an arbitration.
    pub name: &'static str,
    /// Returns true for a model that meets it.
    pub holds: fn(&Model) -> bool,
}

impl Condition {
    /// Refuses a variable that acts under this condition, if the model does not meet it.
    ///
    /// # Errors
    /// [`ModelError::WithoutEffect`].
    pub fn check(&self, variable: &'static str, model: &Model) -> Result<(), ModelError> {
        if (self.holds)(model) {
            return Ok(());
        }
        Err(ModelError::WithoutEffect { variable, acts_under: self.name, model: Box::new(*model) })
    }
}

impl Part {
    /// Returns true if the part's value changes anything in a model.
    #[must_use]
    pub fn acts_in(&self, model: &Model) -> bool {
        self.acts_under.as_ref().is_none_or(|condition| (condition.holds)(model))
    }
}

/// Threads of the library run the operations.
pub const OFFLOAD: Condition = Condition { name: "execution \"offload\"", holds: Model::is_offloaded };
const COLLECTING: Condition =
    Condition { name: "a lifetime other than \"none\"", holds: |model| model.lifetime != Lifetime::Never };
const HMCS: Condition = Condition { name: "an arbitration with hmcs", holds: Model::has_cohorts };
const PRIORITY: Condition = Condition {
    name: "an arbitration p-X-Y",
    holds: |model| matches!(model.arbitration, Arbitration::Priority(..)) && model.has_lock_to_wait_for(),
};
const COMBINING: Condition = Condition {
    name: "execution \"csync\", \"dsm-synch\" or \"lockq\"",
    holds: |model| matches!(model.execution, Execution::CSync | Execution::DsmSynch | Execution::LockQ),
};
pub(super) const ENTERING: Condition = Condition {
    name: "granularity \"per-vni\", \"brief-global\" or \"per-object\", without offload threads",
    holds: Model::has_progress_entries,
};
const POSTING: Condition =
    Condition { name: "execution \"lockq\"", holds: |model| model.execution == Execution::LockQ };
const GIVING_UP: Condition = Condition {
    name: "granularity \"per-vni\", \"brief-global\" or \"global\" and bias \"none\", with an arbitration whose waiters can give up \
           (mutex, clh, abortable-mcs, hmcs)",
    holds: Model::waiters_give_up,
};
const TRYING: Condition = Condition {
    name: "granularity \"per-vni\" or \"brief-global\", without offload threads: elsewhere no test finds a critical section \
           taken and gives up",
    holds: Model::tests_try,
};

/// Makes a part that is one of a few names.
macro_rules! option {
    ($name:literal, $variable:literal, $class:ident, $choice:ident, $field:ident, $meaning:literal) => {
        option!($name, $variable, $class, $choice, $field, $meaning, Names, None)
    };
    ($name:literal, $variable:literal, $class:ident, $choice:ident, $field:ident, $meaning:literal, $values:ident) => {
        option!($name, $variable, $class, $choice, $field, $meaning, $values, None)
    };
    ($name:literal, $variable:literal, $class:ident, $choice:ident, $field:ident, $meaning:literal, $values:ident, $under:expr) => {
        Part {
            name: $name,
            variable: $variable,
            class: Class::$class,
            meaning: $meaning,
            values: Values::$values,
            allowed: $choice::names,
            examples: $choice::examples,
            get: |model| model.$field.to_string(),
            set: |model, value| {
                model.$field = value.parse().map_err(|_| format!("{} is wanted", $choice::names()))?;
                Ok(())
            },
            acts_under: $under,
        }
    };
}

/// Makes a part that is a number, from a smallest one on.
macro_rules! number {
    ($name:literal, $variable:literal, $class:ident, $field:ident, $least:literal, $meaning:literal, $under:expr) => {
        Part {
            name: $name,
            variable: $variable,
            class: Class::$class,
            meaning: $meaning,
            values: Values::Numbers,
            allowed: || format!("a number from {} to {}", $least, u32::MAX),
            examples: || vec![stringify!($least), "100"],
            get: |model| model.$field.to_string(),
            set: |model, value| match value.parse() {
                Ok(number @ $least..) => {
                    model.$field = number;
                    Ok(())
                }
                _ => Err(format!("a number from {} to {} is wanted", $least, u32::MAX)),
            },
            acts_under: Some($under),
        }
    };
}

/// Every part, in the order of the papers.
pub const PARTS: &[Part] = &[
    option!(
        "granularity",
        "HEDDLE_GRANULARITY",
        Research,
        Granularity,
        granularity,
        "which critical section guards an object"
    ),
    option!(
        "arbitration",
        "HEDDLE_ARBITRATION",
        Research,
        Arbitration,
        arbitration,
        "which thread enters a contended critical section next",
        Text
    ),
    Part {
        name: "bias",
        variable: "HEDDLE_BIAS",
        class: Class::Tuning,
        meaning: "which threads enter a critical section at nearly no cost while no others use it (on: thread, off: none)",
        values: Values::Names,
        allowed: Bias::names,
        examples: Bias::examples,
        get: |model| model.bias.to_string(),
        set: |model, value| {
            model.bias = match value {
                "on" => Bias::Thread,
                "off" => Bias::None,
                name => name.parse().map_err(|_| format!("{} is wanted", Bias::names()))?,
            };
            Ok(())
        },
        acts_under: None,
    },
    option!(
        "execution",
        "HEDDLE_EXECUTION",
        Research,
        Execution,
        execution,
        "which thread runs an operation"
    ),
    option!(
        "progress entry",
        "HEDDLE_PROGRESS_ENTRY",
        Research,
        ProgressEntry,
        progress_entry,
        "how a waiting thread enters a critical section to make progress",
        Names,
        Some(ENTERING)
    ),
    option!(
        "offload threads",
        "HEDDLE_OFFLOAD_THREADS",
        Tuning,
        OffloadThreads,
        offload_threads,
        "how many threads there are for the VNIs, under offload",
        Names,
        Some(OFFLOAD)
    ),
    option!(
        "wake-up",
        "HEDDLE_WAKEUP",
        Research,
        WakeUp,
        wake_up,
        "how a waiter learns that its operation is complete"
    ),
    option!(
        "lifetime",
        "HEDDLE_LIFETIME",
        Research,
        Lifetime,
        lifetime,
        "what keeps an object alive while a request uses it"
    ),
    option!(
        "collect threshold",
        "HEDDLE_COLLECT_THRESHOLD",
        Tuning,
        CollectThreshold,
        collect_threshold,
        "how many more freed objects start a collection",
        Text,
        Some(COLLECTING)
    ),
    option!(
        "request pool",
        "HEDDLE_REQUEST_POOL",
        Research,
        RequestPool,
        request_pool,
        "where requests come from"
    ),
    option!("requests", "HEDDLE_REQUESTS", Research, Requests, requests, "which sends have a request"),
    option!(
        "reference counts",
        "HEDDLE_REFERENCE_COUNTS",
        Research,
        ReferenceCounts,
        reference_counts,
        "how references to objects are counted"
    ),
    Part {
        name: "cohort threshold",
        variable: "HEDDLE_COHORT_THRESHOLD",
        class: Class::Tuning,
        meaning: "how many times in a row threads near each other pass a critical section on before others get it, under hmcs: \
                  at all levels of the machine, or at each",
        values: Values::Text,
        allowed: Thresholds::allowed,
        examples: || vec!["1", "100", "64:16"],
        get: |model| model.cohort_thresholds.to_string(),
        set: |model, value| {
            let wanted = |_| format!("{} is wanted", Thresholds::allowed());
            model.cohort_thresholds = value.parse().map_err(wanted)?;
            Ok(())
        },
        acts_under: Some(HMCS),
    },
    number!(
        "low bound",
        "HEDDLE_LOW_BOUND",
        Tuning,
        low_bound,
        1,
        "how many issuing threads may pass a waiting thread, under p-X-Y",
        PRIORITY
    ),
    number!(
        "combining limit",
        "HEDDLE_COMBINING_LIMIT",
        Tuning,
        combining_limit,
        1,
        "how many operations of others a thread runs before it hands the critical section on, under csync, dsm-synch and lockq",
        COMBINING
    ),
    number!(
        "post tries",
        "HEDDLE_POST_TRIES",
        Tuning,
        post_tries,
        0,
        "how many times a thread that finds a critical section taken yields and tries again before it posts its operation, under lockq",
        POSTING
    ),
    number!(
        "test patience",
        "HEDDLE_TEST_PATIENCE",
        Research,
        test_patience_us,
        0,
        "for how many microseconds MPI_Test and its like wait for a critical section before they give up (mutex, clh, \
         abortable-mcs and hmcs without a bias let them; others only try). Under \
         global 0 lets them wait like every call",
        GIVING_UP
    ),
    option!(
        "test backoff",
        "HEDDLE_TEST_BACKOFF",
        Tuning,
        TestBackoff,
        test_backoff,
        "whether MPI_Test and its like, after they have found a critical section taken, leave it alone for the next 1, 2, 4, .. \
         calls of the thread",
        Names,
        Some(TRYING)
    ),
];
