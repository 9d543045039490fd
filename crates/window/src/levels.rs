//! The levels of the machine, for the locks that are trees of queues.

use heddle_platform::background::allowed_cores;
use heddle_topology::{NodeKind, Topology, common_path};
use std::sync::OnceLock;

/// The most levels below the whole machine that a window's locks have.
pub(crate) const MOST_LEVELS: usize = 3;

/// The elements in which a process runs, as it names them to the others: from the largest to the smallest,
/// and 0 from the first that it does not know on.
pub(crate) type Names = [u64; MOST_LEVELS];

/// The elements of the machine in which this process may run: packages, NUMA nodes, shared caches, as hwloc
/// sees them. A process that may run in several elements of a level has no name there.
pub(crate) fn of_this_process() -> Names {
    static PLACES: OnceLock<Vec<(usize, Vec<usize>)>> = OnceLock::new();
    let places = PLACES.get_or_init(|| {
        Topology::of_machine().map_or_else(|_| Vec::new(), |machine| machine.places(NodeKind::L3))
    });
    common(places, &allowed_cores())
}

/// The names of the elements that hold all of these cores.
fn common(places: &[(usize, Vec<usize>)], cores: &[usize]) -> Names {
    let mut names = Names::default();
    for (name, element) in names.iter_mut().zip(common_path(places, cores)) {
        *name = element as u64 + 1;
    }
    names
}

/// The names that count: those before the first unknown one.
pub(crate) fn known(names: &Names) -> Vec<u64> {
    names.iter().copied().take_while(|name| *name != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_in_the_elements_that_hold_all_its_cores() {
        let machine: Topology = "2 packages x 2 l3 x 2 cores".parse().expect("a topology");
        let places = machine.places(NodeKind::L3);
        let levels = |cores: &[usize]| known(&common(&places, cores)).len();
        assert_eq!(levels(&[0, 1]), 2, "one cache");
        assert_eq!(levels(&[0, 2]), 1, "one package");
        assert_eq!(levels(&[0, 1, 2, 3, 4, 5, 6, 7]), 0);
        assert_ne!(common(&places, &[0])[0], common(&places, &[4])[0]);
        assert_eq!(common(&places, &[0])[1], common(&places, &[1])[1]);
        assert_eq!(common(&[], &[0]), Names::default());
    }
}
