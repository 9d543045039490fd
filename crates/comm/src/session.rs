//! Sessions (MPI 5.0, section 11.3): each is a use of the library, from `MPI_Session_init` to
//! `MPI_Session_finalize`, with an error handler and a buffer for buffered sends.
//!
//! Groups remember the session that they come from, and so do the communicators made of them.
//! `heddle-process` starts the library for the first session and ends it with the last.

use crate::attached_buffer::Attached;
use crate::errhandler::ErrhandlerCell;
use crate::error::{Error, Result};
use heddle_objects::table::{ObjectKind, Table};
use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_spec::constants as mpi;
use std::sync::{Arc, Mutex};

/// A session.
#[derive(Debug)]
pub struct Session {
    /// Its error handler.
    pub errhandler: ErrhandlerCell,
    /// The buffer attached to it, for buffered sends on its communicators.
    pub bsend_buffer: Mutex<Option<Arc<Attached>>>,
    /// The kinds of memory that its objects take.
    memory_kinds: String,
    finalized: AtomicBool,
}

/// All sessions that are not finalised.
pub static SESSIONS: Table<Arc<Session>> = Table::new(ObjectKind::Session);

/// The session of a handle.
///
/// # Errors
/// `MPI_ERR_SESSION` for anything that is not a live session's handle.
pub fn from_handle(handle: usize) -> Result<Arc<Session>> {
    SESSIONS.get(handle).map(|session| Arc::clone(&session)).ok_or_else(|| bad_handle(handle))
}

/// A new session with this error handler, which is valid, and these kinds of memory; returns its handle.
pub fn new_handle(errhandler: usize, memory_kinds: String) -> usize {
    let session = Session {
        errhandler: ErrhandlerCell::default(),
        bsend_buffer: Mutex::default(),
        memory_kinds,
        finalized: AtomicBool::new(false),
    };
    session.errhandler.set(errhandler);
    SESSIONS.insert(Arc::new(session))
}

/// Makes the handle invalid; returns the session. Of two threads that do this at once one gets it.
///
/// # Errors
/// `MPI_ERR_SESSION` for anything that is not a live session's handle.
pub fn take(handle: usize) -> Result<Arc<Session>> {
    let session = SESSIONS.remove(handle).map(|session| Arc::clone(&session));
    let session = session.ok_or_else(|| bad_handle(handle))?;
    session.finalized.store(true, Ordering::Relaxed);
    Ok(session)
}

/// The handle of a session that is not finalised, with what the handle stands for.
pub fn handle_of(session: &Arc<Session>) -> Option<(usize, Arc<Session>)> {
    SESSIONS.handles().find_map(|handle| {
        let found = Arc::clone(&*SESSIONS.get(handle)?);
        Arc::ptr_eq(&found, session).then_some((handle, found))
    })
}

/// The error handlers of all sessions that are not finalised.
pub fn errhandlers() -> impl Iterator<Item = usize> {
    SESSIONS.handles().filter_map(|handle| Some(SESSIONS.get(handle)?.errhandler.get()))
}

#[cold]
fn bad_handle(handle: usize) -> Error {
    let what = if handle == mpi::MPI_SESSION_NULL {
        "MPI_SESSION_NULL is not a session to work with: MPI_Session_init makes one".to_owned()
    } else {
        format!("{handle:#x} is not a session: never made, or finalized already")
    };
    Error::new(mpi::MPI_ERR_SESSION, what)
}

impl Session {
    /// The kinds of memory that its objects take, as `mpi_memory_alloc_kinds` lists them.
    pub fn memory_kinds(&self) -> &str {
        &self.memory_kinds
    }

    /// Checks that objects of the session may still be used.
    ///
    /// # Errors
    /// `MPI_ERR_SESSION` if it is finalised.
    pub fn check_live(&self) -> Result<()> {
        if self.finalized.load(Ordering::Relaxed) {
            let message = "the group comes from a session that was finalized: make communicators before \
                           MPI_Session_finalize, or take a group of another session";
            return Err(Error::new(mpi::MPI_ERR_SESSION, message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_taken_once() {
        let handle = new_handle(mpi::MPI_ERRORS_RETURN, String::new());
        let session = from_handle(handle).expect("live");
        assert_eq!(session.errhandler.get(), mpi::MPI_ERRORS_RETURN);
        session.check_live().expect("live");
        take(handle).expect("live");
        assert_eq!(session.check_live().expect_err("finalised").code(), mpi::MPI_ERR_SESSION);
        for wrong in [handle, mpi::MPI_SESSION_NULL, 12345] {
            assert_eq!(take(wrong).expect_err("dead").code(), mpi::MPI_ERR_SESSION);
            assert_eq!(from_handle(wrong).expect_err("dead").code(), mpi::MPI_ERR_SESSION);
        }
    }
}
