//! Making and freeing windows: collective over a communicator.
//!
//! Each process makes its part and tells the others of it; then each maps the others' parts. A process that
//! fails on the way tells that, too, so that all processes return an error and none waits for ever.

use crate::exchange::{exchange, introduce};
use crate::hints::Hints;
use crate::object::{WINS, Win, WinRef, bad_handle};
use heddle_collective::{barrier, run};
use heddle_comm::CommRef;
use heddle_comm::error::{Error, Result};
use heddle_comm::lifetime;
use heddle_message::domain::{self, Domain};
use heddle_spec::constants as mpi;
use heddle_window::{Draft, LockChoice, Plan, Window, WindowOffer, far};

/// The memory of a window, as this process gives it or wants it.
#[derive(Debug, Clone, Copy)]
pub enum Memory {
    /// `MPI_Win_create`: the program's.
    Exposed {
        /// Where it begins.
        base: *mut u8,
        /// Bytes.
        size: i64,
        /// The unit of displacements in bytes.
        disp_unit: i64,
    },
    /// `MPI_Win_allocate`: new memory.
    Allocated {
        /// Bytes.
        size: i64,
        /// The unit of displacements in bytes.
        disp_unit: i64,
    },
    /// `MPI_Win_allocate_shared`: new memory that all processes map.
    Shared {
        /// Bytes.
        size: i64,
        /// The unit of displacements in bytes.
        disp_unit: i64,
    },
    /// `MPI_Win_create_dynamic`: what the program attaches later.
    Dynamic,
}

impl Memory {
    fn flavor(self) -> i32 {
        match self {
            Memory::Exposed { .. } => mpi::MPI_WIN_FLAVOR_CREATE,
            Memory::Allocated { .. } => mpi::MPI_WIN_FLAVOR_ALLOCATE,
            Memory::Shared { .. } => mpi::MPI_WIN_FLAVOR_SHARED,
            Memory::Dynamic => mpi::MPI_WIN_FLAVOR_DYNAMIC,
        }
    }

    /// The size and the displacement unit.
    fn measure(self) -> Result<(u64, u64)> {
        let (Memory::Exposed { size, disp_unit, .. }
        | Memory::Allocated { size, disp_unit }
        | Memory::Shared { size, disp_unit }) = self
        else {
            return Ok((0, 1));
        };
        if size < 0 {
            let message = format!("the size of the window is {size}, but it may not be negative");
            return Err(Error::new(mpi::MPI_ERR_SIZE, message));
        }
        if disp_unit < 1 {
            let message =
                format!("the displacement unit of the window is {disp_unit}, but it must be positive");
            return Err(Error::new(mpi::MPI_ERR_DISP, message));
        }
        if let Memory::Exposed { base, .. } = self
            && base.is_null()
            && size > 0
        {
            let message = format!("the window's memory of {size} bytes is at a null pointer");
            return Err(Error::new(mpi::MPI_ERR_BASE, message));
        }
        Ok((size as u64, disp_unit as u64))
    }
}

/// Makes a window of all processes of a communicator. Returns its handle and where this process's memory
/// begins. If this process cannot take part, `hints` is the reason.
///
/// # Errors
/// That of `hints`; `MPI_ERR_SIZE`, `MPI_ERR_DISP`, `MPI_ERR_BASE`, `MPI_ERR_NO_MEM`, in all processes if one
/// of them fails; `MPI_ERR_RMA_SHARED` for shared memory of several machines.
pub fn create(comm: &CommRef, memory: Memory, hints: Result<Hints>) -> Result<(usize, *mut u8)> {
    let domain = domain::current()?;
    // A communicator of the window's own, so that its messages meet no others.
    let inner = heddle_comm_management::create(comm, &comm.group)?;
    let made = made(domain, &CommRef::from_handle(inner)?, memory, hints);
    if made.is_err() {
        heddle_comm_management::free(inner)?;
    }
    made
}

fn made(
    domain: &'static Domain,
    comm: &CommRef,
    memory: Memory,
    hints: Result<Hints>,
) -> Result<(usize, *mut u8)> {
    let measured = hints.as_ref().map_err(Error::clone).and_then(|_| memory.measure());
    let hints = hints.unwrap_or_else(|_| Hints::new(&Vec::new(), LockChoice::default()));
    let processes: Box<[u32]> =
        (0..comm.size()).filter_map(|rank| comm.group.world_rank(rank)).map(|world| world as u32).collect();
    let dynamic = matches!(memory, Memory::Dynamic);
    let elsewhere = processes.iter().find(|process| !domain.fabric().is_local(**process as usize));
    let mut number = 0;
    if let Some(process) = elsewhere {
        if let Memory::Shared { .. } = memory {
            return Err(not_shared(domain, *process));
        }
        introduce(domain, comm, &processes)?;
        number = far::new_number(domain)?;
    }
    let private = matches!(memory, Memory::Exposed { .. } | Memory::Dynamic);
    let plan = Plan { processes, rank: comm.rank(), dynamic, private, number, lock: hints.lock };
    let (draft, mut offers) = part(domain, comm, memory, measured, &hints, &plan)?;
    let lock = offers[0].lock();
    if let Memory::Shared { .. } = memory {
        place_in_one_piece(&mut offers);
    }
    let own_base = draft.base();
    let window = Window::new(domain, Plan { lock, ..plan }, draft, &offers);
    // Nobody begins before all have mapped everything, and if one cannot, nobody has the window.
    let told = match &window {
        Ok(window) => WindowOffer::asking(window.needs_threads(), window.exposed()),
        Err(error) => WindowOffer::failed(error),
    };
    let told = exchange(comm, told)?;
    check(&told, window.as_ref().err())?;
    let mut window = window?;
    window.know_exposed(&told);
    if told.iter().any(|offer| offer.needs_threads != 0) {
        let started = window.start_thread();
        let told = started.as_ref().err().map_or_else(WindowOffer::default, WindowOffer::failed);
        let checked = exchange(comm, told).and_then(|told| check(&told, started.as_ref().err()));
        if checked.is_err() {
            // Ends the thread of this process, if it has one.
            window.discard();
        }
        checked?;
    } else {
        window.start_helper();
    }
    let own = &window.targets()[window.rank()];
    let base = if own.base().is_null() { own_base } else { own.base() };
    lifetime::before_creation();
    let handle = WINS.insert(Win::new(window, comm.keep(), base, memory.flavor(), hints));
    Ok((handle, base))
}

fn not_shared(domain: &Domain, process: u32) -> Error {
    let message = format!(
        "processes of several machines share no memory: process {process} of MPI_COMM_WORLD is on another \
         machine than process {}; MPI_Comm_split_type with MPI_COMM_TYPE_SHARED gives a communicator of one \
         machine",
        domain.rank()
    );
    Error::new(mpi::MPI_ERR_RMA_SHARED, message)
}

/// This process's part, of which `measured` is the size and the displacement unit, and the offers of all.
fn part(
    domain: &Domain,
    comm: &CommRef,
    memory: Memory,
    measured: Result<(u64, u64)>,
    hints: &Hints,
    plan: &Plan,
) -> Result<(Draft, Vec<WindowOffer>)> {
    let (size, disp_unit) = *measured.as_ref().unwrap_or(&(0, 1));
    let allocated = if let Memory::Shared { .. } = memory {
        let wanted = measured
            .as_ref()
            .err()
            .map_or_else(|| WindowOffer::wanted(size, hints.apart), WindowOffer::failed);
        let wanted = exchange(comm, wanted)?;
        check(&wanted, measured.as_ref().err())?;
        let total = wanted.iter().fold(0u64, |sum, offer| sum.saturating_add(offer.size));
        match (wanted[0].apart != 0, comm.rank()) {
            (true, _) => Some(size),
            (false, 0) => Some(total),
            (false, _) => None,
        }
    } else if let Memory::Allocated { .. } = memory {
        Some(size)
    } else {
        None
    };
    let draft = measured.and_then(|_| {
        let draft = Draft::empty(domain, plan)?;
        let draft = match (memory, allocated) {
            (Memory::Exposed { base, .. }, _) => draft.exposed(base, size),
            (_, Some(bytes)) => draft.allocated(domain, bytes as usize, hints.alignment)?,
            _ => draft,
        };
        Ok(draft.measured(size, disp_unit))
    });
    let offer = match &draft {
        Ok(draft) => draft.offer().with_lock(hints.lock).with_granularity(hints.granularity),
        Err(error) => WindowOffer::failed(error),
    };
    let offers = exchange(comm, offer)?;
    check(&offers, draft.as_ref().err())?;
    Ok((draft?, offers))
}

/// Gives each process its part of the memory that rank 0 has allocated, unless each has its own.
fn place_in_one_piece(offers: &mut [WindowOffer]) {
    let whole = offers[0];
    let mut start = whole.size;
    for offer in offers.iter_mut().skip(1).filter(|offer| !offer.has_memory()) {
        *offer = offer.within(&whole, start);
        start += offer.size;
    }
}

/// Fails if a process has: with this process's own error if it is this one.
fn check(offers: &[WindowOffer], own: Option<&Error>) -> Result<()> {
    if let Some(error) = own {
        return Err(error.clone());
    }
    match offers.iter().enumerate().find(|(_, offer)| offer.failure != 0) {
        None => Ok(()),
        Some((rank, offer)) => {
            let message =
                format!("rank {rank} could not make its part of the window, and has reported the reason");
            Err(Error::new(offer.failure as i32, message))
        }
    }
}

/// `MPI_Win_free`: waits for all processes, so that no operation on this process's memory is under way.
///
/// # Errors
/// `MPI_ERR_WIN`; `MPI_ERR_RMA_SYNC` in an epoch; the error of a delete callback. The window then lives on.
pub fn free(handle: usize) -> Result<()> {
    let win = WinRef::from_handle(handle)?;
    win.window.check_idle()?;
    win.attributes.delete_all(handle)?;
    run(&win.comm, barrier)?;
    // If two threads free one window, one of them gets here with a dead handle.
    let freed = WINS.remove(handle).ok_or_else(|| bad_handle(handle))?;
    win.window.discard();
    heddle_comm_management::free(win.comm.handle())?;
    drop(win);
    lifetime::user_released(handle, freed);
    Ok(())
}
