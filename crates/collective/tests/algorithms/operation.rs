//! The operations, what each rank gives to them, and what the standard says that it gets.

use crate::Call;
use heddle_collective::{
    Conversation, Part, Reduction, allgather, allreduce, alltoall, bcast, exscan, gather, reduce,
    reduce_scatter, scan, scatter,
};
use heddle_comm::datatype::TypeInUse;
use heddle_comm::error::Result;
use heddle_comm::op::{OPS, OpFunction, OpRef, UserOp};
use heddle_comm::program::ProgramFunction;
use heddle_datatype::types;
use heddle_spec::constants as mpi;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;

static INT: TypeInUse = TypeInUse::predefined(&types::MPI_INT);

/// A number that no operation brings.
const UNTOUCHED: i32 = i32::MIN;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Bcast,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    Reduce,
    Allreduce,
    ReduceScatter,
    Scan,
    Exscan,
}

/// An operation as one rank sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) operation: Operation,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    /// The numbers of a block.
    pub(crate) length: usize,
    pub(crate) root: usize,
    pub(crate) manner: Manner,
}

/// How the operation is called.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manner {
    /// With `MPI_IN_PLACE`.
    pub(crate) in_place: bool,
    /// With an operator whose operands must be in the order of the ranks.
    pub(crate) ordered: bool,
}

impl Operation {
    pub(crate) fn can_be_in_place(self) -> bool {
        self != Operation::Bcast
    }

    pub(crate) fn has_operator(self) -> bool {
        use Operation::{Allreduce, Exscan, Reduce, ReduceScatter, Scan};
        matches!(self, Reduce | Allreduce | ReduceScatter | Scan | Exscan)
    }
}

/// Two maps x ↦ px + q of 16-bit numbers, one after the other; p is the lower half of a number, q the upper.
fn then(first: i32, second: i32) -> i32 {
    let halves = |map: i32| (map as u16, (map >> 16) as u16);
    let ((p, q), (r, s)) = (halves(first), halves(second));
    i32::from(p.wrapping_mul(r)) | i32::from(q.wrapping_mul(r).wrapping_add(s)) << 16
}

unsafe extern "C" fn apply_then(input: *mut c_void, inout: *mut c_void, len: *mut c_int, _: *mut usize) {
    // SAFETY: the library passes the number of elements.
    let len = unsafe { *len } as usize;
    // SAFETY: the library passes an array of that many elements.
    let input = unsafe { std::slice::from_raw_parts(input.cast::<i32>(), len) };
    // SAFETY: the library passes another array of that many elements.
    let inout = unsafe { std::slice::from_raw_parts_mut(inout.cast::<i32>(), len) };
    for (first, second) in input.iter().zip(inout) {
        *second = then(*first, *second);
    }
}

/// The operator whose operands must be in order: one for all ranks, as they share the program.
static ORDERED: OnceLock<usize> = OnceLock::new();

/// Makes the operator whose operands must be in order; returns its handle.
fn make_ordered_operator() -> usize {
    // SAFETY: the tests use the operator with arrays of `i32` only.
    OPS.insert(unsafe { UserOp::new(OpFunction::Int(ProgramFunction::new(apply_then)), false) })
}

impl Case {
    /// Number `i` of what a rank gives.
    fn given(&self, rank: usize, i: usize) -> i32 {
        let number = (rank * 1_009 + i * 7 + 1) as i32;
        if self.manner.ordered { number.wrapping_mul(0x1e37_79b1) } else { number }
    }

    /// Returns true if this rank calls the operation with `MPI_IN_PLACE`.
    fn is_in_place(&self) -> bool {
        use Operation::{Gather, Reduce, Scatter};
        let is_here = self.rank == self.root || !matches!(self.operation, Gather | Reduce | Scatter);
        self.manner.in_place && is_here
    }

    pub(crate) fn data(self) -> Data {
        let blocks = self.size * self.length;
        let mut data = Data { case: self, send: vec![0; blocks], receive: vec![0; blocks] };
        data.refill();
        data
    }

    /// What the rank gets; `None` if the operation leaves its room alone.
    fn expected(&self) -> Option<Vec<i32>> {
        let Case { rank, size, length, root, .. } = *self;
        let given = |from, i| self.given(from, i);
        let all = || (0..size).flat_map(|from| (0..length).map(move |i| given(from, i))).collect();
        let combine = if self.manner.ordered { then } else { |a, b| a + b };
        let sums = |first: usize, ranks: usize| {
            (first..first + length)
                .filter_map(|i| (0..ranks).map(|from| given(from, i)).reduce(combine))
                .collect()
        };
        match self.operation {
            Operation::Bcast => Some((0..length).map(|i| given(root, i)).collect()),
            Operation::Gather => (rank == root).then(all),
            Operation::Allgather => Some(all()),
            Operation::Scatter if self.is_in_place() => None,
            Operation::Scatter => Some((0..length).map(|i| given(root, rank * length + i)).collect()),
            Operation::Alltoall => {
                let from = |from| (0..length).map(move |i| given(from, rank * length + i));
                Some((0..size).flat_map(from).collect())
            }
            Operation::Reduce => (rank == root).then(|| sums(0, size)),
            Operation::Allreduce => Some(sums(0, size)),
            Operation::ReduceScatter => Some(sums(rank * length, size)),
            Operation::Scan => Some(sums(0, rank + 1)),
            Operation::Exscan => (rank > 0).then(|| sums(0, rank)),
        }
    }

    /// What of the receive buffer has data before the operation, and the number of the first of them.
    fn held(&self) -> (Range<usize>, usize) {
        let Case { operation, rank, size, length, root, .. } = *self;
        match operation {
            Operation::Bcast if rank == root => (0..size * length, 0),
            _ if !self.is_in_place() => (0..0, 0),
            Operation::Bcast | Operation::Scatter => (0..0, 0),
            Operation::Gather | Operation::Allgather => (rank * length..(rank + 1) * length, rank * length),
            Operation::Alltoall | Operation::ReduceScatter => (0..size * length, 0),
            Operation::Reduce | Operation::Allreduce | Operation::Scan | Operation::Exscan => (0..length, 0),
        }
    }
}

/// The buffers of one rank.
#[derive(Debug)]
pub(crate) struct Data {
    case: Case,
    send: Vec<i32>,
    receive: Vec<i32>,
}

impl Call for Data {
    fn refill(&mut self) {
        let case = self.case;
        self.send.iter_mut().enumerate().for_each(|(i, number)| *number = case.given(case.rank, i));
        self.receive.fill(UNTOUCHED);
        let (held, first) = case.held();
        held.for_each(|at| self.receive[at] = case.given(case.rank, at - first));
    }

    fn describe(&mut self, talk: &mut Conversation<'_>) -> Result<()> {
        let Case { operation, rank, size, length, root, manner } = self.case;
        let ordered = *ORDERED.get_or_init(make_ordered_operator);
        let operator = OpRef::from_handle(if manner.ordered { ordered } else { mpi::MPI_SUM })?;
        let operator = Reduction::new(&operator, &INT, mpi::MPI_INT)?;
        let part = |numbers: &mut Vec<i32>| {
            // SAFETY: the test keeps the buffers until the operation is over.
            unsafe { Part::new(numbers.as_mut_ptr().cast(), length as i64, &INT) }
        };
        let (send, receive) = (part(&mut self.send)?, part(&mut self.receive)?);
        let at_root = |part| (rank == root).then_some(part);
        let given = (!self.case.is_in_place()).then_some(send);
        let taken = (!self.case.is_in_place()).then_some(receive);
        let to = root as i32;
        match operation {
            Operation::Bcast => bcast(talk, receive, to),
            Operation::Gather => gather(talk, given, at_root(receive), to),
            Operation::Scatter => scatter(talk, at_root(send), taken, to),
            Operation::Allgather => allgather(talk, given, receive),
            Operation::Alltoall => alltoall(talk, given, receive),
            Operation::Reduce => reduce(talk, &operator, given, at_root(receive), to),
            Operation::Allreduce => allreduce(talk, &operator, given, receive),
            Operation::ReduceScatter => {
                reduce_scatter(talk, &operator, given, receive, &vec![length as i64; size])
            }
            Operation::Scan => scan(talk, &operator, given, receive),
            Operation::Exscan => exscan(talk, &operator, given, receive),
        }
    }

    fn check(&self, what: &str) {
        let expected = self.case.expected().unwrap_or_default();
        let got = &self.receive[..expected.len()];
        if let Some(at) = (0..got.len()).find(|&at| got[at] != expected[at]) {
            panic!("{what}: number {at} of {} is {}, not {}", got.len(), got[at], expected[at]);
        }
        let (held, first) = self.case.held();
        let is_unchanged = |(at, number): (usize, &i32)| {
            let before =
                if held.contains(&at) { self.case.given(self.case.rank, at - first) } else { UNTOUCHED };
            *number == before
        };
        // A reduce-scatter in place may leave anything there.
        let is_scratch = self.case.is_in_place() && self.case.operation == Operation::ReduceScatter;
        let mut rest = self.receive.iter().enumerate().skip(expected.len());
        assert!(is_scratch || rest.all(is_unchanged), "{what}: too much");
        let changed =
            self.send.iter().enumerate().find(|(i, number)| **number != self.case.given(self.case.rank, *i));
        assert_eq!(changed, None, "{what}: the send buffer has changed");
    }
}
