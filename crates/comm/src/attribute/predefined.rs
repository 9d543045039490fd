//! The attributes that every communicator has from the library (MPI 5.0, section 9.1.2). Their values are
//! addresses of integers that never move.

use crate::error_code;
use crate::process;
use heddle_message::domain::{self, Domain};
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_spec::constants as mpi;

/// Integers at addresses that the program may keep.
struct Cells {
    tag_ub: AtomicU32,
    io: AtomicU32,
    host: AtomicU32,
    wtime_is_global: AtomicU32,
    appnum: AtomicU32,
    last_used_code: AtomicU32,
    universe_size: AtomicU32,
}

static CELLS: Cells = Cells {
    tag_ub: AtomicU32::new(i32::MAX as u32),
    // Every process can do input and output.
    io: AtomicU32::new(mpi::MPI_ANY_SOURCE as u32),
    // There is no host process.
    host: AtomicU32::new(mpi::MPI_PROC_NULL as u32),
    // Each process counts from its own first call of `MPI_Wtime`.
    wtime_is_global: AtomicU32::new(0),
    appnum: AtomicU32::new(0),
    last_used_code: AtomicU32::new(0),
    universe_size: AtomicU32::new(0),
};

/// A predefined attribute of communicators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predefined {
    /// Its value: the address of an integer.
    Value(usize),
    /// The keyval is predefined, and this job does not have the attribute.
    Absent,
    /// The keyval is not predefined.
    Unknown,
}

/// The predefined attribute with this keyval.
pub fn of_communicator(number: i32) -> Predefined {
    let cell = match number {
        mpi::MPI_TAG_UB => &CELLS.tag_ub,
        mpi::MPI_IO => &CELLS.io,
        mpi::MPI_HOST => &CELLS.host,
        mpi::MPI_WTIME_IS_GLOBAL => &CELLS.wtime_is_global,
        mpi::MPI_LASTUSEDCODE => {
            CELLS.last_used_code.store(error_code::last_used() as u32, Ordering::Relaxed);
            &CELLS.last_used_code
        }
        mpi::MPI_UNIVERSE_SIZE => {
            CELLS.universe_size.store(domain::ever().map_or(1, Domain::size) as u32, Ordering::Relaxed);
            &CELLS.universe_size
        }
        mpi::MPI_APPNUM => {
            let Some(number) = process::ever().and_then(|process| process.world().appnum()) else {
                return Predefined::Absent;
            };
            CELLS.appnum.store(number, Ordering::Relaxed);
            &CELLS.appnum
        }
        _ => return Predefined::Unknown,
    };
    Predefined::Value(cell.as_ptr().expose_provenance())
}
