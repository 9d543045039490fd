//! A window of numbers, as one rank has it.

use heddle_collective::{barrier, run};
use heddle_comm::CommRef;
use heddle_comm::datatype::TypeInUse;
use heddle_datatype::types;
use heddle_message::buffer::Buffer;
use heddle_rma::{Far, Hints, Memory, WinRef};
use heddle_spec::constants as mpi;

static INT: TypeInUse = int();

pub(crate) const fn int() -> TypeInUse {
    TypeInUse::predefined(&types::MPI_INT)
}

/// Whose memory the window has: the program's own, the library's, or one piece that all ranks see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Exposed,
    Allocated,
    Shared,
}

pub(crate) const KINDS: [Kind; 3] = [Kind::Exposed, Kind::Allocated, Kind::Shared];

/// A rank's window, whose memory is an array of numbers.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) win: WinRef,
    pub(crate) kind: Kind,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    base: *mut i32,
    length: usize,
}

impl Played {
    /// Makes the window, plays, and frees it.
    pub(crate) fn with(kind: Kind, rank: usize, size: usize, length: usize, play: &impl Fn(&Played)) {
        let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
        let mut own = vec![0_i32; length];
        let (bytes, disp_unit) = (size_of_val(&*own) as i64, size_of::<i32>() as i64);
        let memory = match kind {
            Kind::Exposed => Memory::Exposed { base: own.as_mut_ptr().cast(), size: bytes, disp_unit },
            Kind::Allocated => Memory::Allocated { size: bytes, disp_unit },
            Kind::Shared => Memory::Shared { size: bytes, disp_unit },
        };
        let hints = Hints::new(&Vec::new(), heddle_rma::default_lock());
        let (handle, base) = heddle_rma::create(&world, memory, Ok(hints)).expect("a window");
        let win = WinRef::from_handle(handle).expect("a window");
        play(&Played { win, kind, rank, size, base: base.cast(), length });
        heddle_rma::free(handle).expect("a window without epochs");
    }

    pub(crate) fn memory(&self) -> &[i32] {
        // SAFETY: the window has that many numbers, and the test looks when nobody writes.
        unsafe { std::slice::from_raw_parts(self.base, self.length) }
    }

    #[expect(clippy::mut_from_ref, reason = "a window's memory is shared by its nature")]
    pub(crate) fn memory_mut(&self) -> &mut [i32] {
        // SAFETY: the window has that many numbers, and the test writes when nobody else does.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.length) }
    }

    /// Waits for all ranks.
    pub(crate) fn meet(&self) {
        let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
        run(&world, barrier).expect("a barrier");
        self.win.window.sync();
    }
}

/// Numbers that only this rank gives in this round.
pub(crate) fn numbers(rank: usize, round: usize, length: usize) -> Vec<i32> {
    (0..length).map(|i| (rank * 100_000 + round * 10_000 + i) as i32).collect()
}

pub(crate) fn buffer(numbers: &mut [i32]) -> Buffer {
    // SAFETY: the tests keep the numbers until the epoch ends.
    unsafe { Buffer::new(numbers.as_mut_ptr().cast(), numbers.len() as i64, &INT) }
}

/// Numbers in a rank's memory.
pub(crate) fn far(rank: usize, disp: usize, count: usize) -> Far {
    Far { rank: rank as i32, disp: disp as i64, count: count as i64, datatype: mpi::MPI_INT }
}
