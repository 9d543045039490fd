//! The operations, what each rank gives to them, and what the standard says that it gets.

use heddle_collective::{
    Conversation, Part, Reduction, allgather, allreduce, alltoall, bcast, exscan, gather, reduce,
    reduce_scatter, scan, scatter,
};
use heddle_comm::datatype::TypeRef;
use heddle_comm::error::Result;
use heddle_comm::op::OpRef;
use heddle_datatype::types;
use heddle_spec::constants as mpi;

static INT: TypeRef = TypeRef::predefined(&types::MPI_INT);

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
}

/// Number `i` of what a rank gives.
fn given(rank: usize, i: usize) -> i32 {
    (rank * 1_009 + i * 7 + 1) as i32
}

impl Case {
    pub(crate) fn data(self) -> Data {
        let blocks = self.size * self.length;
        let mut data = Data { case: self, send: vec![0; blocks], receive: vec![0; blocks] };
        data.refill();
        data
    }

    /// What the rank gets; `None` if the operation leaves its room alone.
    fn expected(&self) -> Option<Vec<i32>> {
        let Case { rank, size, length, root, .. } = *self;
        let all = || (0..size).flat_map(|from| (0..length).map(move |i| given(from, i))).collect();
        let sums = |first: usize, ranks: usize| {
            (first..first + length).map(|i| (0..ranks).map(|from| given(from, i)).sum()).collect()
        };
        match self.operation {
            Operation::Bcast => Some((0..length).map(|i| given(root, i)).collect()),
            Operation::Gather => (rank == root).then(all),
            Operation::Allgather => Some(all()),
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
}

/// The buffers of one rank.
#[derive(Debug)]
pub(crate) struct Data {
    case: Case,
    send: Vec<i32>,
    receive: Vec<i32>,
}

impl Data {
    /// Fills them as before an operation.
    pub(crate) fn refill(&mut self) {
        let Case { operation, rank, root, .. } = self.case;
        self.send.iter_mut().enumerate().for_each(|(i, number)| *number = given(rank, i));
        self.receive.fill(UNTOUCHED);
        if operation == Operation::Bcast && rank == root {
            self.receive.copy_from_slice(&self.send);
        }
    }

    /// Describes the operation to a conversation. The buffers outlive it.
    pub(crate) fn describe(&mut self, talk: &mut Conversation<'_>) -> Result<()> {
        let Case { operation, rank, size, length, root } = self.case;
        let sum = OpRef::from_handle(mpi::MPI_SUM)?;
        let sum = Reduction::new(&sum, &INT, mpi::MPI_INT)?;
        let part = |numbers: &mut Vec<i32>| {
            // SAFETY: the test keeps the buffers until the operation is over.
            unsafe { Part::new(numbers.as_mut_ptr().cast(), length as i64, &INT) }
        };
        let (send, receive) = (part(&mut self.send)?, part(&mut self.receive)?);
        let at_root = |part| (rank == root).then_some(part);
        let to = root as i32;
        match operation {
            Operation::Bcast => bcast(talk, receive, to),
            Operation::Gather => gather(talk, Some(send), at_root(receive), to),
            Operation::Scatter => scatter(talk, at_root(send), Some(receive), to),
            Operation::Allgather => allgather(talk, Some(send), receive),
            Operation::Alltoall => alltoall(talk, Some(send), receive),
            Operation::Reduce => reduce(talk, &sum, Some(send), at_root(receive), to),
            Operation::Allreduce => allreduce(talk, &sum, Some(send), receive),
            Operation::ReduceScatter => {
                reduce_scatter(talk, &sum, Some(send), receive, &vec![length as i64; size])
            }
            Operation::Scan => scan(talk, &sum, Some(send), receive),
            Operation::Exscan => exscan(talk, &sum, Some(send), receive),
        }
    }

    /// Fails unless the rank has got what the operation is to bring, and nothing else was touched.
    pub(crate) fn check(&self, what: &str) {
        let expected = self.case.expected().unwrap_or_default();
        let (got, rest) = self.receive.split_at(expected.len());
        if let Some(at) = (0..got.len()).find(|&at| got[at] != expected[at]) {
            panic!("{what}: number {at} of {} is {}, not {}", got.len(), got[at], expected[at]);
        }
        let is_root_of_bcast = self.case.operation == Operation::Bcast && self.case.rank == self.case.root;
        assert!(is_root_of_bcast || rest.iter().all(|number| *number == UNTOUCHED), "{what}: too much");
        let changed = self.send.iter().enumerate().find(|(i, number)| **number != given(self.case.rank, *i));
        assert_eq!(changed, None, "{what}: the send buffer has changed");
    }
}
