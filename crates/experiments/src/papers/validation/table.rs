//! The table of the validation, as docs/lab.md has it, and what is counted in it.

use std::fmt::Write as _;

/// A figure of a real machine, and the lab's.
#[derive(Debug, Clone)]
pub(super) struct Compared {
    /// The quantity. Only systems of one quantity are in an order.
    pub(super) title: &'static str,
    /// The system.
    pub(super) system: String,
    /// The real figure.
    pub(super) real: f64,
    /// The lab's; nothing if it has none.
    pub(super) lab: Option<f64>,
}

impl Compared {
    /// The lab's figure over the real one.
    fn ratio(&self) -> Option<f64> {
        Some(self.lab? / self.real)
    }

    /// True if the lab's figure is at most `factor` times the real one, and at least its part of it.
    fn is_within(&self, factor: f64) -> bool {
        self.ratio().is_some_and(|ratio| ratio <= factor && ratio >= 1.0 / factor)
    }

    /// The row of the table.
    fn row(&self) -> String {
        let lab = self.lab.map_or("-".to_owned(), digits);
        let ratio = self.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
        format!("| {} | {} | {} | {lab} | {ratio} |", self.title, self.system, digits(self.real))
    }

    /// One line for the terminal.
    pub(super) fn line(&self) -> String {
        let lab =
            self.lab.map_or("no figure in the lab".to_owned(), |lab| format!("{} in the lab", digits(lab)));
        let ratio = self.ratio().map_or(String::new(), |ratio| format!(", {ratio:.2} of it"));
        let title = self.title.replace('`', "");
        format!("{title}, {}: {} real, {lab}{ratio}", self.system.replace('`', ""), digits(self.real))
    }
}

/// Real figures that differ by less have no order.
const APART: f64 = 1.3;

/// The whole table, and what it says in two sentences.
pub(super) fn render(all: &[Compared]) -> String {
    let mut text = String::from("| figure | system | real | lab | lab / real |\n|---|---|---:|---:|---:|\n");
    // A `String` takes whatever is written to it, so the results of these macros cannot be errors.
    for one in all {
        let _ = writeln!(text, "{}", one.row());
    }
    let within = |factor| all.iter().filter(|one| one.is_within(factor)).count();
    let found = all.iter().filter(|one| one.lab.is_some()).count();
    let of = if found == all.len() {
        String::new()
    } else {
        format!(" (of {}; the others are missing)", all.len())
    };
    let _ = write!(
        text,
        "\nOf the {found} figures{of} {} lie within a factor of 1.5, {} within 1.25. ",
        within(1.5),
        within(1.25)
    );
    let (pairs, wrong) = pairs(all);
    let _ = write!(
        text,
        "Of the {pairs} pairs whose real figures differ by more than {APART} the order is right in {}",
        pairs - wrong.len()
    );
    text += if wrong.is_empty() { ".\n" } else { "; it is wrong in:\n\n" };
    for (one, other) in wrong {
        let lab = |compared: &Compared| compared.lab.map_or("-".to_owned(), digits);
        let _ = writeln!(
            text,
            "- {}: {} ({} real, {} in the lab) and {} ({} real, {} in the lab)",
            one.title,
            one.system,
            digits(one.real),
            lab(one),
            other.system,
            digits(other.real),
            lab(other)
        );
    }
    text
}

/// How many pairs of a quantity differ by more than [`APART`] and were made, and those whose order is another
/// in the lab.
fn pairs(all: &[Compared]) -> (usize, Vec<(&Compared, &Compared)>) {
    let mut count = 0;
    let mut wrong = Vec::new();
    for (index, one) in all.iter().enumerate() {
        for other in all[index + 1..].iter().filter(|other| other.title == one.title) {
            let (Some(lab), Some(other_lab)) = (one.lab, other.lab) else { continue };
            let (low, high) = (one.real.min(other.real), one.real.max(other.real));
            if high / low <= APART {
                continue;
            }
            count += 1;
            if (lab < other_lab) != (one.real < other.real) || lab == other_lab {
                wrong.push((one, other));
            }
        }
    }
    (count, wrong)
}

/// A figure with three digits, without zeros behind the point.
fn digits(value: f64) -> String {
    let places = (2 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.places$}");
    if places == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Compared, digits, pairs, render};

    fn compared(title: &'static str, system: &str, real: f64, lab: f64) -> Compared {
        Compared { title, system: system.to_owned(), real, lab: (lab > 0.0).then_some(lab) }
    }

    #[test]
    fn figures_have_three_digits() {
        let shown = [4.6, 9.0, 13.84, 0.6149, 0.12749, 46.25, 120.4, 1234.0].map(digits);
        assert_eq!(shown, ["4.6", "9", "13.8", "0.615", "0.127", "46.2", "120", "1234"]);
    }

    #[test]
    fn the_table_says_how_far_off_it_is() {
        let all = [
            compared("rate", "`a`", 2.0, 2.4),
            compared("rate", "`b`", 1.0, 0.7),
            compared("latency", "`a`", 10.0, 16.0),
        ];
        let text = render(&all);
        let rows = "| rate | `a` | 2 | 2.4 | 1.20 |\n| rate | `b` | 1 | 0.7 | 0.70 |\n| latency | `a` | 10 | 16 | 1.60 |\n";
        assert!(text.contains(rows), "{text}");
        assert!(
            text.contains("Of the 3 figures 2 lie within a factor of 1.5, 1 within 1.25. Of the 1 pairs"),
            "{text}"
        );
        assert!(text.ends_with("the order is right in 1.\n"), "{text}");
        assert_eq!(all[0].line(), "rate, a: 2 real, 2.4 in the lab, 1.20 of it");
    }

    #[test]
    fn only_real_figures_that_are_apart_have_an_order() {
        let all = [
            compared("rate", "a", 1.0, 2.0),
            compared("rate", "b", 1.3, 1.0),
            compared("rate", "c", 1.4, 1.5),
            compared("rate", "d", 3.0, 0.0),
            compared("other", "a", 5.0, 5.0),
        ];
        let (count, wrong) = pairs(&all);
        assert_eq!(count, 1, "a and c: b is too near, d was not made");
        assert_eq!((wrong[0].0.system.as_str(), wrong[0].1.system.as_str()), ("a", "c"));
        let text = render(&all);
        assert!(text.contains("Of the 4 figures (of 5; the others are missing)"), "{text}");
        assert!(
            text.contains("right in 0; it is wrong in:\n\n- rate: a (1 real, 2 in the lab) and c (1.4 real"),
            "{text}"
        );
        assert!(text.contains("| rate | d | 3 | - | - |"), "{text}");
    }
}
