//! The levels of the machine as a lock sees them, agreed on by all processes.

use crate::error::Failure;
use crate::mpi::Group;
use heddle_rma_locks::elements_within;

/// Where a lock takes the levels of the machine from. Kinds other than `rma-rw`, `rma-mcs` and `adaptive`
/// have one level.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopologySource {
    /// One level: all processes are alike.
    Flat = 0,
    /// Two levels: the processes that can share memory (`MPI_COMM_TYPE_SHARED`) are an element. One level, if
    /// there is one element.
    Shared = 1,
    /// The levels that the options give.
    Given = 2,
}

/// The elements of all processes, level by level from the whole machine on, where each process has named
/// those that it is in. Two processes are in one element if they name it alike at this level and at all
/// above.
pub(crate) fn elements(group: &Group, mine: &[i64]) -> Result<Vec<Vec<usize>>, Failure> {
    let mut levels = vec![vec![0; group.size]];
    if mine.is_empty() {
        return Ok(levels);
    }
    let all = group.all(mine)?;
    for level in 0..mine.len() {
        let elements = elements_within(&levels[level], |p| all[p][level] as u64);
        levels.push(elements);
    }
    Ok(levels)
}

/// The elements for [`TopologySource::Shared`].
pub(crate) fn machines(group: &Group) -> Result<Vec<Vec<usize>>, Failure> {
    let mut levels = elements(group, &[group.first_of_machine()?])?;
    if levels[1].iter().all(|element| *element == 0) {
        levels.pop();
    }
    Ok(levels)
}
