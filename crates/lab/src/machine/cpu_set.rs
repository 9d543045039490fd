//! A range of cores in the two forms in which Linux writes sets of processors.

use std::fmt::Write as _;
use std::ops::Range;

/// `0-43`, or `5` for one core.
pub(super) fn list(cores: &Range<usize>) -> String {
    match cores.len() {
        0 => String::new(),
        1 => cores.start.to_string(),
        _ => format!("{}-{}", cores.start, cores.end - 1),
    }
}

/// A hexadecimal number with a bit for each of `all` processors, in words of 32 bits: `fff,ffffffff` for 0 to
/// 43 of 44.
pub(super) fn mask(cores: &Range<usize>, all: usize) -> String {
    let mut text = String::new();
    for word in (0..all.div_ceil(32)).rev() {
        let bits = (word * 32..all.min(word * 32 + 32)).filter(|core| cores.contains(core));
        let value = bits.fold(0_u32, |value, core| value | 1 << (core % 32));
        let digits = (all - word * 32).min(32).div_ceil(4);
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{value:0digits$x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_written_as_linux_writes_them() {
        for (cores, all, written, bits) in [
            (0..1, 1, "0", "1"),
            (0..2, 2, "0-1", "3"),
            (1..2, 2, "1", "2"),
            (0..44, 44, "0-43", "fff,ffffffff"),
            (44..88, 88, "44-87", "ffffff,fffff000,00000000"),
            (31..33, 128, "31-32", "00000000,00000000,00000001,80000000"),
            (4..8, 33, "4-7", "0,000000f0"),
        ] {
            assert_eq!(list(&cores), written);
            assert_eq!(mask(&cores, all), bits, "{written} of {all}");
        }
    }
}
