//! This machine: its topology, read once, and how near two of its hardware threads are.

use crate::counted::Near;
use heddle_topology::{Topology, Units};
use std::sync::OnceLock;

/// The topology of this machine; `None` if it is unknown.
pub(crate) fn topology() -> Option<&'static Topology> {
    static TOPOLOGY: OnceLock<Option<Topology>> = OnceLock::new();
    TOPOLOGY.get_or_init(|| Topology::of_machine().ok()).as_ref()
}

/// Reads the topology, which takes milliseconds, and opens and closes `hwloc`. A program that forks at that
/// moment leaves locks of the C library taken in the child, so it is called during initialisation.
pub fn read() {
    units();
}

/// The units of each hardware thread, by its number.
fn units() -> &'static [Option<Units>] {
    static UNITS: OnceLock<Vec<Option<Units>>> = OnceLock::new();
    UNITS.get_or_init(|| {
        let mut all = Vec::new();
        for (number, units) in topology().into_iter().flat_map(Topology::units) {
            all.resize(all.len().max(number + 1), None);
            all[number] = Some(units);
        }
        all
    })
}

/// Says whether two hardware threads of this machine share a core, or only a package, or only the machine.
/// Hardware threads of which nothing is known share only the machine. The first call for two different ones
/// reads the topology, unless [`read`] has done so.
#[must_use]
pub fn nearness(one: usize, other: usize) -> Near {
    if one == other {
        return Near::Core;
    }
    let of = |number: usize| units().get(number).copied().flatten();
    match (of(one), of(other)) {
        (Some(one), Some(other)) if one.core == other.core => Near::Core,
        (Some(one), Some(other)) if one.package == other.package => Near::Package,
        _ => Near::Machine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_hardware_threads_share_the_machine() {
        assert_eq!(nearness(1 << 20, 1 << 20), Near::Core);
        assert_eq!(nearness(1 << 20, 1 << 21), Near::Machine);
        assert_eq!(nearness(0, 1 << 21), Near::Machine);
    }
}
