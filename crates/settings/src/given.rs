//! The values given to variables: those written to control variables, before those of the environment.

use std::collections::BTreeMap;
use std::env::VarError;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The values written to control variables, by the names of their environment variables.
static WRITTEN: Mutex<BTreeMap<&'static str, String>> = Mutex::new(BTreeMap::new());

fn written() -> MutexGuard<'static, BTreeMap<&'static str, String>> {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets a value, which the caller has [checked](crate::Variable::check), replace that of the environment
/// variable `name`.
pub fn write(name: &'static str, value: String) {
    written().insert(name, value);
}

/// The value of an environment variable: the one written to its control variable, or the environment's.
/// `None` if neither exists, or the environment's is empty.
///
/// # Errors
/// A sentence, if the environment's value is not UTF-8.
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
