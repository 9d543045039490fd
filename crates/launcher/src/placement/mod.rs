//! Which processors a rank may run on.
//!
//! | file | idea |
//! |---|---|
//! | `policy` | what the command line says |
//! | `places` | from a policy and the machine's tree to a set of hardware threads per rank |
//! | `picture` | the places, drawn |
//!
//! Where nothing is said, each rank gets its share of the machine, near cores together, if that is two cores
//! or more: its threads then stay near each other and near their memory. With less than that binding would
//! only take choices from the kernel, and with a single rank there is nothing to divide.

mod picture;
mod places;
mod policy;

pub(crate) use picture::picture;
pub(crate) use places::Places;
pub(crate) use policy::{Allowed, Bind, Map, Policy};

use heddle_topology::Topology;
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

/// The places of all ranks, and the machine; `None` if the kernel places them.
///
/// # Errors
/// Why a policy has no effect here, in words.
pub(crate) fn choose(policy: &Policy, ranks: usize) -> Result<Option<(Topology, Places)>, String> {
    let is_asked = *policy != Policy::default();
    if policy.bind == Bind::Nothing || !is_asked && ranks < 2 {
        return Ok(None);
    }
    let machine = match Topology::of_machine() {
        Ok(machine) => machine,
        Err(_) if !is_asked => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let usable = usable(policy)?;
    // A control group may grant less processor time than there are cores.
    let granted = std::thread::available_parallelism().map_or(usize::MAX, std::num::NonZero::get);
    let places = places::places(&machine, &usable, granted, policy, ranks)?;
    Ok(places.map(|places| (machine, places)))
}

/// The hardware threads that the launcher may use itself, which reflects cpusets, and that the policy allows.
fn usable(policy: &Policy) -> Result<Vec<usize>, String> {
    let mask = sched_getaffinity(Pid::from_raw(0)).map_err(|error| format!("sched_getaffinity: {error}"))?;
    let is_mine = |&thread: &usize| mask.is_set(thread).unwrap_or(false);
    match &policy.allowed {
        None => Ok((0..CpuSet::count()).filter(is_mine).collect()),
        Some(allowed) => match allowed.iter().find(|thread| !is_mine(thread)) {
            Some(thread) => Err(format!("the hardware thread {thread} is not one that mpiexec may use")),
            None => Ok(allowed.clone()),
        },
    }
}

/// The set that the kernel wants.
pub(crate) fn set(threads: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    for &thread in threads {
        // A number beyond the set's size is not in the launcher's own mask, and so in no place.
        let _ = set.set(thread);
    }
    set
}
