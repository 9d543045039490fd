//! Error handlers (MPI 5.0, chapter 9.3).
//!
//! The program may free a handler that objects have, and `MPI_Comm_get_errhandler` gives a handle that must
//! be freed once more. So a handler counts the handles of the program, and apart from them the objects that
//! have it: the program cannot free more than its handles. Without one the program cannot use the handler,
//! except by an object that has it. The handler goes with the last of both.

use crate::error::{Error, Result};
use crate::program::ProgramFunction;
use heddle_bootstrap::builtin::env;
use heddle_objects::table::{ObjectKind, Table};
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_spec::constants as mpi;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The kinds of objects that have error handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// A communicator.
    Comm,
    /// A window.
    Win,
    /// A file.
    File,
    /// A session.
    Session,
}

/// A function of the program that is called with the object's handle and the error code.
pub type HandlerFunction = unsafe extern "C" fn(*mut usize, *mut c_int, ...);

/// An error handler that the program made.
#[derive(Debug)]
pub struct UserHandler {
    holder: Holder,
    function: ProgramFunction<HandlerFunction>,
    /// The handles that the program has, and [`OBJECT`] for each object that has it.
    holders: AtomicU64,
}

/// One handle of the program, and one object, in the count of holders.
const HANDLE: u64 = 1;
const OBJECT: u64 = 1 << 32;

static HANDLERS: Table<UserHandler> = Table::new(ObjectKind::Errhandler);

/// Returns true if the handle is one of the error handlers that the standard defines.
pub fn is_predefined(handle: usize) -> bool {
    matches!(handle, mpi::MPI_ERRORS_ARE_FATAL | mpi::MPI_ERRORS_ABORT | mpi::MPI_ERRORS_RETURN)
}

#[cold]
fn bad_handle(handle: usize) -> Error {
    let what = if handle == mpi::MPI_ERRHANDLER_NULL {
        "MPI_ERRHANDLER_NULL is not an error handler to work with".to_owned()
    } else {
        format!("{handle:#x} is not an error handler: never made, or freed already")
    };
    Error::new(mpi::MPI_ERR_ERRHANDLER, what)
}

/// Makes an error handler for objects of a kind; returns its handle.
pub fn create(holder: Holder, function: ProgramFunction<HandlerFunction>) -> usize {
    HANDLERS.insert(UserHandler { holder, function, holders: AtomicU64::new(HANDLE) })
}

/// Frees one of the program's handles.
///
/// # Errors
/// `MPI_ERR_ERRHANDLER` if the program has no such handle. A predefined handler may be freed, because
/// `MPI_Comm_get_errhandler` may return it.
pub fn free(handle: usize) -> Result<()> {
    if !is_predefined(handle) && !release(handle, HANDLE) {
        return Err(bad_handle(handle));
    }
    Ok(())
}

/// Returns true if a handle can be set on an object of this kind.
///
/// # Errors
/// `MPI_ERR_ERRHANDLER`.
pub fn check(handle: usize, holder: Holder) -> Result<()> {
    if is_predefined(handle) {
        return Ok(());
    }
    let handler = HANDLERS.get(handle).filter(|handler| handler.has_handle());
    let handler = handler.ok_or_else(|| bad_handle(handle))?;
    if handler.holder == holder {
        return Ok(());
    }
    let message = format!(
        "the error handler was made for objects of the kind {:?}, this one is of the kind {holder:?}",
        handler.holder
    );
    Err(Error::new(mpi::MPI_ERR_ERRHANDLER, message))
}

impl UserHandler {
    /// Returns true if the program has a handle.
    fn has_handle(&self) -> bool {
        self.holders.load(Ordering::Acquire) as u32 != 0
    }
}

/// The function of a handler that the program made, and that it or an object has.
pub fn function_of(handle: usize) -> Option<ProgramFunction<HandlerFunction>> {
    HANDLERS.get(handle).map(|handler| handler.function)
}

/// The null handle of the kind of objects that a live handler was made for: what the handler is called with
/// while there is no object.
pub fn null_object_of(handle: usize) -> usize {
    match HANDLERS.get(handle).map(|handler| handler.holder) {
        Some(Holder::Comm) | None => mpi::MPI_COMM_NULL,
        Some(Holder::Win) => mpi::MPI_WIN_NULL,
        Some(Holder::File) => mpi::MPI_FILE_NULL,
        Some(Holder::Session) => mpi::MPI_SESSION_NULL,
    }
}

/// Adds a holder, `HANDLE` or `OBJECT`.
fn retain(handle: usize, holder: u64) {
    if let Some(handler) = HANDLERS.get(handle) {
        handler.holders.fetch_add(holder, Ordering::Relaxed);
    }
}

/// Removes a holder, `HANDLE` or `OBJECT`; with the last one the handler goes. Returns false if there is no
/// such holder.
fn release(handle: usize, holder: u64) -> bool {
    let Some(handler) = HANDLERS.get(handle) else { return false };
    let less = |holders: u64| {
        let there = if holder == HANDLE { holders & (OBJECT - 1) } else { holders / OBJECT };
        (there != 0).then(|| holders - holder)
    };
    match handler.holders.fetch_update(Ordering::AcqRel, Ordering::Acquire, less) {
        Ok(before) => {
            if before == holder {
                drop(HANDLERS.remove(handle));
            }
            true
        }
        Err(_) => false,
    }
}

/// The program's handle of the handler with this index, for `MPI_Errhandler_fromint`.
pub fn handle_of_index(index: u32) -> Option<usize> {
    let handle = HANDLERS.handle_of_index(index)?;
    HANDLERS.get(handle)?.has_handle().then_some(handle)
}

/// The predefined handlers by the names that `mpiexec -initial-errhandler` takes.
const INITIAL: [(&str, usize); 3] = [
    ("mpi_errors_are_fatal", mpi::MPI_ERRORS_ARE_FATAL),
    ("mpi_errors_abort", mpi::MPI_ERRORS_ABORT),
    ("mpi_errors_return", mpi::MPI_ERRORS_RETURN),
];

fn chosen_initial() -> Option<(&'static str, usize)> {
    // Read once: a program may change its environment while other threads fail.
    static CHOSEN: OnceLock<Option<(&str, usize)>> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let named = std::env::var(env::INITIAL_ERRHANDLER).ok()?;
        INITIAL.into_iter().find(|(name, _)| *name == named)
    })
}

/// The initial error handler (MPI 5.0, section 9.3): that of errors before `MPI_Init` and after
/// `MPI_Finalize`, and at first that of `MPI_COMM_WORLD` and `MPI_COMM_SELF`.
pub fn initial() -> usize {
    chosen_initial().map_or(mpi::MPI_ERRORS_ARE_FATAL, |(_, handler)| handler)
}

/// Its name, as `mpi_initial_errhandler` gives it, if the command line names one.
pub fn initial_name() -> Option<&'static str> {
    chosen_initial().map(|(name, _)| name)
}

/// The error handler that an object has.
#[derive(Debug)]
pub struct ErrhandlerCell(Mutex<Held>);

#[derive(Debug, Clone, Copy)]
struct Held {
    handle: usize,
    /// True once a handler was set.
    chosen: bool,
}

impl Default for ErrhandlerCell {
    fn default() -> ErrhandlerCell {
        ErrhandlerCell::new(mpi::MPI_ERRORS_ARE_FATAL)
    }
}

impl ErrhandlerCell {
    /// A cell with this predefined handler.
    pub const fn new(handle: usize) -> ErrhandlerCell {
        ErrhandlerCell(Mutex::new(Held { handle, chosen: false }))
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handle.
    pub fn get(&self) -> usize {
        self.lock().handle
    }

    /// Returns true if a handler was set, be it the one that the object had from the start.
    pub fn is_chosen(&self) -> bool {
        self.lock().chosen
    }

    /// The handle with one holder more, which the program must free.
    pub fn share(&self) -> usize {
        let held = self.lock();
        retain(held.handle, HANDLE);
        held.handle
    }

    /// Sets the handler and makes this object one of its holders.
    pub fn set(&self, handle: usize) {
        retain(handle, OBJECT);
        self.replace(handle);
    }

    /// Sets the handler of another object.
    pub fn inherit(&self, from: &ErrhandlerCell) {
        let handle = {
            // While it is locked, that object stays a holder.
            let held = from.lock();
            retain(held.handle, OBJECT);
            held.handle
        };
        self.replace(handle);
    }

    fn replace(&self, handle: usize) {
        let before = std::mem::replace(&mut *self.lock(), Held { handle, chosen: true });
        release(before.handle, OBJECT);
    }
}

impl Drop for ErrhandlerCell {
    fn drop(&mut self) {
        release(self.get(), OBJECT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stable Rust cannot define a C-variadic function; arguments after the first two are not read.
    unsafe extern "C" fn ignore(_object: *mut usize, _code: *mut c_int) {}

    fn handler() -> ProgramFunction<HandlerFunction> {
        // SAFETY: the test never calls it.
        ProgramFunction::new(unsafe {
            std::mem::transmute::<unsafe extern "C" fn(*mut usize, *mut c_int), HandlerFunction>(ignore)
        })
    }

    #[test]
    fn a_freed_handler_lives_as_long_as_an_object_has_it() {
        let cell = ErrhandlerCell::default();
        assert!(cell.get() == mpi::MPI_ERRORS_ARE_FATAL && !cell.is_chosen());
        let handle = create(Holder::Comm, handler());
        assert!(check(handle, Holder::Win).is_err());
        check(handle, Holder::Comm).expect("its kind");
        cell.set(handle);
        free(handle).expect("the program's handle");
        assert!(free(handle).is_err() && check(handle, Holder::Comm).is_err(), "the program has none");
        assert!(function_of(cell.get()).is_some(), "the object still has it");
        assert_eq!(cell.share(), handle);
        cell.set(mpi::MPI_ERRORS_RETURN);
        check(handle, Holder::Comm).expect("shared with the program");
        free(handle).expect("the shared handle");
        assert!(free(handle).is_err() && check(handle, Holder::Comm).is_err());
        assert!(cell.is_chosen());
    }

    #[test]
    fn the_last_object_takes_the_handler_with_it() {
        let handle = create(Holder::Session, handler());
        let cells = [ErrhandlerCell::default(), ErrhandlerCell::default()];
        cells.iter().for_each(|cell| cell.set(handle));
        free(handle).expect("the program's handle");
        drop(cells);
        assert!(check(handle, Holder::Session).is_err());
    }

    #[test]
    fn predefined_handlers_fit_everything_and_null_nothing() {
        for handle in [mpi::MPI_ERRORS_ARE_FATAL, mpi::MPI_ERRORS_ABORT, mpi::MPI_ERRORS_RETURN] {
            check(handle, Holder::File).expect("predefined");
            free(handle).expect("what was got may be freed");
        }
        let error = check(mpi::MPI_ERRHANDLER_NULL, Holder::Comm).expect_err("null");
        assert_eq!(error.code(), mpi::MPI_ERR_ERRHANDLER);
    }
}
