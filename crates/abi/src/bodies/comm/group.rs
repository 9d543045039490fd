//! Groups.

use crate::argument::{List, ListOut, Out, Text};
use crate::error::{Error, Result};
use heddle_comm::domain;
use heddle_comm::group::{self, Group};
use heddle_comm::process_sets;
use heddle_comm::session;
use heddle_spec::constants as mpi;
use heddle_spec::handle::{GroupHandle, SessionHandle};
use std::ffi::c_int;
use std::sync::Arc;

/// The length of a list of ranks or ranges.
fn length(n: c_int) -> Result<usize> {
    usize::try_from(n).map_err(|_| {
        Error::new(mpi::MPI_ERR_ARG, format!("a list cannot have {n} elements; 0 or more can be"))
    })
}

fn store(new: Out<GroupHandle>, group: Group) -> Result<()> {
    let new = new.variable()?;
    *new = GroupHandle(group::new_handle(Arc::new(group)));
    Ok(())
}

pub(crate) fn group_size(group: GroupHandle, size: Out<c_int>) -> Result<()> {
    size.set(group::from_handle(group.0)?.size() as c_int)
}

pub(crate) fn group_rank(group: GroupHandle, rank: Out<c_int>) -> Result<()> {
    let here = group::from_handle(group.0)?.rank_of(domain::current()?.rank());
    rank.set(here.map_or(mpi::MPI_UNDEFINED, |rank| rank as c_int))
}

pub(crate) fn group_translate_ranks(
    group1: GroupHandle,
    n: c_int,
    ranks1: List<'_, c_int>,
    group2: GroupHandle,
    ranks2: ListOut<'_, c_int>,
) -> Result<()> {
    let (from, to) = (group::from_handle(group1.0)?, group::from_handle(group2.0)?);
    let n = length(n)?;
    for (out, rank) in ranks2.slice(n)?.iter_mut().zip(from.translate(ranks1.slice(n)?, &to)) {
        *out = rank?;
    }
    Ok(())
}

pub(crate) fn group_compare(group1: GroupHandle, group2: GroupHandle, result: Out<c_int>) -> Result<()> {
    let (one, other) = (group::from_handle(group1.0)?, group::from_handle(group2.0)?);
    result.set(one.compare(&other))
}

pub(crate) fn group_union(group1: GroupHandle, group2: GroupHandle, new: Out<GroupHandle>) -> Result<()> {
    let (one, other) = (group::from_handle(group1.0)?, group::from_handle(group2.0)?);
    store(new, one.union(&other)?)
}

pub(crate) fn group_intersection(
    group1: GroupHandle,
    group2: GroupHandle,
    new: Out<GroupHandle>,
) -> Result<()> {
    let (one, other) = (group::from_handle(group1.0)?, group::from_handle(group2.0)?);
    store(new, one.intersection(&other)?)
}

pub(crate) fn group_difference(
    group1: GroupHandle,
    group2: GroupHandle,
    new: Out<GroupHandle>,
) -> Result<()> {
    let (one, other) = (group::from_handle(group1.0)?, group::from_handle(group2.0)?);
    store(new, one.difference(&other)?)
}

pub(crate) fn group_incl(
    group: GroupHandle,
    n: c_int,
    ranks: List<'_, c_int>,
    new: Out<GroupHandle>,
) -> Result<()> {
    store(new, group::from_handle(group.0)?.include(ranks.slice(length(n)?)?)?)
}

pub(crate) fn group_excl(
    group: GroupHandle,
    n: c_int,
    ranks: List<'_, c_int>,
    new: Out<GroupHandle>,
) -> Result<()> {
    store(new, group::from_handle(group.0)?.exclude(ranks.slice(length(n)?)?)?)
}

pub(crate) fn group_range_incl(
    group: GroupHandle,
    n: c_int,
    ranges: List<'_, [c_int; 3]>,
    new: Out<GroupHandle>,
) -> Result<()> {
    store(new, group::from_handle(group.0)?.include_ranges(ranges.slice(length(n)?)?)?)
}

pub(crate) fn group_range_excl(
    group: GroupHandle,
    n: c_int,
    ranges: List<'_, [c_int; 3]>,
    new: Out<GroupHandle>,
) -> Result<()> {
    store(new, group::from_handle(group.0)?.exclude_ranges(ranges.slice(length(n)?)?)?)
}

/// `newgroup` is `MPI_GROUP_NULL` if there is no such process set.
pub(crate) fn group_from_session_pset(
    session: SessionHandle,
    pset_name: Text<'_>,
    new: Out<GroupHandle>,
) -> Result<()> {
    let session = session::from_handle(session.0)?;
    let new = new.variable()?;
    *new = GroupHandle::NULL;
    *new = GroupHandle(group::new_handle(process_sets::group(&session, pset_name.get()?)?));
    Ok(())
}

pub(crate) fn group_free(group: Out<GroupHandle>) -> Result<()> {
    let group = group.variable()?;
    group::free(group.0)?;
    *group = GroupHandle::NULL;
    Ok(())
}
