//! `MPI_Dims_create`: a number of processes as a product of dimensions that are as equal as possible
//! (MPI 5.0, section 8.5.2).
//!
//! The free dimensions are non-increasing. Of all such products the search picks the one whose largest and
//! smallest factors differ least (Träff and Lübbe, EuroMPI 2015), among those the one with the smallest
//! largest factor, then the one with the smallest second factor, and so on. For each possible smallest factor
//! it tries divisors from the smallest possible largest factor upwards; dead ends are remembered, so that
//! each pair of rest and limit is searched once.

use crate::error::{Error, Result};
use heddle_spec::constants as mpi;
use std::collections::HashSet;

/// Fills the dimensions that are 0 so that the product of all is `nodes`.
///
/// # Errors
/// `MPI_ERR_ARG` if there is not a positive number of processes; `MPI_ERR_DIMS` if a dimension is negative or
/// the given ones do not divide the number of processes.
pub fn dims_create(nodes: i32, dims: &mut [i32]) -> Result<()> {
    if nodes <= 0 {
        let message = format!("{nodes} processes cannot be put into a grid: at least one is needed");
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    if let Some(dim) = dims.iter().find(|dim| **dim < 0) {
        let message = format!("a dimension is {dim}: it must be 0, to be chosen, or positive");
        return Err(Error::new(mpi::MPI_ERR_DIMS, message));
    }
    let fixed = dims.iter().filter(|dim| **dim > 0).try_fold(1i64, |product, &dim| {
        let product = product * i64::from(dim);
        (product <= i64::from(nodes)).then_some(product)
    });
    let free = dims.iter().filter(|dim| **dim == 0).count();
    let rest = fixed.filter(|fixed| i64::from(nodes) % fixed == 0).map(|fixed| i64::from(nodes) / fixed);
    let Some(rest) = rest.filter(|&rest| free > 0 || rest == 1 || dims.is_empty()) else {
        let message = format!("the dimensions that are given do not divide {nodes} processes evenly");
        return Err(Error::new(mpi::MPI_ERR_DIMS, message));
    };
    let mut chosen = balanced(rest, free.min(MOST_FACTORS)).into_iter();
    for dim in dims.iter_mut().filter(|dim| **dim == 0) {
        *dim = chosen.next().unwrap_or(1) as i32;
    }
    Ok(())
}

/// Of so many factors of a number below 2^31 one is 1, as are all further ones: 2^30 has 30 factors.
const MOST_FACTORS: usize = 31;

/// `product` as `count` factors, non-increasing, as equal as possible. Fewer factors
/// mean that the rest are 1.
fn balanced(product: i64, count: usize) -> Vec<i64> {
    if count == 0 || product == 1 {
        return Vec::new();
    }
    let divisors = divisors(product);
    let mut best: Option<(i64, Vec<i64>)> = None;
    for &least in divisors.iter().rev().skip_while(|&&least| exceeds(least, count, product)) {
        // A factor beyond this limit makes the difference larger than the best one.
        let limit = best.as_ref().map_or(product, |(difference, _)| least.saturating_add(*difference));
        let mut search =
            Search { divisors: &divisors, least, dead_ends: HashSet::new(), factors: Vec::new() };
        if search.factor(product, count, limit) {
            let difference = search.factors[0] - search.factors.last().copied().unwrap_or(1);
            let found = (difference, search.factors);
            best = Some(best.map_or(found.clone(), |best| best.min(found)));
        }
    }
    best.map(|(_, factors)| factors).unwrap_or_default()
}

struct Search<'a> {
    divisors: &'a [i64],
    /// No factor may be smaller.
    least: i64,
    /// Rests that have no solution with this number of factors and this limit.
    dead_ends: HashSet<(i64, usize, i64)>,
    factors: Vec<i64>,
}

impl Search<'_> {
    /// Writes `rest` as `count` non-increasing factors from `least` to `limit`, if it can be done.
    fn factor(&mut self, rest: i64, count: usize, limit: i64) -> bool {
        if count == 0 {
            return rest == 1;
        }
        if exceeds(self.least, count, rest) || self.dead_ends.contains(&(rest, count, limit)) {
            return false;
        }
        let first = self.divisors.partition_point(|&divisor| !reaches(divisor, count, rest));
        for index in first..self.divisors.len() {
            let divisor = self.divisors[index];
            if divisor > limit {
                break;
            }
            if rest % divisor == 0 {
                self.factors.push(divisor);
                if self.factor(rest / divisor, count - 1, divisor) {
                    return true;
                }
                self.factors.pop();
            }
        }
        self.dead_ends.insert((rest, count, limit));
        false
    }
}

/// Returns true if `count` factors of `factor` make more than `rest`.
fn exceeds(factor: i64, count: usize, rest: i64) -> bool {
    reaches(factor, count, rest.saturating_add(1))
}

/// Returns true if `count` factors of `factor` make at least `rest`.
fn reaches(factor: i64, count: usize, rest: i64) -> bool {
    let mut product = 1i64;
    for _ in 0..count.min(63) {
        product = product.saturating_mul(factor);
        if product >= rest {
            return true;
        }
    }
    false
}

/// All divisors, in order.
fn divisors(number: i64) -> Vec<i64> {
    let mut small: Vec<i64> = (1..)
        .take_while(|divisor| divisor * divisor <= number)
        .filter(|divisor| number % divisor == 0)
        .collect();
    let large: Vec<i64> =
        small.iter().rev().map(|divisor| number / divisor).filter(|large| large * large != number).collect();
    small.extend(large);
    small
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(nodes: i32, given: &[i32]) -> Vec<i32> {
        let mut dims = given.to_vec();
        dims_create(nodes, &mut dims).expect("possible");
        dims
    }

    #[test]
    fn examples() {
        for (nodes, given, want) in [
            (6, &[0, 0][..], &[3, 2][..]),
            (7, &[0, 0], &[7, 1]),
            (6, &[0, 3, 0], &[2, 3, 1]),
            (60, &[0, 0, 0], &[5, 4, 3]),
            (16, &[0, 0, 0], &[4, 2, 2]),
            (36, &[0, 0, 0], &[4, 3, 3]),
            (24, &[2, 0, 0], &[2, 4, 3]),
            (360, &[0, 0, 0], &[9, 8, 5]),
            (5040, &[0, 0, 0], &[20, 18, 14]),
            (7488, &[0, 0, 0], &[26, 18, 16]),
            (1, &[0, 0, 0], &[1, 1, 1]),
            (10, &[5, 2], &[5, 2]),
            (i32::MAX, &[0, 0, 0], &[i32::MAX, 1, 1]),
            (1 << 30, &[0; 10], &[8; 10]),
            (1 << 12, &[0; 40], &[[2; 12].as_slice(), &[1; 28]].concat()),
            (1_396_755_360, &[0; 4], &[208, 190, 189, 187]),
            (5, &[], &[]),
        ] {
            assert_eq!(dims(nodes, given), want, "{nodes} into {given:?}");
        }
    }

    #[test]
    fn impossible_wishes() {
        for (nodes, given, class) in [
            (6, &[4, 0][..], mpi::MPI_ERR_DIMS),
            (6, &[2, 2], mpi::MPI_ERR_DIMS),
            (6, &[-1, 0], mpi::MPI_ERR_DIMS),
            (6, &[i32::MAX, i32::MAX, i32::MAX, 0], mpi::MPI_ERR_DIMS),
            (0, &[0], mpi::MPI_ERR_ARG),
            (-4, &[0], mpi::MPI_ERR_ARG),
        ] {
            let mut dims = given.to_vec();
            assert_eq!(dims_create(nodes, &mut dims).expect_err("impossible").code(), class);
            assert_eq!(dims, given, "untouched");
        }
    }

    /// Calls `found` with every list of `count` non-increasing factors of at most `limit`, behind those
    /// chosen.
    fn all(product: i32, count: usize, limit: i32, chosen: &mut Vec<i32>, found: &mut impl FnMut(&[i32])) {
        if count == 1 {
            if product <= limit {
                chosen.push(product);
                found(chosen);
                chosen.pop();
            }
            return;
        }
        for first in (1..=product.min(limit)).filter(|first| product % first == 0) {
            chosen.push(first);
            all(product / first, count - 1, first, chosen, found);
            chosen.pop();
        }
    }

    fn best_of_all(nodes: i32, count: usize) -> Vec<i32> {
        let mut best: Option<(i32, Vec<i32>)> = None;
        all(nodes, count, nodes, &mut Vec::new(), &mut |factors| {
            let difference = factors[0] - factors[count - 1];
            let better = best.as_ref().is_none_or(|(least, old)| (difference, factors) < (*least, old));
            if better {
                best = Some((difference, factors.to_vec()));
            }
        });
        best.expect("at least one").1
    }

    #[test]
    fn the_best_of_all() {
        for nodes in 1..if cfg!(debug_assertions) { 1_000 } else { 10_001 } {
            for count in 2..6 {
                assert_eq!(dims(nodes, &vec![0; count]), best_of_all(nodes, count), "{nodes} in {count}");
            }
        }
    }

    #[test]
    fn many_dimensions_need_no_deep_stack() {
        let found = dims(6, &vec![0; 1 << 20]);
        assert_eq!((&found[..3], found.iter().max()), (&[3, 2, 1][..], Some(&3)));
        assert!(found[2..].iter().all(|&dim| dim == 1));
    }

    #[test]
    fn many_divisors_take_no_long_time() {
        for count in 1..21 {
            for nodes in [1_396_755_360, 2_095_133_040, 1 << 30, 3 << 29, 1_162_261_467] {
                assert_eq!(dims(nodes, &vec![0; count]).iter().product::<i32>(), nodes);
            }
        }
    }
}
