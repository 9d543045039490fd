//! Sessions: their start and end (MPI 5.0, section 11.3).

use crate::life::{self, Origin, Use};
use crate::loss;
use heddle_comm::error::{Error, Result};
use heddle_comm::info::Entries;
use heddle_comm::memory_kinds;
use heddle_comm::process;
use heddle_comm::session::{self, Session};
use heddle_message::domain;
use heddle_p2p::AttachTo;
use heddle_settings::info_keys::{MEMORY_KINDS, THREAD_LEVEL};
use heddle_spec::constants as mpi;

/// `MPI_Session_init`: makes a session with an error handler, which is valid; returns its handle.
///
/// # Errors
/// `MPI_ERR_INFO_VALUE` for a `thread_level` that does not exist; `MPI_ERR_OTHER` if the environment is
/// inconsistent, or if the job's shared memory cannot be set up.
pub fn init(hints: &Entries, errhandler: usize) -> Result<usize> {
    if let Some((_, level)) = hints.iter().rfind(|(key, _)| key == THREAD_LEVEL) {
        check_level(level)?;
    }
    life::begin(Use::Session, Origin::Environment)?;
    let requested = hints.iter().rfind(|(key, _)| key == MEMORY_KINDS).map_or("", |(_, kinds)| kinds);
    Ok(session::new_handle(errhandler, memory_kinds::supported(requested)))
}

fn check_level(asked: &str) -> Result<()> {
    if mpi::THREAD_LEVELS.iter().any(|&(name, _)| name == asked) {
        return Ok(());
    }
    let names: Vec<&str> = mpi::THREAD_LEVELS.iter().map(|&(name, _)| name).collect();
    let names = names.join(", ");
    let message = format!("\"{asked}\" is no value of the info key {THREAD_LEVEL}: use one of {names}");
    Err(Error::new(mpi::MPI_ERR_INFO_VALUE, message))
}

/// `MPI_Session_finalize`: the handle becomes invalid; the last session ends the library, unless the
/// process is between `MPI_Init` and `MPI_Finalize`. It waits until the receivers have what is in the
/// session's buffer for buffered sends, and the last one for all that is on its way.
///
/// It does not wait for other processes otherwise. Communicators that the program has not freed go on as
/// long as the library is in use.
///
/// # Errors
/// `MPI_ERR_SESSION` for anything that is not a live session's handle.
pub fn finalize(handle: usize) -> Result<()> {
    loss::keep_choice();
    let ended = session::take(handle)?;
    let domain = domain::current()?;
    domain.calls().inside(|| heddle_p2p::flush_buffer(AttachTo::Session(&ended)))?;
    domain.calls().inside(|| life::end_session(domain));
    Ok(())
}

/// The values in use of the hints that a session knows.
///
/// # Errors
/// `MPI_ERR_OTHER` if MPI is not in use.
pub fn hints(session: &Session) -> Result<Entries> {
    let provided = process::current()?.thread_level();
    let name = mpi::THREAD_LEVELS.iter().find(|&&(_, level)| level == provided).map(|&(name, _)| name);
    let level = name.map(|name| (THREAD_LEVEL, name));
    let entries = level.into_iter().chain([(MEMORY_KINDS, session.memory_kinds())]);
    Ok(entries.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_level_is_one_of_four_names() {
        for (name, _) in mpi::THREAD_LEVELS {
            check_level(name).expect("a level");
        }
        for wrong in ["", "multiple", "MPI_THREAD_MULTIPLE ", "3"] {
            assert_eq!(check_level(wrong).expect_err("no level").code(), mpi::MPI_ERR_INFO_VALUE);
        }
    }
}
