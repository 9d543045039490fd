//! Error codes: the standard's classes, which are codes too, and the program's (MPI 5.0, sections 9.4, 9.5).

use crate::error::{Error, Result, text_of_unsupported};
use crate::error_text::text_of_class;
use heddle_message::domain;
use heddle_spec::constants as mpi;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A class or code that the program added.
#[derive(Debug)]
struct Added {
    /// The class of a code; a class is its own.
    class: i32,
    text: Option<String>,
}

#[derive(Debug)]
struct Registry {
    /// The entries of the codes after `MPI_ERR_LASTCODE`.
    added: BTreeMap<i32, Added>,
    /// Codes are never used twice.
    last: i32,
}

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { added: BTreeMap::new(), last: mpi::MPI_ERR_LASTCODE });

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if this is one of the standard's classes, those of the tools interface included.
fn is_standard(code: i32) -> bool {
    text_of_class(code).is_some()
}

fn unknown(code: i32) -> Error {
    Error::new(mpi::MPI_ERR_ARG, format!("{code} is not an error code: neither the standard's nor added"))
}

/// Adds a class.
pub fn add_class() -> i32 {
    let mut registry = registry();
    registry.last += 1;
    let class = registry.last;
    registry.added.insert(class, Added { class, text: None });
    class
}

/// Adds a code to a class.
///
/// # Errors
/// `MPI_ERR_ARG` if there is no such class.
pub fn add_code(class: i32) -> Result<i32> {
    let mut registry = registry();
    let known = is_standard(class) || registry.added.get(&class).is_some_and(|added| added.class == class);
    if !known {
        let message = format!("{class} is not an error class: neither the standard's nor added");
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    registry.last += 1;
    let code = registry.last;
    registry.added.insert(code, Added { class, text: None });
    Ok(code)
}

/// Gives an added class or code its text.
///
/// # Errors
/// `MPI_ERR_ARG` if it is the standard's or does not exist.
pub fn add_text(code: i32, text: &str) -> Result<()> {
    set_text(code, Some(text.to_owned()))
}

/// Removes the text of an added class or code.
///
/// # Errors
/// `MPI_ERR_ARG` if it has none, is the standard's or does not exist.
pub fn remove_text(code: i32) -> Result<()> {
    if registry().added.get(&code).is_some_and(|added| added.text.is_none()) {
        return Err(Error::new(mpi::MPI_ERR_ARG, format!("the error code {code} has no text to be removed")));
    }
    set_text(code, None)
}

fn set_text(code: i32, text: Option<String>) -> Result<()> {
    if is_standard(code) || text_of_unsupported(code).is_some() {
        let message = format!("the error code {code} is the library's: its text cannot be changed");
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    registry().added.get_mut(&code).ok_or_else(|| unknown(code))?.text = text;
    Ok(())
}

/// Removes an added class.
///
/// # Errors
/// `MPI_ERR_ARG` if it is not an added class, or has a text or codes still.
pub fn remove_class(class: i32) -> Result<()> {
    let mut registry = registry();
    if registry.added.get(&class).is_none_or(|added| added.class != class) {
        return Err(Error::new(mpi::MPI_ERR_ARG, format!("{class} is not an error class that was added")));
    }
    if registry.added.iter().any(|(&code, added)| code != class && added.class == class) {
        let message = format!("the error class {class} still has codes: remove those first");
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    remove(&mut registry, class)
}

/// Removes an added code.
///
/// # Errors
/// `MPI_ERR_ARG` if it is not an added code, or has a text still.
pub fn remove_code(code: i32) -> Result<()> {
    let mut registry = registry();
    if registry.added.get(&code).is_none_or(|added| added.class == code) {
        return Err(Error::new(mpi::MPI_ERR_ARG, format!("{code} is not an error code that was added")));
    }
    remove(&mut registry, code)
}

fn remove(registry: &mut Registry, code: i32) -> Result<()> {
    if registry.added.get(&code).is_some_and(|added| added.text.is_some()) {
        let message = format!("{code} still has a text: call MPI_Remove_error_string first");
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    registry.added.remove(&code);
    Ok(())
}

/// The class of a code.
///
/// # Errors
/// `MPI_ERR_ARG` if there is no such code.
pub fn class_of(code: i32) -> Result<i32> {
    if is_standard(code) {
        return Ok(code);
    }
    if text_of_unsupported(code).is_some() {
        return Ok(mpi::MPI_ERR_UNSUPPORTED_OPERATION);
    }
    registry().added.get(&code).map(|added| added.class).ok_or_else(|| unknown(code))
}

/// The text of a code; empty if the program added it without one.
///
/// # Errors
/// `MPI_ERR_ARG` if there is no such code.
pub fn text(code: i32) -> Result<String> {
    if code == mpi::MPI_ERR_PROC_ABORTED
        && let Some(text) = text_of_loss()
    {
        return Ok(text);
    }
    if let (Some(name), Some(text)) = (class_name(code), text_of_class(code)) {
        return Ok(if code == mpi::MPI_SUCCESS { text.to_owned() } else { format!("{name}: {text}") });
    }
    if let Some(text) = text_of_unsupported(code) {
        return Ok(format!("MPI_ERR_UNSUPPORTED_OPERATION: {text}"));
    }
    match registry().added.get(&code) {
        Some(added) => Ok(added.text.clone().unwrap_or_default()),
        None => Err(unknown(code)),
    }
}

/// The text of `MPI_ERR_PROC_ABORTED` once a rank is lost: it names the first lost one, its host and the
/// cause.
fn text_of_loss() -> Option<String> {
    let fabric = domain::ever()?.fabric();
    let (first, others) = (fabric.loss_text(None)?, fabric.lost_ranks().len() - 1);
    let more = if others == 0 { String::new() } else { format!(" ({others} more are lost)") };
    let mut text = format!("MPI_ERR_PROC_ABORTED: {first}{more}");
    while text.len() >= mpi::MPI_MAX_ERROR_STRING as usize {
        text.pop();
    }
    Some(text)
}

/// The largest code in use: the value of the attribute `MPI_LASTUSEDCODE`.
pub fn last_used() -> i32 {
    let registry = registry();
    registry.added.last_key_value().map_or(mpi::MPI_ERR_LASTCODE, |(&code, _)| code)
}

/// The standard's name of a class.
pub fn class_name(class: i32) -> Option<&'static str> {
    mpi::ERROR_CLASSES
        .iter()
        .chain(mpi::T_ERROR_CLASSES)
        .find(|&&(name, value)| value == class && name != "MPI_ERR_LASTCODE")
        .map(|&(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_codes_have_a_class_and_a_text_until_they_are_removed() {
        let class = add_class();
        let code = add_code(class).expect("the class exists");
        assert!(class > mpi::MPI_ERR_LASTCODE && code > class && last_used() >= code);
        assert_eq!((class_of(class), class_of(code)), (Ok(class), Ok(class)));
        assert_eq!(text(code), Ok(String::new()));
        add_text(code, "the thread is broken").expect("the code exists");
        assert_eq!(text(code), Ok("the thread is broken".to_owned()));
        assert!(remove_code(code).is_err(), "it has a text");
        assert!(remove_class(class).is_err(), "it has a code");
        assert!(remove_class(code).is_err() && remove_code(class).is_err(), "they are not the same");
        remove_text(code).expect("it has a text");
        assert!(remove_text(code).is_err(), "it has no text any more");
        remove_code(code).expect("it has no text");
        remove_class(class).expect("it has no codes");
        assert!(class_of(code).is_err() && text(class).is_err() && add_code(class).is_err());
        assert!(add_code(mpi::MPI_ERR_TAG).is_ok_and(|new| new > code), "codes are not used again");
    }

    #[test]
    fn a_function_that_is_not_built_has_a_code_that_names_it() {
        let mut codes = Vec::new();
        for name in heddle_spec::function_table::names() {
            let code = Error::unsupported(name).code();
            assert_eq!(class_of(code), Ok(mpi::MPI_ERR_UNSUPPORTED_OPERATION));
            let text = text(code).expect("a code of the library");
            assert!(text.starts_with(&format!("MPI_ERR_UNSUPPORTED_OPERATION: {name} is")), "{text}");
            assert!(
                add_text(code, "other").is_err() && remove_code(code).is_err() && add_code(code).is_err()
            );
            assert!(code < mpi::MPI_ERR_LASTCODE);
            codes.push(code);
        }
        codes.dedup();
        assert_eq!(codes.len(), heddle_spec::function_table::names().len());
        assert_eq!(Error::unsupported("a feature").code(), mpi::MPI_ERR_UNSUPPORTED_OPERATION);
        assert!(class_of(codes[0] - 1).is_err() && class_of(codes[codes.len() - 1] + 1).is_err());
    }

    #[test]
    fn the_standards_codes_cannot_be_changed() {
        for code in [mpi::MPI_SUCCESS, mpi::MPI_ERR_TAG, mpi::MPI_T_ERR_INVALID] {
            assert!(add_text(code, "other").is_err() && remove_text(code).is_err());
            assert!(remove_class(code).is_err() && remove_code(code).is_err());
            assert_eq!(class_of(code), Ok(code));
            assert!(text(code).is_ok_and(|text| text.len() < mpi::MPI_MAX_ERROR_STRING as usize));
        }
        assert!(class_of(-1).is_err() && class_of(mpi::MPI_ERR_LASTCODE).is_err());
    }
}
