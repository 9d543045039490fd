//! What the arguments of a rank's calls name: communicators, datatypes, windows, memory.

use crate::argument::{Out, StatusOut};
use crate::bodies::{comm, datatype, rma};
use heddle_comm::CommRef;
use heddle_datatype::Form;
use heddle_ranks::PlayedRank;
use heddle_rma::WinRef;
use heddle_spec::Status;
use heddle_spec::constants as mpi;
use heddle_spec::handle::{CommHandle, DatatypeHandle, InfoHandle, WinHandle};
use std::cell::Cell;
use std::ptr::without_provenance_mut;
use std::sync::Barrier;

/// The bytes of each buffer; all messages and operations are shorter.
pub(super) const ROOM: usize = 4096;

/// A handle of no object.
pub(super) const GARBAGE: usize = 0x7654_3210;

/// An address that an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    Aligned,
    Odd,
    Null,
    InPlace,
    /// In the upper half, where no program has memory.
    Kernel,
}

impl Address {
    pub(super) const WRONG: [Address; 3] = [Address::Null, Address::InPlace, Address::Kernel];

    pub(super) fn within(self, memory: &mut [u8]) -> *mut u8 {
        match self {
            Address::Aligned => memory.as_mut_ptr(),
            Address::Odd => memory[1..].as_mut_ptr(),
            Address::Null => std::ptr::null_mut(),
            Address::InPlace => without_provenance_mut(mpi::MPI_IN_PLACE),
            Address::Kernel => without_provenance_mut(0_usize.wrapping_sub(8192)),
        }
    }
}

/// A datatype that an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Predefined(usize),
    /// Three integers.
    Three,
    /// Two integers with a gap between them.
    Gap,
    Uncommitted,
    Freed,
}

impl Type {
    pub(super) const USUAL: [Type; 4] = [
        Type::Predefined(mpi::MPI_BYTE),
        Type::Predefined(mpi::MPI_INT),
        Type::Predefined(mpi::MPI_INT64_T),
        Type::Predefined(mpi::MPI_DOUBLE),
    ];
    pub(super) const OTHERS: [Type; 9] = [
        Type::Predefined(mpi::MPI_SHORT),
        Type::Predefined(mpi::MPI_DOUBLE_INT),
        Type::Predefined(mpi::MPI_PACKED),
        Type::Predefined(mpi::MPI_DATATYPE_NULL),
        Type::Predefined(GARBAGE),
        Type::Three,
        Type::Gap,
        Type::Uncommitted,
        Type::Freed,
    ];
}

/// A communicator that an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comm {
    World,
    /// `MPI_COMM_SELF`.
    Alone,
    Duplicate,
    Freed,
    Null,
    Garbage,
}

/// A window that an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Win {
    /// Over memory of the program, in bytes.
    Exposed,
    /// Of the library's memory, in units of eight bytes.
    Allocated,
    /// Of memory that all ranks share, in units of four.
    Shared,
    Freed,
    Null,
    Garbage,
}

/// The bytes that each rank has in a window; the last word is no whole one.
pub(super) const WINDOW: usize = 61;

/// A window, and where this rank's memory begins.
struct Region {
    handle: WinHandle,
    base: *mut u8,
}

impl Region {
    fn new(kind: Win) -> Self {
        let (world, info) = (CommHandle(mpi::MPI_COMM_WORLD), InfoHandle::NULL);
        let (mut handle, mut base) = (WinHandle::NULL, std::ptr::null_mut::<u8>());
        let (size, place, made) = (WINDOW as i64, (&raw mut base).cast(), out(&mut handle));
        match kind {
            Win::Shared => rma::win_allocate_shared(size, 4, info, world, place, made),
            Win::Allocated => rma::win_allocate(size, 8, info, world, place, made),
            _ => {
                // It lives until the end, as the window may.
                base = Vec::leak(vec![0_u64; 8]).as_mut_ptr().cast();
                rma::win_create(base.cast(), size, 1, info, world, made)
            }
        }
        .expect("a window");
        Region { handle, base }
    }

    fn free(mut self) {
        rma::win_free(out(&mut self.handle)).expect("a window without epochs");
    }
}

/// The objects of a rank.
pub(super) struct Stage<'a> {
    pub(super) rank: usize,
    /// True if receives and probes have wildcards.
    pub(super) has_wildcards: bool,
    pub(super) duplicate: CommHandle,
    freed: Cell<CommHandle>,
    three: DatatypeHandle,
    gap: DatatypeHandle,
    uncommitted: DatatypeHandle,
    freed_type: DatatypeHandle,
    /// By [`Win`].
    regions: [Region; 3],
    freed_win: Cell<WinHandle>,
    both: &'a Barrier,
}

/// A pointer argument that stores in a variable.
pub(super) fn out<T: Copy>(variable: &mut T) -> Out<T> {
    made!(Out::new(&raw mut *variable))
}

/// A pointer argument that is null if `null` says so.
pub(super) fn out_unless<T: Copy>(null: bool, variable: &mut T) -> Out<T> {
    if null { made!(Out::new(std::ptr::null_mut())) } else { out(variable) }
}

pub(super) fn status_unless(ignored: bool, status: &mut Status) -> StatusOut {
    if ignored {
        made!(StatusOut::new(std::ptr::null_mut()))
    } else {
        made!(StatusOut::new(&raw mut *status))
    }
}

/// Does something in another thread of the rank: a thread that frees an object forgets that it used it last.
pub(super) fn in_another_thread<R: Send>(task: impl FnOnce() -> R + Send) -> R {
    let rank = PlayedRank::here();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            rank.join();
            task()
        });
        other.join().expect("no panic")
    })
}

fn new_type(
    make: impl FnOnce(Out<DatatypeHandle>) -> crate::error::Result<()>,
    commit: bool,
) -> DatatypeHandle {
    let mut made = DatatypeHandle::NULL;
    make(out(&mut made)).expect("a datatype");
    if commit {
        datatype::type_commit(out(&mut made)).expect("a datatype");
    }
    made
}

impl<'a> Stage<'a> {
    /// Both ranks make theirs together.
    pub(super) fn new(rank: usize, has_wildcards: bool, both: &'a Barrier) -> Self {
        let int = DatatypeHandle(mpi::MPI_INT);
        let mut duplicate = CommHandle::NULL;
        comm::comm_dup(CommHandle(mpi::MPI_COMM_WORLD), out(&mut duplicate)).expect("a communicator");
        let three = |commit| new_type(|made| datatype::type_contiguous(Form::Small, 3, int, made), commit);
        let freed_type = three(true);
        datatype::type_free(out(&mut { freed_type })).expect("a datatype");
        let stage = Stage {
            rank,
            has_wildcards,
            duplicate,
            freed: Cell::new(CommHandle::NULL),
            three: three(true),
            gap: new_type(|made| datatype::type_vector(Form::Small, 2, 1, 2, int, made), true),
            uncommitted: three(false),
            freed_type,
            regions: [Win::Exposed, Win::Allocated, Win::Shared].map(Region::new),
            freed_win: Cell::new(WinHandle::NULL),
            both,
        };
        stage.free_comm();
        stage.free_win();
        stage
    }

    /// Both ranks make a communicator and use it last; another thread frees it.
    pub(super) fn free_comm(&self) {
        let mut made = CommHandle::NULL;
        comm::comm_dup(CommHandle(mpi::MPI_COMM_WORLD), out(&mut made)).expect("a communicator");
        self.freed.set(made);
        drop(CommRef::from_handle(made.0).expect("a communicator"));
        in_another_thread(|| comm::comm_free(out(&mut made)).expect("a communicator"));
    }

    /// The same with a window.
    pub(super) fn free_win(&self) {
        let region = Region::new(Win::Allocated);
        self.freed_win.set(region.handle);
        let mut handle = region.handle;
        drop(WinRef::from_handle(handle.0).expect("a window"));
        in_another_thread(|| rma::win_free(out(&mut handle)).expect("a window without epochs"));
    }

    pub(super) fn free(mut self) {
        self.regions.into_iter().for_each(Region::free);
        comm::comm_free(out(&mut self.duplicate)).expect("a communicator");
        for made in [&mut self.three, &mut self.gap, &mut self.uncommitted] {
            datatype::type_free(out(made)).expect("a datatype");
        }
    }

    /// Waits for the other rank, outside of MPI.
    pub(super) fn meet(&self) {
        self.both.wait();
    }

    pub(super) fn datatype(&self, named: Type) -> DatatypeHandle {
        match named {
            Type::Predefined(handle) => DatatypeHandle(handle),
            Type::Three => self.three,
            Type::Gap => self.gap,
            Type::Uncommitted => self.uncommitted,
            Type::Freed => self.freed_type,
        }
    }

    pub(super) fn comm(&self, named: Comm) -> CommHandle {
        match named {
            Comm::World => CommHandle(mpi::MPI_COMM_WORLD),
            Comm::Alone => CommHandle(mpi::MPI_COMM_SELF),
            Comm::Duplicate => self.duplicate,
            Comm::Freed => self.freed.get(),
            Comm::Null => CommHandle::NULL,
            Comm::Garbage => CommHandle(GARBAGE),
        }
    }
}

impl Stage<'_> {
    pub(super) fn win(&self, named: Win) -> WinHandle {
        match named {
            Win::Exposed | Win::Allocated | Win::Shared => self.regions[named as usize].handle,
            Win::Freed => self.freed_win.get(),
            Win::Null => WinHandle::NULL,
            Win::Garbage => WinHandle(GARBAGE),
        }
    }

    /// This rank's memory in a window, if that is one.
    #[expect(clippy::mut_from_ref, reason = "a window's memory is shared by its nature")]
    pub(super) fn memory_of(&self, named: Win) -> Option<&mut [u8]> {
        let region = self.regions.get(named as usize)?;
        // SAFETY: the window has that many bytes, and a case looks at them when nobody else does.
        Some(unsafe { std::slice::from_raw_parts_mut(region.base, WINDOW) })
    }
}
