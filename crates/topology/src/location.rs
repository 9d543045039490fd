//! Where a process runs, in a form that processes can tell each other.

use crate::tree::{NodeKind, Topology};

/// The most levels of a machine below the whole: package, NUMA node, shared cache, core, hardware thread.
pub const LEVELS: usize = 5;

/// Where a process runs: the elements of the machine that hold it, from the largest to the smallest, and 0
/// from the first one on that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location([u32; LEVELS]);

impl Location {
    /// The elements that hold all of these hardware threads: those on which the process may run.
    #[must_use]
    pub fn new(machine: &Topology, hardware_threads: &[usize]) -> Self {
        let path = common_path(&machine.places(NodeKind::HardwareThread), hardware_threads);
        let mut location = Self::default();
        for (element, number) in location.0.iter_mut().zip(path) {
            // The root is 0, and no element of a path is the root.
            *element = number as u32;
        }
        location
    }

    /// Itself in words, to tell another process.
    #[must_use]
    pub fn to_words(self) -> [i32; LEVELS] {
        self.0.map(u32::cast_signed)
    }

    /// The location that [`to_words`](Self::to_words) gave these words of.
    #[must_use]
    pub fn from_words(words: [i32; LEVELS]) -> Self {
        Self(words.map(i32::cast_unsigned))
    }

    /// Returns true if it says more than that the process is on the machine.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.0[0] != 0
    }

    /// How many elements are known to hold both processes, besides the whole machine.
    #[must_use]
    pub fn shared_levels(self, other: Self) -> usize {
        let pairs = self.0.iter().zip(&other.0);
        pairs.take_while(|(element, others)| **element != 0 && element == others).count()
    }

    /// The distance in the machine's tree: how many levels above the leaves the smallest element lies that is
    /// known to hold both.
    #[must_use]
    pub fn distance(self, other: Self) -> usize {
        LEVELS - self.shared_levels(other)
    }
}

/// The common beginning of the paths of these hardware threads, among the [`places`](Topology::places) of
/// all.
#[must_use]
pub fn common_path(places: &[(usize, Vec<usize>)], hardware_threads: &[usize]) -> Vec<usize> {
    let here = places.iter().filter(|(number, _)| hardware_threads.contains(number)).map(|(_, path)| path);
    let both = |one: &[usize], other: &[usize]| one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let mut common: Option<Vec<usize>> = None;
    for path in here {
        match &mut common {
            None => common = Some(path.clone()),
            Some(common) => common.truncate(both(common, path)),
        }
    }
    common.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_threads_share_more_levels() {
        let machine: Topology = "2 packages x 2 l3 x 2 cores x 2 threads".parse().expect("a topology");
        let on = |threads: &[usize]| Location::new(&machine, threads);
        let shared = |threads: &[usize]| on(&[0]).shared_levels(on(threads));
        assert_eq!([0, 1, 2, 4, 8].map(|thread| shared(&[thread])), [4, 3, 2, 1, 0]);
        assert_eq!(shared(&[0, 1]), 3, "both threads of the core");
        assert_eq!(shared(&[4, 7]), 1, "the other cache");
        assert_eq!(on(&[0, 1]).distance(on(&[0, 1])), on(&[0]).distance(on(&[1])));
        assert!(on(&[0]).distance(on(&[2])) < on(&[0]).distance(on(&[8])));
    }

    #[test]
    fn what_runs_anywhere_is_far_from_all() {
        let machine: Topology = "2 packages x 2 cores".parse().expect("a topology");
        let everywhere = Location::new(&machine, &[0, 1, 2, 3]);
        assert!(!everywhere.is_known());
        assert_eq!(everywhere, Location::new(&machine, &[]));
        assert_eq!(everywhere.distance(everywhere), LEVELS);
        assert_eq!(everywhere.distance(Location::new(&machine, &[0])), LEVELS);
    }
}
