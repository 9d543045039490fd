//! The window, and windows in use.

use crate::hints::Hints;
use heddle_comm::KeptComm;
use heddle_comm::attribute::{Attributes, Predefined};
use heddle_comm::errhandler::ErrhandlerCell;
use heddle_comm::error::{Error, Result};
use heddle_comm::info::Entries;
use heddle_objects::lifetime::hazard::{KeptSlot, Protection};
use heddle_objects::table::{ObjectKind, Ref, Table};
use heddle_platform::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use heddle_settings::info_keys::{ASSERT_MEMORY_KINDS, MEMORY_KINDS, WIN_LOCK_COUNTERS, WIN_LOCK_LEVELS};
use heddle_spec::constants as mpi;
use heddle_window::Window;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// A window with what MPI attaches to it.
#[derive(Debug)]
pub struct Win {
    /// Its memory, epochs, operations and locks.
    pub window: Window,
    /// A communicator of its processes, for fences.
    pub(crate) comm: KeptComm,
    /// Where this process's memory begins; null in a dynamic window.
    base: *mut u8,
    name: Mutex<String>,
    /// Its error handler.
    pub errhandler: ErrhandlerCell,
    /// Cached attributes.
    pub attributes: Attributes,
    /// What the program has said about its use.
    hints: Mutex<Hints>,
    /// True if it has said that it locks no target.
    no_locks: AtomicBool,
    cells: Cells,
}

// SAFETY: the base is an address only; the program answers for the memory there.
unsafe impl Send for Win {}
// SAFETY: the base is an address only; the program answers for the memory there.
unsafe impl Sync for Win {}

/// Values of predefined attributes, at addresses that the program may keep as long as the window.
#[derive(Debug)]
struct Cells {
    size: AtomicU64,
    disp_unit: AtomicU32,
    flavor: AtomicU32,
    model: AtomicU32,
}

/// All windows.
// SAFETY: the only table of this kind.
pub static WINS: Table<Win> = unsafe { Table::collected(ObjectKind::Win) };

impl Win {
    pub(crate) fn new(window: Window, comm: KeptComm, base: *mut u8, flavor: i32, hints: Hints) -> Win {
        let own = &window.targets()[window.rank()];
        let size = if window.is_dynamic() { 0 } else { own.size() };
        let cells = Cells {
            size: AtomicU64::new(size),
            disp_unit: AtomicU32::new(own.disp_unit() as u32),
            flavor: AtomicU32::new(flavor as u32),
            // Load and store work on the same memory as the operations (MPI 5.0, section 12.4).
            model: AtomicU32::new(mpi::MPI_WIN_UNIFIED as u32),
        };
        Win {
            window,
            comm,
            base,
            name: Mutex::default(),
            errhandler: ErrhandlerCell::default(),
            attributes: Attributes::default(),
            no_locks: AtomicBool::new(hints.no_locks),
            hints: Mutex::new(hints),
            cells,
        }
    }

    /// The predefined attribute with this keyval: an address (MPI 5.0, section 12.2.6).
    pub fn predefined(&self, keyval: i32) -> Predefined {
        let cells = &self.cells;
        let address = match keyval {
            mpi::MPI_WIN_BASE => self.base.expose_provenance(),
            mpi::MPI_WIN_SIZE => cells.size.as_ptr().expose_provenance(),
            mpi::MPI_WIN_DISP_UNIT => cells.disp_unit.as_ptr().expose_provenance(),
            mpi::MPI_WIN_CREATE_FLAVOR => cells.flavor.as_ptr().expose_provenance(),
            mpi::MPI_WIN_MODEL => cells.model.as_ptr().expose_provenance(),
            _ => return Predefined::Unknown,
        };
        Predefined::Value(address)
    }

    /// Its processes.
    pub fn comm(&self) -> &KeptComm {
        &self.comm
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Names it; a name longer than `MPI_MAX_OBJECT_NAME` allows is cut off.
    pub fn set_name(&self, name: &str) {
        let name = &name[..name.floor_char_boundary(mpi::MPI_MAX_OBJECT_NAME as usize - 1)];
        name.clone_into(&mut self.name.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Takes the hints that may change while the window lives.
    pub fn take_hints(&self, entries: &Entries) {
        let mut hints = self.hints.lock().unwrap_or_else(PoisonError::into_inner);
        hints.take(entries);
        self.no_locks.store(hints.no_locks, Ordering::Relaxed);
    }

    /// Returns true if the program has said that it locks no target.
    pub(crate) fn is_without_locks(&self) -> bool {
        self.no_locks.load(Ordering::Relaxed)
    }

    /// The hints of the program, with the algorithm of the locks that is in force and its levels.
    pub fn hints(&self) -> Entries {
        let mut hints = self.hints.lock().unwrap_or_else(PoisonError::into_inner).clone();
        hints.lock = self.window.lock_choice();
        hints.granularity = self.window.granularity();
        let mut entries = hints.entries();
        let asserted = hints.asserted_kinds.clone().map(|kinds| (ASSERT_MEMORY_KINDS.to_owned(), kinds));
        let kinds = match &asserted {
            Some((_, kinds)) => kinds.clone(),
            None => self.comm.memory_kinds(),
        };
        entries.extend(asserted);
        entries.push((MEMORY_KINDS.to_owned(), kinds));
        entries.push((WIN_LOCK_COUNTERS.to_owned(), self.window.lock_counters().to_string()));
        entries.push((WIN_LOCK_LEVELS.to_owned(), self.window.lock_levels().to_string()));
        entries
    }
}

/// A window in use by a call, in the call's thread.
#[derive(Debug)]
pub struct WinRef {
    win: NonNull<Win>,
    handle: usize,
    protection: Protection,
}

impl Deref for WinRef {
    type Target = Win;

    #[inline(always)]
    fn deref(&self) -> &Win {
        // SAFETY: the protection keeps the window.
        unsafe { self.win.as_ref() }
    }
}

impl Drop for WinRef {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.protection.release() {
            // SAFETY: this owns the reference and gives it up once. A handle names
            // its slot in its lower half.
            drop(unsafe { Ref::from_index(&WINS, self.handle as u32) });
        }
    }
}

impl WinRef {
    /// The window of a handle.
    ///
    /// # Errors
    /// `MPI_ERR_WIN` for anything that is not a live window's handle.
    #[inline(always)]
    pub fn from_handle(handle: usize) -> Result<WinRef> {
        match WINS.protect(handle, KeptSlot::Win) {
            Some(held) => Ok(WinRef { win: held.value, handle, protection: held.protection }),
            None => Err(bad_handle(handle)),
        }
    }

    /// Passes the window of a handle to `read` at the least cost, if it is the one that the calling thread
    /// used last. Otherwise it does nothing. `read` must use no other window.
    #[inline(always)]
    pub(crate) fn peek<R>(handle: usize, read: impl FnOnce(&Window) -> R) -> Option<R> {
        let win = WINS.peek(handle, KeptSlot::Win)?;
        // SAFETY: the thread's hazard slot names the window and keeps it until the thread uses another one.
        Some(read(&unsafe { win.as_ref() }.window))
    }

    /// The handle by which the call named the window.
    pub fn handle(&self) -> usize {
        self.handle
    }
}

#[cold]
pub(crate) fn bad_handle(handle: usize) -> Error {
    let what = if handle == mpi::MPI_WIN_NULL {
        "MPI_WIN_NULL is not a window to work with".to_owned()
    } else {
        format!("{handle:#x} is not a window: never made, or freed already")
    };
    Error::new(mpi::MPI_ERR_WIN, what)
}
