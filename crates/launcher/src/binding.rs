//! Which processors a rank may run on.
//!
//! `--bind-to core` shares the cores among the ranks in equal, contiguous parts, so that a rank with threads
//! is not squeezed onto one core. A core is counted if at least one of its hardware threads is in the
//! launcher's own affinity mask (which reflects cpusets). Where a control group grants less processor time
//! than there are cores, or there are more ranks than cores, binding would only take choices from the
//! kernel: nobody is bound.

use std::fs;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

/// The places for `ranks` ranks, one set a rank, or why there are none.
pub(crate) fn places(ranks: u32) -> Result<Vec<CpuSet>, String> {
    let allowed =
        sched_getaffinity(Pid::from_raw(0)).map_err(|error| format!("sched_getaffinity: {error}"))?;
    let cores = cores(&processors(&allowed), siblings);
    let granted = std::thread::available_parallelism().map_or(usize::MAX, std::num::NonZero::get);
    let usable = cores.len().min(granted);
    let each = usable / ranks as usize;
    if each == 0 {
        return Err(format!("{ranks} ranks are more than the {usable} cores that may be used"));
    }
    Ok(cores.chunks_exact(each).take(ranks as usize).map(set).collect())
}

fn processors(set: &CpuSet) -> Vec<usize> {
    (0..CpuSet::count()).filter(|&processor| set.is_set(processor).unwrap_or(false)).collect()
}

fn set(processors: &[Vec<usize>]) -> CpuSet {
    let mut set = CpuSet::new();
    for &processor in processors.iter().flatten() {
        // Cannot fail: the number came out of a set of the same size.
        let _ = set.set(processor);
    }
    set
}

/// Groups processors into cores, in the order of each core's first processor.
fn cores(allowed: &[usize], siblings: impl Fn(usize) -> Vec<usize>) -> Vec<Vec<usize>> {
    let mut cores: Vec<Vec<usize>> = Vec::new();
    for &processor in allowed {
        if cores.iter().any(|core| core.contains(&processor)) {
            continue;
        }
        let mut core = siblings(processor);
        core.retain(|sibling| allowed.contains(sibling));
        if core.is_empty() {
            core.push(processor);
        }
        cores.push(core);
    }
    cores
}

/// The hardware threads of the core that `processor` belongs to; empty if the kernel does not say.
fn siblings(processor: usize) -> Vec<usize> {
    let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
    fs::read_to_string(path).map(|list| parse_list(&list)).unwrap_or_default()
}

/// Reads the kernel's lists of numbers, such as `0,4-6`.
fn parse_list(list: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse(), last.parse::<usize>()) {
            numbers.extend(first..=last.min(CpuSet::count()));
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_kernel() {
        assert_eq!(parse_list("0,4-6\n"), [0, 4, 5, 6]);
        assert_eq!(parse_list(""), [0; 0]);
    }

    #[test]
    fn hardware_threads_make_one_core() {
        let pairs = |processor| vec![processor % 4, processor % 4 + 4];
        assert_eq!(cores(&[0, 1, 2, 3, 4, 5, 6, 7], pairs), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        assert_eq!(cores(&[1, 5, 6], pairs), [vec![1, 5], vec![6]]);
        assert_eq!(cores(&[0, 1], |_| Vec::new()), [[0], [1]]);
    }

    #[test]
    fn this_machine_has_a_core_for_one_rank() {
        let places = places(1).expect("one rank fits");
        assert_eq!(places.len(), 1);
        assert!(!processors(&places[0]).is_empty());
        places_are_refused();
    }

    fn places_are_refused() {
        let text = places(1 << 16).expect_err("no machine has 65536 cores");
        assert!(text.contains("65536 ranks"), "{text}");
    }
}
