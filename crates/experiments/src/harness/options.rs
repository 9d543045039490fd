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

/// Message sizes in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sizes(pub(crate) Vec<u64>);

/// The most sizes that the C program takes.
const MOST_SIZES: usize = 32;

/// Reads sizes: a list, or all powers of two of a range.
///
/// # Errors
///
/// A sentence about sizes, if the text has none.
pub(crate) fn sizes(text: &str) -> Result<Sizes, String> {
    let all = match text.split_once("..") {
        Some((low, high)) => {
            let (low, high) = (size(low)?, size(high)?);
            (0..u64::BITS - 1).map(|power| 1 << power).filter(|size| (low..=high).contains(size)).collect()
        }
        None => text.split(',').map(size).collect::<Result<Vec<u64>, String>>()?,
    };
    match all.len() {
        1..=MOST_SIZES => Ok(Sizes(all)),
        other => Err(format!("1 to {MOST_SIZES} sizes, not {other}")),
    }
}

/// Reads a number of bytes, with `K` or `M` of as many KiB or MiB.
fn size(text: &str) -> Result<u64, String> {
    let bytes = heddle_settings::number_with_unit(text).map(|bytes| bytes as u64);
    bytes.ok_or_else(|| format!("a size is a number of bytes, KiB (4K) or MiB (16M), not \"{text}\""))
}

#[cfg(test)]
mod tests {
    use super::{Sizes, sizes};

    #[test]
    fn sizes_are_a_list_or_the_powers_of_two_of_a_range() {
        assert_eq!(sizes("8,4K,16m"), Ok(Sizes(vec![8, 4096, 16 << 20])));
        assert_eq!(sizes("3..32"), Ok(Sizes(vec![4, 8, 16, 32])));
        assert_eq!(sizes("1..16M").map(|Sizes(all)| all.len()), Ok(25));
        for wrong in ["", "8,", "1..", "5..7", "1G", "-1", "99999999999999M", "1..9999999999999"] {
            assert!(sizes(wrong).is_err(), "{wrong}");
        }
    }
}
