//! The machine as HMCS sees it: cohorts within cohorts, and the lowest cohort of each hardware thread.

use std::collections::BTreeMap;

/// How many times in a row a lock is passed on within a cohort unless told otherwise: one hand-over in 16
/// leaves the cohort. The paper's 256, tuned for throughput, make a waiter of another cohort wait for 256
/// critical sections a level; below [`Fissile`](crate::Fissile) each of them would be a turn.
pub const DEFAULT_THRESHOLD: u32 = 16;

/// A description of which hardware threads are near each other, from which locks are made. It does not depend
/// on a hardware library: code that knows a machine's topology, or wants to pretend one, writes it down with
/// one of the constructors.
///
/// A *cohort* is a set of threads that pass the lock among themselves before others get it: those that run on
/// one core, under one cache, on one package. The cohorts of a level lie within those of the level above; at
/// the top is one, the whole machine.
///
/// ```
/// use heddle_locks::hmcs::Tree;
///
/// // Two packages of four cores with two hardware threads each; hardware thread 8 is on the second package.
/// let tree = Tree::balanced(&[2, 4], 2);
/// assert_eq!((tree.levels(), tree.leaves()), (3, 8));
/// assert_ne!(tree.leaf(7), tree.leaf(8));
/// assert_eq!(tree.leaf(8), tree.leaf(9));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The top comes first, each cohort before those within it.
    cohorts: Vec<Plan>,
    /// The lowest cohort of each hardware thread, by its number.
    leaf_of: Vec<Option<usize>>,
    /// The lowest cohorts.
    leaves: Vec<usize>,
    /// The largest number of cohorts on a path from a leaf to the top.
    levels: usize,
}

/// One cohort of a [`Tree`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) parent: Option<usize>,
    pub(super) threshold: u32,
    /// The number of cohorts of the description that lie around it.
    depth: usize,
}

impl Tree {
    /// One cohort for all: HMCS becomes MCS.
    #[must_use]
    pub fn flat() -> Self {
        Self::from_places(std::iter::empty::<(usize, [usize; 0])>())
    }

    /// A regular machine: `fan_outs[0]` cohorts within the top, `fan_outs[1]` within each of those, and so
    /// on, and `width` hardware threads in each of the lowest, numbered from 0 in order.
    #[must_use]
    pub fn balanced(fan_outs: &[usize], width: usize) -> Self {
        let leaves: usize = fan_outs.iter().product();
        let places = (0..leaves * width).map(|hardware_thread| {
            let mut rest = hardware_thread / width;
            let mut path: Vec<usize> = fan_outs
                .iter()
                .rev()
                .map(|fan_out| {
                    let number = rest % fan_out;
                    rest /= fan_out;
                    number
                })
                .collect();
            path.reverse();
            (hardware_thread, path)
        });
        Self::from_places(places)
    }

    /// Any machine: for each hardware thread its number and its path, which is the number of the cohort
    /// at each level from the outermost below the top to the innermost. Numbers need to differ only
    /// within the same outer cohort; all paths have the same length. A cohort with a single cohort inside
    /// has no effect and is left out.
    ///
    /// # Panics
    ///
    /// If the paths differ in length, or a hardware thread is named twice.
    #[must_use]
    pub fn from_places<W: AsRef<[usize]>>(places: impl IntoIterator<Item = (usize, W)>) -> Self {
        let places: Vec<(usize, W)> = places.into_iter().collect();
        let depth = places.first().map_or(0, |(_, path)| path.as_ref().len());
        let mut inside: BTreeMap<&[usize], usize> = BTreeMap::from([(&[][..], 0)]);
        for (hardware_thread, path) in &places {
            let path = path.as_ref();
            assert_eq!(path.len(), depth, "hardware thread {hardware_thread}: a path of another length");
            for end in 1..=depth {
                if !inside.contains_key(&path[..end]) {
                    inside.insert(&path[..end], 0);
                    *inside.entry(&path[..end - 1]).or_default() += 1;
                }
            }
        }

        // In the map's order a path comes right after its prefixes.
        let mut tree = Self { cohorts: Vec::new(), leaf_of: Vec::new(), leaves: Vec::new(), levels: 0 };
        let mut number_of: BTreeMap<&[usize], Option<usize>> = BTreeMap::new();
        let mut height: Vec<usize> = Vec::new();
        for (path, children) in &inside {
            let parent = path.len().checked_sub(1).and_then(|end| number_of[&path[..end]]);
            if *children == 1 {
                number_of.insert(path, parent);
                continue;
            }
            let number = tree.cohorts.len();
            tree.cohorts.push(Plan { parent, threshold: DEFAULT_THRESHOLD, depth: path.len() });
            height.push(parent.map_or(1, |parent| height[parent] + 1));
            number_of.insert(path, Some(number));
            if path.len() == depth {
                tree.leaves.push(number);
            }
        }
        for (hardware_thread, path) in &places {
            if tree.leaf_of.len() <= *hardware_thread {
                tree.leaf_of.resize(hardware_thread + 1, None);
            }
            let leaf = tree.leaf_of[*hardware_thread].replace(number_of[path.as_ref()].unwrap_or(0));
            assert!(leaf.is_none(), "hardware thread {hardware_thread} has two places");
        }
        tree.levels = height.into_iter().max().unwrap_or(0);
        tree
    }

    /// Sets how many times in a row each level passes the lock on within a cohort before other cohorts get
    /// it: first for the cohorts right below the top, and so on downwards; the last value holds for all
    /// below. (At the top there are no others.) Left-out levels of a description count.
    #[must_use]
    pub fn with_thresholds(mut self, thresholds: &[u32]) -> Self {
        if let Some(last) = thresholds.last() {
            for cohort in &mut self.cohorts {
                let level = cohort.depth.saturating_sub(1);
                cohort.threshold = *thresholds.get(level).unwrap_or(last);
            }
        }
        self
    }

    /// The largest number of cohorts that a thread is in, the top included.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// The number of lowest cohorts.
    #[must_use]
    pub fn leaves(&self) -> usize {
        self.leaves.len()
    }

    /// The number of the lowest cohort of a hardware thread. A hardware thread that the description does not
    /// contain gets an arbitrary one.
    #[inline]
    #[must_use]
    pub fn leaf(&self, hardware_thread: usize) -> usize {
        match self.leaf_of.get(hardware_thread) {
            Some(Some(leaf)) => *leaf,
            _ => self.leaves[hardware_thread % self.leaves.len()],
        }
    }

    pub(super) fn cohorts(&self) -> &[Plan] {
        &self.cohorts
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self::flat()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn way_up(tree: &Tree, hardware_thread: usize) -> Vec<usize> {
        let first = Some(tree.leaf(hardware_thread));
        std::iter::successors(first, |cohort| tree.cohorts[*cohort].parent).collect()
    }

    #[test]
    fn one_cohort_serves_every_number() {
        let tree = Tree::flat();
        assert_eq!((tree.levels(), tree.leaves()), (1, 1));
        assert_eq!(tree.leaf(0), tree.leaf(12_345));
    }

    #[test]
    fn a_balanced_tree_has_its_levels() {
        let tree = Tree::balanced(&[2, 4, 8], 2);
        assert_eq!((tree.levels(), tree.leaves()), (4, 64));
        for (a, b, shared) in [(0, 1, 4), (0, 2, 3), (0, 16, 2), (0, 64, 1), (127, 126, 4)] {
            let (a, b) = (way_up(&tree, a), way_up(&tree, b));
            assert_eq!(a.iter().filter(|cohort| b.contains(cohort)).count(), shared);
        }
    }

    #[test]
    fn levels_with_one_child_are_left_out() {
        assert_eq!(Tree::balanced(&[1, 1, 1], 2), Tree { ..Tree::balanced(&[1, 1, 1], 2) });
        assert_eq!(Tree::balanced(&[1, 1, 1], 2).levels(), 1);
        assert_eq!(Tree::balanced(&[1, 2, 1], 1).levels(), 2);
        // A package with one L3 beside a package with two.
        let uneven = Tree::from_places([(0, [0, 0]), (1, [1, 0]), (2, [1, 1])]);
        assert_eq!(uneven.levels(), 3);
        assert_eq!([0, 1, 2].map(|thread| way_up(&uneven, thread).len()), [2, 3, 3]);
    }

    #[test]
    fn thresholds_go_by_the_described_level() {
        let tree = Tree::balanced(&[2, 1, 2], 1).with_thresholds(&[7, 8, 9]);
        let thresholds: Vec<u32> =
            way_up(&tree, 3).into_iter().map(|cohort| tree.cohorts[cohort].threshold).collect();
        assert_eq!(thresholds[0], 9);
        assert_eq!(thresholds.len(), 3);
        assert!(tree.cohorts.iter().all(|cohort| cohort.parent.is_none() || cohort.threshold >= 8));
    }

    #[test]
    fn unknown_hardware_threads_get_a_leaf() {
        let tree = Tree::from_places([(3, [0]), (9, [1])]);
        assert_ne!(tree.leaf(3), tree.leaf(9));
        for unknown in [0, 4, 10, usize::MAX] {
            assert!(tree.leaves.contains(&tree.leaf(unknown)));
        }
    }

    #[test]
    #[should_panic(expected = "another length")]
    fn ways_of_different_length_are_refused() {
        let _ = Tree::from_places([(0, vec![0]), (1, vec![0, 1])]);
    }

    #[test]
    #[should_panic(expected = "two places")]
    fn two_places_are_refused() {
        let _ = Tree::from_places([(0, [0]), (0, [1])]);
    }
}
