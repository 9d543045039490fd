//! What the environment chooses: read once, at initialisation; a wrong value is an error that names the right ones.

use heddle_model::Model;
use heddle_sync::WaitPolicy;
use std::env::VarError;
use std::str::FromStr;

/// The settings of a process.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `HEDDLE_MODEL`: the thread-safety model.
    pub model: Model,
    /// `HEDDLE_VNIS`: independent communication paths in each process.
    pub vnis: usize,
    /// `HEDDLE_SINGLE_COPY`: whether large messages may be copied straight between processes.
    pub single_copy: bool,
    /// How threads wait.
    pub wait: WaitPolicy,
}

/// The most VNIs that a process may have.
const MOST_VNIS: usize = 64;

impl Settings {
    /// Reads the environment.
    ///
    /// # Errors
    /// A message that names the variable, its value and what is allowed.
    pub fn from_env() -> Result<Settings, String> {
        Ok(Settings {
            model: variable("HEDDLE_MODEL", Model::default(), |text| {
                Model::from_str(text).map_err(|error| error.to_string())
            })?,
            vnis: variable("HEDDLE_VNIS", default_vnis(), |text| match text.parse() {
                Ok(count @ 1..=MOST_VNIS) => Ok(count),
                _ => Err(format!("a number from 1 to {MOST_VNIS} is wanted")),
            })?,
            single_copy: variable("HEDDLE_SINGLE_COPY", true, |text| match text {
                "on" => Ok(true),
                "off" => Ok(false),
                _ => Err("\"on\" or \"off\" is wanted".to_owned()),
            })?,
            wait: WaitPolicy::default(),
        })
    }
}

/// One VNI a core, within reason.
fn default_vnis() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).clamp(2, 16)
}

fn variable<T>(name: &str, default: T, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<T, String> {
    match std::env::var(name) {
        Err(VarError::NotPresent) => Ok(default),
        Ok(text) if text.is_empty() => Ok(default),
        Err(VarError::NotUnicode(_)) => Err(format!("the environment variable {name} is not text")),
        Ok(text) => {
            parse(&text).map_err(|why| format!("the environment variable {name} is \"{text}\": {why}"))
        }
    }
}
