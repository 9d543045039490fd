//! A barrier for the case that `membarrier` worked and is refused later, by a filter of system calls that
//! the program has set meanwhile: the calling thread runs on each core in turn. Where it runs, no other
//! thread does, and the switch to it was a full fence for the thread before; a restartable sequence there has
//! begun anew.
//!
//! It costs a switch per core, and on a busy core the time until the kernel gives the caller a turn. A core
//! on which the kernel does not let the caller run is one on which no thread of the process runs either,
//! since control groups confine processes. So it reaches all threads of the process, and those of others that
//! are confined to the same cores.

use crate::background::{MOST_CORES, bind};
use std::io;

/// Runs on each core in turn.
///
/// # Errors
/// If the kernel refuses that, too.
pub(crate) fn visit_all() -> io::Result<()> {
    visit_each(0..MOST_CORES)
}

/// Runs on one core.
///
/// # Errors
/// If the kernel refuses that, too.
pub(crate) fn visit(core: usize) -> io::Result<()> {
    visit_each(core..core + 1)
}

fn visit_each(cores: impl Iterator<Item = usize>) -> io::Result<()> {
    // SAFETY: all zero is the empty set.
    let mut before: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let size = size_of_val(&before);
    // SAFETY: room for a set of that size.
    if unsafe { libc::sched_getaffinity(0, size, &raw mut before) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let visited = cores.map(bind).find_map(|visit| {
        let error = visit.err()?;
        // No such core, or none of this process.
        (error.raw_os_error() != Some(libc::EINVAL)).then_some(error)
    });
    // SAFETY: the set that was in force. It is a set that the kernel took before.
    unsafe { libc::sched_setaffinity(0, size, &raw const before) };
    visited.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::background::allowed_cores;

    #[test]
    fn the_caller_may_run_where_it_might_before() {
        let before = allowed_cores();
        visit_all().expect("the kernel lets threads be bound");
        visit(before[0]).expect("it may run there");
        visit(MOST_CORES - 1).expect("a core that is not there needs no visit");
        assert_eq!(allowed_cores(), before);
    }
}
