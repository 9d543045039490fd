//! Runs compilers and installers.

use std::process::{Command, Stdio};

use crate::error::{BenchError, tail};

/// Runs a program to its end; its output is shown only if it fails.
///
/// # Errors
///
/// If it cannot be started or fails; `hint` says what it may lack.
pub(super) fn finish(command: &mut Command, hint: &'static str) -> Result<(), BenchError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|source| BenchError::Start {
        program: program.clone(),
        source,
        hint,
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
    Err(BenchError::Failed { program: program + hint, status: output.status.to_string(), tail: tail(said) })
}
