//! Values on the command line.

/// Reads a number of seconds. In virtual time a ten thousandth is enough for a figure.
///
/// # Errors
///
/// The range, if the text is no number in it.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0001..=30.0).contains(&value) => Ok(value),
        _ => Err("a number of seconds from 0.0001 to 30".to_owned()),
    }
}
