//! `Pready`, by rank 0.

use super::draw::Draw;
use super::seen::shown;
use super::stage::{GARBAGE, Stage, out};
use super::way::{Called, Case, call};
use crate::argument::{PrecvInitArguments, PsendInitArguments};
use crate::bodies::partitioned;
use crate::entry::unguarded;
use heddle_spec::constants as mpi;
use heddle_spec::handle::{CommHandle, DatatypeHandle, InfoHandle, RequestHandle};
use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::fmt::Write;

/// The request that a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Sender,
    Null,
    Garbage,
    Done,
}

/// Rounds of a partitioned message, which rank 0 sends.
#[derive(Debug)]
pub(super) struct Partitions {
    partitions: c_int,
    count: i64,
    datatype: usize,
    dest: c_int,
    /// In each round the calls of `Pready`; partitions that they leave out become ready afterwards.
    rounds: Vec<Vec<(Named, c_int)>>,
    /// True if the calls of the first round come before it is started.
    before_start: bool,
}

impl Partitions {
    fn call(&self, called: Called<'_>, round: &[(Named, c_int)], request: RequestHandle, seen: &mut String) {
        for (named, partition) in round {
            let request = match named {
                Named::Sender => request,
                Named::Done => RequestHandle(heddle_p2p::request::SEND_DONE),
                Named::Null => RequestHandle::NULL,
                Named::Garbage => RequestHandle(GARBAGE),
            };
            let code = call!(
                called,
                "Pready",
                unguarded,
                partitioned::express_pready,
                partitioned::pready,
                (*partition, request)
            );
            _ = write!(seen, "{code} ");
        }
    }
}

fn without_repetition(calls: &mut Vec<(Named, c_int)>) {
    let mut seen = BTreeSet::new();
    calls.retain(|(_, partition)| seen.insert(*partition));
}

impl Case for Partitions {
    fn draw(draw: &mut Draw) -> Self {
        let partitions = 1 + draw.below(5) as c_int;
        let mut calls = || {
            let number = draw.below(2 * partitions as usize + 1);
            let mut call = || {
                let named = draw.mostly(&[Named::Sender], &[Named::Null, Named::Garbage, Named::Done]);
                let right = draw.below(partitions as usize) as c_int;
                (named, draw.mostly(&[right], &[-1, partitions, c_int::MAX, c_int::MIN]))
            };
            (0..number).map(|_| call()).collect::<Vec<_>>()
        };
        let mut rounds: Vec<_> = (0..3).map(|_| calls()).collect();
        let count = draw.mostly(&[1], &[0, 2, 100]);
        let datatype = draw.mostly(&[mpi::MPI_DOUBLE, mpi::MPI_INT64_T], &[mpi::MPI_INT, mpi::MPI_BYTE]);
        if count != 1 || datatype == mpi::MPI_INT || datatype == mpi::MPI_BYTE {
            // Whether a second call for a longer partition is an error depends on when the receiver has a
            // place for it.
            rounds.iter_mut().for_each(without_repetition);
        }
        Partitions {
            partitions,
            rounds,
            count,
            datatype,
            dest: draw.mostly(&[1], &[mpi::MPI_PROC_NULL]),
            before_start: draw.once_in(6),
        }
    }

    fn play(&self, stage: &Stage<'_>, called: Called<'_>) -> String {
        let Partitions { partitions, count, dest, .. } = *self;
        let mut bytes: Vec<u8> = vec![0; 4096];
        let mut seen = String::new();
        let (comm, datatype) = (CommHandle(mpi::MPI_COMM_WORLD), DatatypeHandle(self.datatype));
        let (buf, info) = (bytes.as_mut_ptr().cast::<c_void>(), InfoHandle::NULL);
        let mut request = RequestHandle::NULL;
        let made = out(&mut request);
        if stage.rank == 0 {
            let sent =
                PsendInitArguments { buf: buf.cast_const(), partitions, count, datatype, dest, tag: 5, comm };
            partitioned::psend_init(sent, info, made)
        } else {
            let source = if dest == mpi::MPI_PROC_NULL { dest } else { 0 };
            let received = PrecvInitArguments { buf, partitions, count, datatype, source, tag: 5, comm };
            partitioned::precv_init(received, info, made)
        }
        .expect("a partitioned operation");
        for (number, calls) in self.rounds.iter().enumerate() {
            // The receiver is through with the rounds before, so that there is a place for each word.
            stage.meet();
            if stage.rank == 0 {
                bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = (number * 50 + i) as u8 | 1);
                if self.before_start && number == 0 {
                    self.call(called, calls, request, &mut seen);
                }
            }
            heddle_p2p::start(request.0).expect("a partitioned operation");
            if stage.rank == 0 {
                self.call(called, calls, request, &mut seen);
                for partition in 0..partitions {
                    // Those that are ready are so already.
                    _ = partitioned::pready(partition, request);
                }
            }
            let outcome = heddle_p2p::wait(&mut request.0).expect("a partitioned operation");
            _ = write!(seen, "{} {:?}; ", outcome.bytes, outcome.error.map(|error| error.code()));
            if stage.rank == 1 {
                seen += &shown(&bytes);
            }
        }
        heddle_p2p::free(&mut request.0).expect("a partitioned operation");
        stage.meet();
        seen
    }
}
