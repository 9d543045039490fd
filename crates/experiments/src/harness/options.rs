//! Values on the command line.

/// Reads a number of seconds.
///
/// # Errors
///
/// The range, if the text is no number in it.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.01..=30.0).contains(&value) => Ok(value),
        _ => Err("a number of seconds from 0.01 to 30".to_owned()),
    }
}
