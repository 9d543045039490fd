//! Blocks of any sizes: of every pair of ranks in an all-to-all, of every rank in a scatter.

use crate::{Call, SIZES, algorithms, in_three_forms};
use heddle_collective::{
    Conversation, Numbers, Part, Parts, TypedParts, alltoallv, alltoallw, begin, run, scatterv,
};
use heddle_comm::CommRef;
use heddle_comm::datatype::TypeInUse;
use heddle_comm::error::Result;
use heddle_datatype::types;
use heddle_ranks::Ranks;
use heddle_spec::constants::{MPI_ERR_COUNT, MPI_ERR_TRUNCATE};
use std::iter::once;

static INT: TypeInUse = TypeInUse::predefined(&types::MPI_INT);

/// Numbers per block: none, few, more than a cell of the blackboard, than a page, than a place on the longest
/// pages.
const LENGTHS: [usize; 6] = [0, 1, 5, 700, 6_000, 40_000];

/// How the lengths of blocks vary.
#[derive(Debug, Clone, Copy)]
enum Lengths {
    /// All kinds at once.
    Mixed,
    /// One long block, among short ones.
    Long,
    /// All are short.
    Short,
    Nothing,
}

impl Lengths {
    /// The numbers that a rank gives to another one.
    fn of(self, from: usize, to: usize) -> usize {
        match self {
            Lengths::Mixed => LENGTHS[(3 * from + 5 * to) % LENGTHS.len()],
            Lengths::Long if (from, to) == (0, 1) => 40_000,
            Lengths::Short | Lengths::Long => (from + 2 * to) % 3,
            Lengths::Nothing => 0,
        }
    }
}

fn given(from: usize, to: usize, i: usize) -> i32 {
    (from * 1_000_003 + to * 5_003 + i + 1) as i32
}

/// Blocks in one array, with a number between each two that nobody touches.
#[derive(Debug, Clone)]
struct Array {
    numbers: Vec<i32>,
    counts: Vec<i64>,
    displs: Vec<i64>,
    /// The same in bytes.
    bytes: Vec<i64>,
}

const UNTOUCHED: i32 = i32::MIN;

impl Array {
    fn new(lengths: impl Iterator<Item = usize>) -> Array {
        let counts: Vec<i64> = lengths.map(|length| length as i64).collect();
        let displs: Vec<i64> = counts
            .iter()
            .scan(1, |next, count| {
                let at = *next;
                *next += count + 1;
                Some(at)
            })
            .collect();
        let whole = 1 + counts.iter().map(|count| count + 1).sum::<i64>();
        let bytes = displs.iter().map(|displ| displ * size_of::<i32>() as i64).collect();
        Array { numbers: vec![UNTOUCHED; whole as usize], counts, displs, bytes }
    }

    fn fill(&mut self, number: impl Fn(usize, usize) -> i32) {
        for (rank, (count, displ)) in self.counts.iter().zip(&self.displs).enumerate() {
            for i in 0..*count as usize {
                self.numbers[*displ as usize + i] = number(rank, i);
            }
        }
    }

    /// Each block as elements of a datatype of its own.
    fn typed<'a>(&'a mut self, types: &'a [TypeInUse]) -> Result<TypedParts<'a>> {
        let address = self.numbers.as_mut_ptr().cast();
        // SAFETY: the blocks lie in the numbers, which the test keeps until the operation is over.
        unsafe { TypedParts::new(address, Numbers::Large(&self.counts), Numbers::Large(&self.bytes), types) }
    }

    /// The first block.
    fn first(&mut self) -> Result<Part<'static>> {
        // SAFETY: the numbers begin with one that is no block's.
        let address = unsafe { self.numbers.as_mut_ptr().add(1) };
        // SAFETY: the block lies in the numbers, which the test keeps until the operation is over.
        unsafe { Part::new(address.cast(), self.counts[0], &INT) }
    }

    fn parts(&mut self) -> Result<Parts<'_>> {
        let address = self.numbers.as_mut_ptr().cast();
        // SAFETY: the blocks lie in the numbers, which the test keeps until the operation is over.
        unsafe { Parts::new(address, Numbers::Large(&self.counts), Numbers::Large(&self.displs), &INT) }
    }
}

/// The operations with such blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Alltoallv,
    Alltoallw,
    /// From this rank.
    Scatterv(usize),
}

/// A call of one of them by a rank.
#[derive(Debug)]
struct Blocks {
    operation: Operation,
    rank: usize,
    send: Array,
    receive: Array,
}

impl Blocks {
    fn new(operation: Operation, lengths: Lengths, rank: usize, size: usize) -> Blocks {
        let all = |from: usize| Array::new((0..size).map(|to| lengths.of(from, to)));
        let (send, receive) = match operation {
            Operation::Scatterv(root) => (all(root), Array::new(once(lengths.of(root, rank)))),
            _ => (all(rank), Array::new((0..size).map(|from| lengths.of(from, rank)))),
        };
        let mut blocks = Blocks { operation, rank, send, receive };
        blocks.refill();
        blocks
    }

    /// The blocks that the rank sends.
    fn sent(&self) -> Array {
        let mut sent = self.send.clone();
        let sender = if let Operation::Scatterv(root) = self.operation { root } else { self.rank };
        sent.numbers.fill(UNTOUCHED);
        sent.fill(|to, i| given(sender, to, i));
        sent
    }

    /// The blocks that it has to get.
    fn expected(&self) -> Array {
        let mut expected = self.receive.clone();
        expected.numbers.fill(UNTOUCHED);
        match self.operation {
            Operation::Scatterv(root) => expected.fill(|_, i| given(root, self.rank, i)),
            _ => expected.fill(|from, i| given(from, self.rank, i)),
        }
        expected
    }
}

impl Call for Blocks {
    fn refill(&mut self) {
        // In place: a persistent operation has the address.
        let sent = self.sent();
        self.send.numbers.copy_from_slice(&sent.numbers);
        self.receive.numbers.fill(UNTOUCHED);
    }

    fn describe(&mut self, talk: &mut Conversation<'_>) -> Result<()> {
        match self.operation {
            Operation::Alltoallv => alltoallv(talk, Some(self.send.parts()?), self.receive.parts()?),
            Operation::Alltoallw => {
                let types: Vec<TypeInUse> =
                    self.send.counts.iter().map(|_| TypeInUse::predefined(&types::MPI_INT)).collect();
                alltoallw(talk, Some(self.send.typed(&types)?), self.receive.typed(&types)?)
            }
            Operation::Scatterv(root) => {
                let send = (self.rank == root).then(|| self.send.parts()).transpose()?;
                scatterv(talk, send, Some(self.receive.first()?), root as i32)
            }
        }
    }

    fn check(&self, what: &str) {
        let differs =
            self.receive.numbers.iter().zip(&self.expected().numbers).position(|(got, wanted)| got != wanted);
        assert_eq!(differs, None, "{what}: a wrong number");
        assert!(self.sent().numbers == self.send.numbers, "{what}: the send buffer has changed");
    }
}

fn check(operation: fn(size: usize) -> Operation, variable: &str) {
    let (setting, algorithms) = algorithms(variable);
    for size in SIZES {
        for algorithm in &algorithms {
            let ranks = Ranks::new(size).with(|settings| {
                (setting.set)(&mut settings.collectives, algorithm).expect("one of its names");
            });
            ranks.run(|rank| {
                let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
                let (size, operation) = (size as usize, operation(size as usize));
                for lengths in [Lengths::Mixed, Lengths::Short, Lengths::Nothing, Lengths::Long] {
                    let call = || Blocks::new(operation, lengths, rank, size);
                    in_three_forms(
                        &world,
                        call,
                        &format!("{algorithm}, {operation:?}, {lengths:?}, rank {rank} of {size}"),
                    );
                }
            });
        }
    }
}

#[test]
fn exchanges_of_blocks_of_any_sizes() {
    check(|_| Operation::Alltoallv, "HEDDLE_ALLTOALL_ALGORITHM");
}

#[test]
fn exchanges_of_blocks_of_any_datatypes() {
    check(|_| Operation::Alltoallw, "HEDDLE_ALLTOALL_ALGORITHM");
}

#[test]
fn scatters_of_blocks_of_any_sizes() {
    check(|_| Operation::Scatterv(0), "HEDDLE_SCATTER_ALGORITHM");
    check(|size| Operation::Scatterv(size - 1), "HEDDLE_SCATTER_ALGORITHM");
}

/// The code of the error that a call has in its blocking and in its nonblocking form.
fn codes(world: &CommRef, call: impl Fn() -> Blocks) -> [Option<i32>; 2] {
    let mut data = call();
    let blocking = run(world, |talk| data.describe(talk)).err();
    let mut data = call();
    let mut request = begin(world, |talk| data.describe(talk)).expect("a request");
    let nonblocking = heddle_p2p::wait(&mut request).expect("a request").error;
    [blocking, nonblocking].map(|error| error.map(|error| error.code()))
}

/// Rank 0 gives rank 1 another number of elements than that expects: rank 1 has an error, and no other rank
/// notices.
#[test]
fn a_block_of_another_length_fails_where_it_arrives() {
    const SIZE: usize = 3;
    let (setting, algorithms) = algorithms("HEDDLE_ALLTOALL_ALGORITHM");
    for algorithm in &algorithms {
        let ranks = Ranks::new(SIZE as u32).with(|settings| {
            (setting.set)(&mut settings.collectives, algorithm).expect("one of its names");
        });
        ranks.run(|rank| {
            let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
            for (length, expected) in [(5, 6), (6, 5), (5, 40_000), (40_000, 5), (40_000, 40_001)] {
                let lengths =
                    |from, to, other| if (from, to) == (0, 1) { other } else { LENGTHS[(from + to) % 6] };
                let call = || Blocks {
                    operation: Operation::Alltoallv,
                    rank,
                    send: Array::new((0..SIZE).map(|to| lengths(rank, to, length))),
                    receive: Array::new((0..SIZE).map(|from| lengths(from, rank, expected))),
                };
                let code = if length < expected { MPI_ERR_COUNT } else { MPI_ERR_TRUNCATE };
                for round in 0..3 {
                    let what =
                        format!("{algorithm}, {length} and not {expected}, rank {rank}, round {round}");
                    assert_eq!(codes(&world, call), [(rank == 1).then_some(code); 2], "{what}");
                }
            }
        });
    }
}
