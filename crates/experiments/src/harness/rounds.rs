//! Figures over several rounds.

use super::load::Load;

/// With at least this number of undisturbed rounds, disturbed ones are left out of a figure.
const ENOUGH_ROUNDS: usize = 3;

/// The values of a figure over the rounds: those of the undisturbed rounds if there are enough, else all.
#[derive(Debug)]
pub(crate) struct OverRounds<M> {
    /// The measurements that count.
    pub(crate) used: Vec<M>,
    /// The median of their values.
    pub(crate) median: f64,
    /// The smallest value.
    pub(crate) low: f64,
    /// The largest value.
    pub(crate) high: f64,
    /// The interval of the median, with a confidence of 95 %.
    pub(crate) interval: Option<(f64, f64)>,
    /// The number of measurements among them that were disturbed.
    pub(crate) disturbed: usize,
}

impl<M: Copy> OverRounds<M> {
    /// Of values and their measurements, whose load `load` tells; `None` without values.
    pub(crate) fn of(values: &[(f64, M)], load: impl Fn(M) -> Load) -> Option<Self> {
        let is_disturbed = |measurement| load(measurement).disturbs();
        let undisturbed: Vec<_> = values.iter().copied().filter(|&(_, it)| !is_disturbed(it)).collect();
        let used = if undisturbed.len() >= ENOUGH_ROUNDS { &undisturbed } else { values };
        let values = || used.iter().map(|&(value, _)| value);
        let used_measurements: Vec<M> = used.iter().map(|&(_, measurement)| measurement).collect();
        Some(Self {
            median: median(values())?,
            low: values().fold(f64::INFINITY, f64::min),
            high: values().fold(f64::NEG_INFINITY, f64::max),
            interval: interval(values()),
            disturbed: used_measurements.iter().filter(|&&it| is_disturbed(it)).count(),
            used: used_measurements,
        })
    }
}

/// Returns true if most of a figure's rounds were disturbed.
pub(crate) fn mostly_disturbed(disturbed: usize, rounds: usize) -> bool {
    disturbed * 2 > rounds
}

/// The middle value, or the mean of the two middle ones; `None` without values.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The interval in which the median lies with a confidence of at least 95 %: the narrowest between two
/// values that are equally far from the ends, by the binomial distribution of the values below the median.
/// `None` for fewer than 6 values, with which no interval is as sure.
fn interval(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    const WANTED: f64 = 0.95;
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    // The probability that exactly `k` of the values are below the median is that of `k` heads of `count`
    // coins.
    let mut exactly = 0.5_f64.powi(count as i32);
    let mut outside = 0.0;
    let mut left_out = None;
    for k in 0..count / 2 {
        outside += 2.0 * exactly;
        if outside > 1.0 - WANTED {
            break;
        }
        left_out = Some(k);
        exactly *= (count - k) as f64 / (k + 1) as f64;
    }
    let k = left_out?;
    Some((sorted[k], sorted[count - 1 - k]))
}

#[cfg(test)]
mod tests {
    use super::{OverRounds, interval, median, mostly_disturbed};
    use crate::harness::load::Load;

    /// The figure of rounds whose measurements are the shares that others took.
    fn over(values: &[(f64, f64)]) -> OverRounds<f64> {
        OverRounds::of(values, |others| Load { others, stolen: 0.0 }).expect("values")
    }

    #[test]
    fn disturbed_rounds_are_left_out_only_if_enough_others_remain() {
        let few = over(&[(3.0, 0.0), (4.0, 0.0), (1.0, 0.5), (1.0, 0.5)]);
        assert_eq!((few.median, few.low, few.high), (2.0, 1.0, 4.0));
        assert_eq!((few.used.len(), few.disturbed), (4, 2));
        let enough = over(&[(3.0, 0.0), (4.0, 0.0), (1.0, 0.5), (1.0, 0.5), (5.0, 0.0)]);
        assert_eq!((enough.median, enough.low, enough.high), (4.0, 3.0, 5.0));
        assert_eq!((enough.used, enough.disturbed), (vec![0.0; 3], 0));
    }

    #[test]
    fn a_figure_is_doubtful_if_more_than_half_was_disturbed() {
        assert!(mostly_disturbed(2, 3) && !mostly_disturbed(2, 4));
    }

    #[test]
    fn without_values_there_is_no_figure() {
        assert!(OverRounds::of(&[], |()| Load::default()).is_none());
    }

    #[test]
    fn intervals_of_the_median_leave_out_what_confidence_allows() {
        let of = |count: u32| interval((1..=count).map(f64::from));
        assert_eq!(of(5), None);
        // 2/64 are outside of the smallest and the greatest of 6.
        assert_eq!(of(6), Some((1.0, 6.0)));
        // The tables' ranks for 10 values are the second and the ninth, for 20 the sixth and the fifteenth.
        assert_eq!(of(10), Some((2.0, 9.0)));
        assert_eq!(of(20), Some((6.0, 15.0)));
    }

    #[test]
    fn median_of_even_and_none() {
        assert_eq!(median([1.0, 4.0, 2.0, 3.0].into_iter()), Some(2.5));
        assert_eq!(median(std::iter::empty()), None);
    }
}
