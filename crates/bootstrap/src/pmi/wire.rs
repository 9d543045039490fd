//! The parts that the two versions of PMI have in common.

use crate::BootstrapError;
use crate::external::Connection;

/// A connection to a launcher that has just begun.
pub(super) trait Wire: Connection + 'static {
    /// The number of this program on the launcher's command line, if the launcher gives one.
    fn appnum(&mut self) -> Result<Option<u32>, BootstrapError>;

    /// The word of the launcher's that has this name; `None` if there is no such word.
    fn find(&mut self, name: &str) -> Result<Option<String>, BootstrapError>;
}

/// The value of a name in words `name=value`.
pub(super) fn value_in<'a>(mut words: impl Iterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// The error of an answer that does not fit the request.
pub(super) fn unexpected(request: &str, wanted: &str, answer: &str) -> BootstrapError {
    let answer = if answer.is_empty() { "it has gone".to_owned() } else { format!("{answer:?}") };
    let what = format!("asked for {request:?}, the launcher should say {wanted:?}: {answer}");
    BootstrapError::Launcher { what }
}
