//! Where the words of a lock are: levels of the machine, their elements, and the processes that
//! keep queues and counters.

use crate::rma::{Rank, Word};
use std::collections::HashMap;

/// The levels of a machine as a lock sees them, and the processes that keep its queues and
/// counters (paper, Table 2).
///
/// Level 1 is the whole machine and level N the smallest elements. Processes are leaves below level N: a
/// queue of level N holds processes, and a queue of level i < N holds the elements of level i + 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// For each level, the element of each process: the paper's e(p, i).
    elements: Vec<Vec<usize>>,
    /// For each level, the process that keeps the tail of each element's queue: the
    /// paper's `tail_rank[i, j]`.
    tails: Vec<Vec<Rank>>,
    /// The processes that keep a physical counter, in order.
    counters: Vec<Rank>,
    /// The counter of each process: the paper's c(p).
    counter_of: Vec<Rank>,
}

/// The words of a process: three for each level, then those of the counter.
const WORDS_A_LEVEL: usize = 3;

/// A place in the tree that waits in a queue: a process, or an element of the next level.
///
/// It is named by the process that keeps its words. The paper's listings name the waiting process itself at
/// all levels; then another process of the same element, to which the lock was passed, does not find its
/// predecessor's node and waits for ever.
pub(crate) type Node = Rank;

impl Layout {
    /// A machine of one level: all processes in one queue, with a counter at every
    /// `counter_distance`-th process.
    ///
    /// # Panics
    /// If there are no processes, or the distance is 0.
    pub fn flat(processes: usize, counter_distance: usize) -> Layout {
        Layout::new(vec![vec![0; processes]], counter_distance)
    }

    /// A machine whose processes name the elements that they are in, from the largest to the smallest: two
    /// processes are in one element if they name it alike at this level and at all above. A level counts only
    /// if all processes have a name there. Levels that say nothing are left out: those whose elements are
    /// those of the level above, or hold one process each.
    ///
    /// # Panics
    /// If there are no processes, or the distance is 0.
    pub fn named(names: &[Vec<u64>], counter_distance: usize) -> Layout {
        let processes = names.len();
        let mut levels = vec![vec![0; processes]];
        let depth = names.iter().map(Vec::len).min().unwrap_or(0);
        let at_level = |level: usize| move |p: Rank| names[p][level];
        for names_there in (0..depth).map(at_level) {
            let parents = &levels[levels.len() - 1];
            let elements = elements_within(parents, names_there);
            let count = |level: &[usize]| level.iter().max().map_or(0, |last| last + 1);
            if (count(parents) + 1..processes).contains(&count(&elements)) {
                levels.push(elements);
            }
        }
        Layout::new(levels, counter_distance)
    }

    /// A machine with these elements: `elements[i - 1][p]` is e(p, i), the number of the element of process
    /// `p` at level `i`. `counter_distance` is the paper's T_DC.
    ///
    /// # Panics
    /// If there are no processes or no levels, if levels differ in their processes, if level 1 has more than
    /// one element, if an element is not inside of one element of the level above, or if the distance is 0.
    pub fn new(elements: Vec<Vec<usize>>, counter_distance: usize) -> Layout {
        let processes = elements.first().expect("a machine has a level").len();
        assert!(processes > 0, "a lock needs a process");
        assert!(counter_distance > 0, "the distance of counters is at least 1");
        assert!(elements[0].iter().all(|element| *element == 0), "level 1 is one element, number 0");
        for pair in elements.windows(2) {
            assert_eq!(pair[1].len(), processes, "every level has all processes");
            for p in 0..processes {
                let parents = (0..processes).filter(|q| pair[1][*q] == pair[1][p]).map(|q| pair[0][q]);
                assert!(
                    parents.clone().all(|parent| parent == pair[0][p]),
                    "an element lies inside of one element"
                );
            }
        }
        // The first process of an element keeps its queue.
        let tails = elements
            .iter()
            .map(|level| {
                let count = level.iter().max().map_or(0, |last| last + 1);
                let first = |element| level.iter().position(|e| *e == element);
                (0..count)
                    .map(|element| first(element).expect("elements are numbered without gaps"))
                    .collect()
            })
            .collect();
        let counters: Vec<Rank> = (0..processes).step_by(counter_distance).collect();
        let counter_of = (0..processes).map(|p| p / counter_distance * counter_distance).collect();
        Layout { elements, tails, counters, counter_of }
    }

    /// The number of processes.
    pub fn processes(&self) -> usize {
        self.counter_of.len()
    }

    /// The number of levels, N.
    pub fn levels(&self) -> usize {
        self.elements.len()
    }

    /// The number of words that each process keeps.
    pub fn words(&self) -> usize {
        Layout::words_of(self.levels())
    }

    /// The number of words that each process keeps with so many levels.
    pub fn words_of(levels: usize) -> usize {
        levels * WORDS_A_LEVEL + 2
    }

    /// The processes with a physical counter.
    pub fn counters(&self) -> &[Rank] {
        &self.counters
    }

    /// The process that keeps the counter of process `p`.
    pub(crate) fn counter_of(&self, p: Rank) -> Rank {
        self.counter_of[p]
    }

    /// The process that keeps the tail of the queue that process `p` enters at `level`.
    pub(crate) fn tail_rank(&self, p: Rank, level: usize) -> Rank {
        self.tails[level - 1][self.elements[level - 1][p]]
    }

    /// The node by which process `p` waits at `level`: its own at level N, else that of its
    /// element of the next level.
    pub(crate) fn node(&self, p: Rank, level: usize) -> Node {
        if level == self.levels() { p } else { self.tail_rank(p, level + 1) }
    }

    /// The number of nodes of the largest queue of a level.
    pub(crate) fn places(&self, level: usize) -> usize {
        let mut nodes: Vec<(Rank, Node)> =
            (0..self.processes()).map(|p| (self.tail_rank(p, level), self.node(p, level))).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max().unwrap_or(0)
    }

    /// The word of a node that names the next one of its queue.
    pub(crate) fn next(&self, level: usize) -> Word {
        (level - 1) * WORDS_A_LEVEL
    }

    /// The word of a node that says whether it waits.
    pub(crate) fn status(&self, level: usize) -> Word {
        self.next(level) + 1
    }

    /// The word that names the last node of a queue.
    pub(crate) fn tail(&self, level: usize) -> Word {
        self.next(level) + 2
    }

    /// The word that counts readers that have come.
    pub(crate) fn arrive(&self) -> Word {
        self.levels() * WORDS_A_LEVEL
    }

    /// The word that counts readers that have gone.
    pub(crate) fn depart(&self) -> Word {
        self.arrive() + 1
    }
}

/// The number of each process's element at a level, where `parents` has those of the level above: two
/// processes are in one element if they are in one parent and name the element alike.
pub fn elements_within(parents: &[usize], name: impl Fn(Rank) -> u64) -> Vec<usize> {
    let mut numbers: HashMap<(usize, u64), usize> = HashMap::new();
    let numbered = |(p, parent): (Rank, &usize)| {
        let next = numbers.len();
        *numbers.entry((*parent, name(p))).or_insert(next)
    };
    parents.iter().enumerate().map(numbered).collect()
}

#[cfg(test)]
mod tests {
    use super::Layout;

    #[test]
    fn named_elements_are_levels_where_they_say_something() {
        // A level that all share, packages, the same again, cores of one process each.
        let names = |package: u64, core: u64| vec![7, package, package + 10, core];
        let four = [names(1, 1), names(2, 2), names(1, 3), names(2, 4)];
        let two_levels = vec![vec![0; 4], vec![0, 1, 0, 1]];
        assert_eq!(Layout::named(&four, 2), Layout::new(two_levels, 2));
        // One process does not say where it is.
        let three = [names(1, 1), Vec::new(), names(2, 2)];
        assert_eq!(Layout::named(&three, 1), Layout::flat(3, 1));
    }

    #[test]
    fn elements_lie_inside_of_their_parents() {
        let cache = |cache: u64, package: u64| vec![package, cache];
        // Both packages have a cache 0.
        let six = [cache(0, 1), cache(0, 1), cache(1, 1), cache(1, 1), cache(0, 2), cache(0, 2)];
        let levels = vec![vec![0; 6], vec![0, 0, 0, 0, 1, 1], vec![0, 0, 1, 1, 2, 2]];
        assert_eq!(Layout::named(&six, 1), Layout::new(levels, 1));
    }
}
