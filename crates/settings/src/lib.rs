//! What the environment and MPI_T's control variables choose: read once, at initialisation; a wrong value is an error that
//! names the right ones.

mod cores;

pub use cores::Cores;

use heddle_model::counters::MOST_VNIS;
use heddle_model::{Model, ModelError, Part, Values};
use heddle_sync::WaitPolicy;
use std::collections::BTreeMap;
use std::env::VarError;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The settings of a process.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `HEDDLE_MODEL`: the thread-safety model.
    pub model: Model,
    /// `HEDDLE_VNIS`: independent communication paths in each process.
    pub vnis: usize,
    /// `HEDDLE_SINGLE_COPY`: whether large messages may be copied straight between processes.
    pub single_copy: bool,
    /// `HEDDLE_STATS`: whether what was counted is printed in the end.
    pub statistics: bool,
    /// `HEDDLE_OFFLOAD_CORES`: where the threads of execution `offload` run.
    pub offload_cores: Cores,
    /// How threads wait.
    pub wait: WaitPolicy,
}

/// A setting that is no part of the model.
#[derive(Debug)]
pub struct Setting {
    /// Its environment variable. In lower case it is the name of the MPI_T control variable.
    pub variable: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What its values are.
    pub values: Values,
    /// Whether all processes must choose the same.
    pub common: bool,
    /// What may be given, for a sentence.
    pub allowed: fn() -> String,
    /// What was chosen.
    pub get: fn(&Settings) -> String,
    /// Whether a value may be given; if not, why.
    pub check: fn(&str) -> Result<(), String>,
}

/// Every setting but the [parts](heddle_model::PARTS) of the model.
pub const SETTINGS: &[Setting] = &[
    Setting {
        variable: "HEDDLE_MODEL",
        meaning: "the thread-safety model",
        values: Values::Text,
        common: false,
        allowed: || Model::names().collect::<Vec<_>>().join(", "),
        get: |settings| settings.model.to_string(),
        check: |text| Model::named(text).map(drop).map_err(|error| error.to_string()),
    },
    Setting {
        variable: "HEDDLE_VNIS",
        meaning: "communication paths (virtual network interfaces) in each process",
        values: Values::Numbers,
        common: true,
        allowed: || format!("a number from 1 to {MOST_VNIS}"),
        get: |settings| settings.vnis.to_string(),
        check: |text| vnis(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_SINGLE_COPY",
        meaning: "whether large messages may be copied straight from one process's memory to another's",
        values: Values::Names,
        common: false,
        allowed: || ON_OR_OFF.to_owned(),
        get: |settings| on_or_off(settings.single_copy),
        check: |text| switch(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_STATS",
        meaning: "whether each process prints in the end what it has counted",
        values: Values::Names,
        common: false,
        allowed: || ON_OR_OFF.to_owned(),
        get: |settings| on_or_off(settings.statistics),
        check: |text| switch(text).map(drop),
    },
    Setting {
        variable: "HEDDLE_OFFLOAD_CORES",
        meaning: "where the threads run that serve VNIs under execution \"offload\": one after the other on these cores",
        values: Values::Text,
        common: false,
        allowed: Cores::allowed,
        get: |settings| settings.offload_cores.to_string(),
        check: |text| Cores::parse(text).map(drop),
    },
];

const ON_OR_OFF: &str = "on, off";

fn on_or_off(is_on: bool) -> String {
    if is_on { "on" } else { "off" }.to_owned()
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" | "1" => Ok(true),
        "off" | "0" => Ok(false),
        _ => Err("\"on\" (or 1) or \"off\" (or 0) is wanted".to_owned()),
    }
}

fn vnis(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=MOST_VNIS) => Ok(count),
        _ => Err(format!("a number from 1 to {MOST_VNIS} is wanted")),
    }
}

impl Settings {
    /// Reads what was written to the control variables, and the environment where nothing was.
    ///
    /// # Errors
    /// A message that names the variable, its value and what is allowed.
    pub fn chosen() -> Result<Settings, String> {
        Ok(Settings {
            model: model()?,
            vnis: variable("HEDDLE_VNIS", default_vnis(), vnis)?,
            single_copy: variable("HEDDLE_SINGLE_COPY", true, switch)?,
            statistics: variable("HEDDLE_STATS", false, switch)?,
            offload_cores: variable("HEDDLE_OFFLOAD_CORES", Cores::default(), Cores::parse)?,
            wait: WaitPolicy::default(),
        })
    }
}

/// The model of `HEDDLE_MODEL`, with the parts that have a variable of their own.
fn model() -> Result<Model, String> {
    let name = given("HEDDLE_MODEL")?;
    let mut unreadable = Ok(());
    let model = Model::choose(name.as_deref(), |part| match given(part.variable) {
        Ok(value) => value,
        Err(why) => {
            unreadable = Err(why);
            None
        }
    });
    unreadable?;
    model.map_err(|error| match error {
        ModelError::Unknown { .. } => format!("the environment variable HEDDLE_MODEL: {error}"),
        ModelError::Part { .. } => format!("the environment variable {error}"),
        ModelError::Senseless(_) => error.to_string(),
    })
}

/// Two VNIs a core, within reason: threads that share a core meet at fewer of them, and each is looked at by whoever waits.
fn default_vnis() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| 2 * cores.get()).clamp(4, 16)
}

fn variable<T>(name: &str, default: T, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<T, String> {
    match given(name)? {
        None => Ok(default),
        Some(text) => {
            parse(&text).map_err(|why| format!("the environment variable {name} is \"{text}\": {why}"))
        }
    }
}

static IN_FORCE: OnceLock<Settings> = OnceLock::new();

/// The settings that MPI was initialised with, if it was.
pub fn in_force() -> Option<&'static Settings> {
    IN_FORCE.get()
}

/// From now on these settings are in force. The first caller's stay.
pub fn put_in_force(settings: Settings) -> &'static Settings {
    IN_FORCE.get_or_init(|| settings)
}

/// What was written to a control variable, by the name of its environment variable.
static WRITTEN: Mutex<BTreeMap<&'static str, String>> = Mutex::new(BTreeMap::new());

fn written() -> MutexGuard<'static, BTreeMap<&'static str, String>> {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has a value take the place of the environment variable's. It was checked.
pub fn write(name: &'static str, value: String) {
    written().insert(name, value);
}

/// The value of a variable: what was written, or what the environment says; `None` if neither.
///
/// # Errors
/// A sentence, if the value is not text.
pub fn given(name: &str) -> Result<Option<String>, String> {
    if let Some(value) = written().get(name) {
        return Ok(Some(value.clone()));
    }
    match std::env::var(name) {
        Err(VarError::NotPresent) => Ok(None),
        Ok(text) if text.is_empty() => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(format!("the environment variable {name} is not text")),
        Ok(text) => Ok(Some(text)),
    }
}

/// Whether a part may have a value.
///
/// # Errors
/// A sentence that says why not.
pub fn check_part(part: &Part, value: &str) -> Result<(), String> {
    (part.set)(&mut Model::default(), value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_model::PARTS;

    #[test]
    fn every_setting_allows_what_it_has_and_nothing_else() {
        let settings = Settings::chosen().expect("an environment without settings");
        for setting in SETTINGS {
            assert_eq!((setting.check)(&(setting.get)(&settings)), Ok(()), "{}", setting.variable);
            assert!((setting.check)("nonsense").is_err(), "{}", setting.variable);
        }
        for part in PARTS {
            assert_eq!(check_part(part, &(part.get)(&settings.model)), Ok(()), "{}", part.variable);
        }
    }
}
