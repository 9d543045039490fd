//! The process sets that sessions name (MPI 5.0, section 11.3.2).

use crate::error::{Error, Result};
use crate::group::Group;
use crate::info::Entries;
use crate::session::Session;
use heddle_message::domain;
use heddle_spec::constants as mpi;
use std::sync::Arc;

/// The process sets of every session, by their numbers.
const NAMES: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

/// The number of the process set of all processes.
pub const WORLD: usize = 0;

/// The number of process sets.
pub fn count() -> usize {
    NAMES.len()
}

/// The name of a process set.
///
/// # Errors
/// `MPI_ERR_ARG` if there is no process set of this number.
pub fn name(number: i32) -> Result<&'static str> {
    let name = usize::try_from(number).ok().and_then(|number| NAMES.get(number));
    name.copied().ok_or_else(|| {
        let message =
            format!("there is no process set {number}: their numbers go from 0 to {}", NAMES.len() - 1);
        Error::new(mpi::MPI_ERR_ARG, message)
    })
}

/// The number of the process set with this name. Case makes no difference, unless `HEDDLE_STRICT` says so.
pub fn number_of(name: &str) -> Option<usize> {
    let is_named =
        |known: &&str| *known == name || !heddle_settings::is_strict() && known.eq_ignore_ascii_case(name);
    NAMES.iter().position(is_named)
}

/// The group of a process set, in a session.
///
/// # Errors
/// `MPI_ERR_ARG` if there is no process set of this name; `MPI_ERR_OTHER` if MPI is not in use.
pub fn group(session: &Arc<Session>, name: &str) -> Result<Arc<Group>> {
    let domain = domain::current()?;
    let group = match number_of(name) {
        Some(WORLD) => Group::all(domain.size()),
        Some(_) => Group::from_world_ranks(vec![domain.rank() as u32]),
        None => {
            let message = format!(
                "there is no process set \"{name}\": there are {}, as MPI_Session_get_nth_pset says",
                NAMES.join(" and ")
            );
            return Err(Error::new(mpi::MPI_ERR_ARG, message));
        }
    };
    Ok(Arc::new(group).in_session(Some(session)))
}

/// The info of a process set: its size, under `mpi_size`.
///
/// # Errors
/// The same as for [`group`].
pub fn info(session: &Arc<Session>, name: &str) -> Result<Entries> {
    let size = group(session, name)?.size();
    Ok(vec![("mpi_size".to_owned(), size.to_string())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_sets_are_numbered_from_zero() {
        assert_eq!([0, 1].map(|number| name(number).expect("there is one")), NAMES);
        for wrong in [-1, 2, i32::MIN, i32::MAX] {
            assert_eq!(name(wrong).expect_err("there is none").code(), mpi::MPI_ERR_ARG);
        }
    }
}
