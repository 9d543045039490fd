//! Figures over several rounds.

/// With at least this number of undisturbed rounds, disturbed ones are left out of a figure.
pub(crate) const ENOUGH_ROUNDS: usize = 3;

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
pub(crate) fn interval(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
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
    use super::{interval, median};

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
