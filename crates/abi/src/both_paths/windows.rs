//! Puts, gets, accumulates and flushes, by rank 0.

use super::draw::Draw;
use super::seen::{Counted, changes};
use super::stage::{Address, GARBAGE, ROOM, Stage, Type, Win};
use super::way::{Called, Case, call};
use crate::argument::{
    AccumulateArguments, CompareAndSwapArguments, FetchAndOpArguments, GetArguments, PutArguments,
};
use crate::bodies::rma;
use crate::entry::running;
use heddle_comm::buffer::Buffer;
use heddle_comm::{CommRef, Plane};
use heddle_p2p::Mode;
use heddle_rma::WinRef;
use heddle_spec::constants as mpi;
use heddle_spec::handle::{OpHandle, WinHandle};
use std::ffi::c_void;
use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WindowFunction {
    Put,
    Get,
    Accumulate,
    FetchAndOp,
    CompareAndSwap,
    Flush,
    FlushLocal,
}

use WindowFunction::{Accumulate, CompareAndSwap, FetchAndOp, Flush, FlushLocal, Get, Put};

/// The epoch in which rank 0 calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Epoch {
    None,
    Fence,
    /// A lock of that kind on a rank.
    Lock(i32, i32),
    LockAll,
}

/// A call of rank 0.
#[derive(Debug)]
pub(super) struct Access {
    function: WindowFunction,
    win: Win,
    /// True if rank 0 has used the window last.
    used_last: bool,
    epoch: Epoch,
    rank: i32,
    disp: i64,
    count: i64,
    datatype: Type,
    far_count: i64,
    far_datatype: Type,
    op: usize,
    origin: Address,
    compared: Address,
    result: Address,
    /// True if the compared value is that of the target.
    is_equal: bool,
}

fn byte_of(rank: usize, i: usize) -> u8 {
    i.wrapping_mul(3).wrapping_add(rank * 100) as u8 | 1
}

impl Access {
    fn call(&self, stage: &Stage<'_>, called: Called<'_>, memory: &mut [Vec<u8>; 3]) -> i32 {
        let Access { rank: target_rank, disp: target_disp, count: origin_count, far_count, .. } = *self;
        let (win, op) = (stage.win(self.win), OpHandle(self.op));
        let (datatype, target_datatype) = (stage.datatype(self.datatype), stage.datatype(self.far_datatype));
        let (target_count, origin_datatype) = (far_count, datatype);
        let [origin, compared, result] = memory;
        let origin = self.origin.within(origin).cast::<c_void>();
        let origin_addr = origin.cast_const();
        let compare_addr = self.compared.within(compared).cast_const().cast();
        let result_addr = self.result.within(result).cast();
        macro_rules! call_one {
            ($name:literal, $express:path, $general:path, ($($argument:expr),*)) => {
                call!(called, $name, running, $express, $general, ($($argument),*))
            };
        }
        match self.function {
            Put => call_one!(
                "Put",
                rma::express_put,
                rma::put,
                (PutArguments {
                    origin_addr,
                    origin_count,
                    origin_datatype,
                    target_rank,
                    target_disp,
                    target_count,
                    target_datatype,
                    win
                })
            ),
            Get => call_one!(
                "Get",
                rma::express_get,
                rma::get,
                (GetArguments {
                    origin_addr: origin,
                    origin_count,
                    origin_datatype,
                    target_rank,
                    target_disp,
                    target_count,
                    target_datatype,
                    win
                })
            ),
            Accumulate => call_one!(
                "Accumulate",
                rma::express_accumulate,
                rma::accumulate,
                (AccumulateArguments {
                    origin_addr,
                    origin_count,
                    origin_datatype,
                    target_rank,
                    target_disp,
                    target_count,
                    target_datatype,
                    op,
                    win
                })
            ),
            FetchAndOp => call_one!(
                "Fetch_and_op",
                rma::express_fetch_and_op,
                rma::fetch_and_op,
                (FetchAndOpArguments {
                    origin_addr,
                    result_addr,
                    datatype,
                    target_rank,
                    target_disp,
                    op,
                    win
                })
            ),
            CompareAndSwap => call_one!(
                "Compare_and_swap",
                rma::express_compare_and_swap,
                rma::compare_and_swap,
                (CompareAndSwapArguments {
                    origin_addr,
                    compare_addr,
                    result_addr,
                    datatype,
                    target_rank,
                    target_disp,
                    win
                })
            ),
            Flush => call_one!("Win_flush", rma::express_win_flush, rma::win_flush, (target_rank, win)),
            FlushLocal => {
                call_one!(
                    "Win_flush_local",
                    rma::express_win_flush_local,
                    rma::win_flush_local,
                    (target_rank, win)
                )
            }
        }
    }

    /// Begins the epoch, or ends it; both ranks call.
    fn change_epoch(&self, win: WinHandle, is_caller: bool, begins: bool) {
        let fence = if begins { 0 } else { mpi::MPI_MODE_NOSUCCEED };
        match (self.epoch, is_caller, begins) {
            (Epoch::Fence, _, _) => rma::win_fence(fence, win),
            (Epoch::Lock(kind, rank), true, true) => rma::win_lock(kind, rank, 0, win),
            (Epoch::Lock(_, rank), true, false) => rma::win_unlock(rank, win),
            (Epoch::LockAll, true, true) => rma::win_lock_all(0, win),
            (Epoch::LockAll, true, false) => rma::win_unlock_all(win),
            _ => Ok(()),
        }
        .expect("an epoch");
    }
}

/// Rank 1 waits in MPI until rank 0 is through, since some windows need the target's process.
fn wait_for_caller(is_caller: bool) {
    let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
    let nothing = Buffer::empty();
    if is_caller {
        heddle_p2p::send(&world, Plane::PointToPoint, nothing, 1, 1, Mode::Standard).expect("a send");
    } else {
        heddle_p2p::recv(&world, Plane::PointToPoint, nothing, 0, 1).expect("a receive");
    }
}

impl Case for Access {
    fn draw(draw: &mut Draw) -> Self {
        let aligned = [Address::Aligned, Address::Odd];
        let datatype = draw.mostly(
            &[
                Type::Predefined(mpi::MPI_INT),
                Type::Predefined(mpi::MPI_INT),
                Type::Predefined(mpi::MPI_INT64_T),
                Type::Predefined(mpi::MPI_DOUBLE),
            ],
            &[Type::OTHERS.as_slice(), &[Type::Predefined(mpi::MPI_BYTE)]].concat(),
        );
        let most = i64::MAX;
        let count = draw.mostly(
            &[1, 1, 1, 2, 2, 3, 0],
            &[7, 8, 9, 15, 16, 61, -1, i64::MIN, 1 << 40, (1 << 40) - 1, most, most / 8],
        );
        let small = count.clamp(0, 3);
        let rank = draw.mostly(&[0, 1], &[mpi::MPI_PROC_NULL, -1, 2, i32::MAX, i32::MIN]);
        let (locked, other) = (rank.clamp(0, 1), 1 - rank.clamp(0, 1));
        let epochs = [
            Epoch::Lock(mpi::MPI_LOCK_SHARED, locked),
            Epoch::Lock(mpi::MPI_LOCK_EXCLUSIVE, locked),
            Epoch::LockAll,
            Epoch::Fence,
        ];
        let wrong_op = draw.one_of(&[mpi::MPI_OP_NULL, mpi::MPI_MINLOC, GARBAGE]);
        Access {
            function: draw.one_of(&[Put, Get, Accumulate, FetchAndOp, CompareAndSwap, Flush, FlushLocal]),
            win: draw.mostly(
                &[Win::Exposed, Win::Allocated, Win::Shared, Win::Shared],
                &[Win::Freed, Win::Null, Win::Garbage],
            ),
            used_last: !draw.once_in(6),
            epoch: draw.mostly(&epochs, &[Epoch::None, Epoch::Lock(mpi::MPI_LOCK_SHARED, other)]),
            rank,
            disp: draw.mostly(
                &[0, 0, 1, 2, 4],
                &[7, 8, 15, 16, 53, 54, 57, 58, 61, 62, -1, i64::MIN, most, 1 << 32, 1 << 33],
            ),
            count,
            datatype,
            far_count: draw.mostly(&[count], &[small + 1, (small - 1).max(0), small / 2]),
            far_datatype: draw.mostly(&[datatype], &[Type::Predefined(mpi::MPI_INT), Type::Three, Type::Gap]),
            op: draw.one_of(&[
                mpi::MPI_SUM,
                mpi::MPI_SUM,
                mpi::MPI_SUM,
                mpi::MPI_REPLACE,
                mpi::MPI_REPLACE,
                mpi::MPI_MIN,
                mpi::MPI_BAND,
                mpi::MPI_NO_OP,
                wrong_op,
            ]),
            origin: draw.mostly(&aligned, &Address::WRONG),
            compared: draw.mostly(&aligned, &Address::WRONG),
            result: draw.mostly(&aligned, &Address::WRONG),
            is_equal: draw.once_in(2),
        }
        .with_data()
    }

    fn play(&self, stage: &Stage<'_>, called: Called<'_>) -> String {
        if self.win == Win::Freed {
            stage.free_win();
        }
        let (is_caller, win) = (stage.rank == 0, stage.win(self.win));
        let is_window = stage.memory_of(self.win).is_some();
        if let Some(memory) = stage.memory_of(self.win) {
            memory.iter_mut().enumerate().for_each(|(i, byte)| *byte = byte_of(stage.rank, i));
        }
        stage.meet();
        if is_window {
            self.change_epoch(win, is_caller, true);
        }
        let mut seen = String::new();
        if is_caller {
            let unit =
                [1, 8, 4].get(self.win as usize).map_or(0, |unit| unit * self.disp.clamp(0, 64) as usize);
            let rank = self.rank.clamp(0, 1) as usize;
            let mut memory: [Vec<u8>; 3] = std::array::from_fn(|which| {
                let shift = if which == 1 && self.is_equal { 0 } else { 9 };
                // The compared value lies at the address that the call names.
                let first = usize::from(which == 1 && self.compared == Address::Odd);
                (0..ROOM).map(|i| byte_of(rank, (unit + i).wrapping_sub(first)).wrapping_add(shift)).collect()
            });
            let untouched = memory.clone();
            // The slots of the thread name the window that it used last.
            let last = if self.used_last { self.win } else { OTHER[self.win as usize % 3] };
            _ = WinRef::from_handle(stage.win(last).0);
            let before = Counted::now();
            let code = self.call(stage, called, &mut memory);
            _ = write!(seen, "code {code}, {}", before.since());
            for (before, now) in untouched.iter().zip(&memory) {
                _ = write!(seen, ", {}", changes(before, now));
            }
        }
        wait_for_caller(is_caller);
        if is_window {
            self.change_epoch(win, is_caller, false);
        }
        stage.meet();
        if let Some(memory) = stage.memory_of(self.win) {
            let before: Vec<u8> = (0..memory.len()).map(|i| byte_of(stage.rank, i)).collect();
            _ = write!(seen, ", window {}", changes(&before, memory));
        }
        stage.meet();
        seen
    }
}

/// Another window than each.
const OTHER: [Win; 3] = [Win::Allocated, Win::Shared, Win::Exposed];

impl Access {
    /// Data that is longer than the memory of the test is on both sides alike, so that the target has no
    /// room for it.
    fn with_data(self) -> Self {
        let far_count = if self.count > 64 { self.count } else { self.far_count };
        let far_datatype = if self.count > 64 { self.datatype } else { self.far_datatype };
        Access { far_count, far_datatype, ..self }
    }
}
