//! Collective operations, each thread on its own communicator.

use crate::scene::{Thread, call};
use heddle_collective::{Part, Reduction};
use heddle_comm::CommRef;
use heddle_comm::datatype::{TypeInUse, from_handle};
use heddle_comm::op::{OPS, OpFunction, OpRef, UserOp, free};
use heddle_comm::program::ProgramFunction;
use heddle_spec::constants as mpi;
use std::ffi::{c_int, c_void};

pub(crate) fn run(thread: &mut Thread<'_>, round: usize) {
    // Short and long vectors use different algorithms.
    all(thread, round, 5);
    all(thread, round, 12_000);
    with_an_operator_of_the_program(thread);
}

fn int() -> TypeInUse {
    call(|| from_handle(mpi::MPI_INT))
}

/// Numbers as an argument; the operation completes before the numbers are used again.
fn part<'a>(numbers: &mut [i32], count: usize, int: &'a TypeInUse) -> Part<'a> {
    // SAFETY: the numbers live until the blocking operation has returned.
    call(|| unsafe { Part::new(numbers.as_mut_ptr().cast(), count as i64, int) })
}

fn reduction<'a>(op: &'a OpRef, int: &'a TypeInUse) -> Reduction<'a> {
    call(|| Reduction::new(op, int, mpi::MPI_INT))
}

/// The sum of rank + salt over all processes, checked.
pub(crate) fn sum_of_ranks(comm: &CommRef, salt: i32) {
    let (int, op) = (int(), call(|| OpRef::from_handle(mpi::MPI_SUM)));
    let (mut mine, mut sum) = ([comm.rank() as i32 + salt], [0]);
    let size = comm.size() as i32;
    let (send, receive) = (part(&mut mine, 1, &int), part(&mut sum, 1, &int));
    call(|| {
        heddle_collective::run(comm, |talk| {
            heddle_collective::allreduce(talk, &reduction(&op, &int), Some(send), receive)
        })
    });
    assert_eq!(sum[0], size * salt + size * (size - 1) / 2);
}

fn all(thread: &Thread<'_>, round: usize, n: usize) {
    let comm = thread.own_comm;
    let (p, me) = (comm.size(), comm.rank());
    let root = round % p;
    let base = thread.number as i32;
    let (int, sum) = (int(), call(|| OpRef::from_handle(mpi::MPI_SUM)));
    let sum = reduction(&sum, &int);
    let value = |rank: usize, at: usize| base + rank as i32 * 3 + at as i32;
    let mine = || (0..n * p).map(|at| value(me, at)).collect::<Vec<i32>>();
    let total = |at: usize| (0..p).map(|rank| value(rank, at)).sum::<i32>();
    let (mut out, mut room) = (mine(), vec![0; n * p]);
    let is_root = me == root;

    call(|| {
        heddle_collective::run(comm, |talk| {
            heddle_collective::alltoall(talk, Some(part(&mut out, n, &int)), part(&mut room, n, &int))
        })
    });
    check(&room, |at| value(at / n, me * n + at % n), "alltoall");
    call(|| {
        heddle_collective::run(comm, |talk| {
            heddle_collective::allgather(talk, Some(part(&mut out, n, &int)), part(&mut room, n, &int))
        })
    });
    check(&room, |at| value(at / n, at % n), "allgather");
    call(|| {
        heddle_collective::run(comm, |talk| {
            heddle_collective::allreduce(talk, &sum, Some(part(&mut out, n, &int)), part(&mut room, n, &int))
        })
    });
    check(&room[..n], total, "allreduce");
    room[..n].copy_from_slice(&out[..n]);
    call(|| {
        heddle_collective::run(comm, |talk| {
            heddle_collective::allreduce(talk, &sum, None, part(&mut room, n, &int))
        })
    });
    check(&room[..n], total, "allreduce in place");
    let receive = is_root.then(|| part(&mut room, n, &int));
    call(|| {
        heddle_collective::run(comm, |talk| {
            heddle_collective::reduce(talk, &sum, Some(part(&mut out, n, &int)), receive, root as i32)
        })
    });
    if is_root {
        check(&room[..n], total, "reduce");
    }
    let counts = vec![n as i64; p];
    let (send, receive) = (part(&mut out, n * p, &int), part(&mut room, n, &int));
    call(|| {
        heddle_collective::run(comm, |talk| {
            heddle_collective::reduce_scatter(talk, &sum, Some(send), receive, &counts)
        })
    });
    check(&room[..n], |at| total(me * n + at), "reduce_scatter");
    call(|| {
        heddle_collective::run(comm, |talk| {
            heddle_collective::scan(talk, &sum, Some(part(&mut out, n, &int)), part(&mut room, n, &int))
        })
    });
    check(&room[..n], |at| (0..=me).map(|rank| value(rank, at)).sum(), "scan");
    let receive = is_root.then(|| part(&mut room, n, &int));
    call(|| {
        heddle_collective::run(comm, |talk| {
            heddle_collective::gather(talk, Some(part(&mut out, n, &int)), receive, root as i32)
        })
    });
    if is_root {
        check(&room, |at| value(at / n, at % n), "gather");
    }
    let send = is_root.then(|| part(&mut out, n, &int));
    call(|| {
        heddle_collective::run(comm, |talk| {
            heddle_collective::scatter(talk, send, Some(part(&mut room, n, &int)), root as i32)
        })
    });
    check(&room[..n], |at| value(root, me * n + at), "scatter");
    call(|| {
        heddle_collective::run(comm, |talk| {
            heddle_collective::bcast(talk, part(&mut out, n, &int), root as i32)
        })
    });
    check(&out[..n], |at| value(root, at), "bcast");
    call(|| heddle_collective::run(comm, heddle_collective::barrier));
}

fn check(found: &[i32], expected: impl Fn(usize) -> i32, what: &str) {
    for (at, &number) in found.iter().enumerate() {
        assert_eq!(number, expected(at), "{what}: number {at} of {}", found.len());
    }
}

/// `inout = input + inout`.
unsafe extern "C" fn add(input: *mut c_void, inout: *mut c_void, len: *mut c_int, _: *mut usize) {
    // SAFETY: MPI passes a valid length.
    let len = unsafe { *len } as usize;
    // SAFETY: MPI passes an array of `len` elements of type `i32`.
    let input = unsafe { std::slice::from_raw_parts(input.cast::<i32>(), len) };
    // SAFETY: MPI passes an array of `len` elements of type `i32`, which does not overlap the input.
    let inout = unsafe { std::slice::from_raw_parts_mut(inout.cast::<i32>(), len) };
    inout.iter_mut().zip(input).for_each(|(to, from)| *to += from);
}

fn with_an_operator_of_the_program(thread: &Thread<'_>) {
    let comm = thread.own_comm;
    // SAFETY: the function is used with arrays of `i32` only.
    let handle = OPS.insert(unsafe { UserOp::new(OpFunction::Int(ProgramFunction::new(add)), false) });
    let (int, op) = (int(), call(|| OpRef::from_handle(handle)));
    let (mut mine, mut sum) = (vec![thread.number as i32; 300], vec![0; 300]);
    let (send, receive) = (part(&mut mine, 300, &int), part(&mut sum, 300, &int));
    call(|| {
        heddle_collective::run(comm, |talk| {
            heddle_collective::allreduce(talk, &reduction(&op, &int), Some(send), receive)
        })
    });
    call(|| free(handle));
    check(&sum, |_| (thread.number * comm.size()) as i32, "allreduce with an operator of the program");
}
