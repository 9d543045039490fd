//! `Wait` and `Test`, by rank 0.

use super::draw::Draw;
use super::seen::{Counted, kind_of, shown, untouched};
use super::stage::{GARBAGE, Stage, out_unless, status_unless};
use super::traffic::buffer;
use super::way::{Called, Case, call};
use crate::bodies::p2p;
use crate::entry::{early, running};
use heddle_comm::{CommRef, Plane};
use heddle_p2p::Mode;
use heddle_p2p::request::SEND_DONE;
use heddle_spec::constants as mpi;
use heddle_spec::handle::RequestHandle;
use std::fmt::Write;

/// The request that a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Null,
    /// That of a send that was complete when its call returned.
    Done,
    Garbage,
    /// The program has completed it, and kept a copy of its handle.
    Stale,
    /// A receive that is complete.
    Received,
    /// The same, with too little room.
    Truncated,
    /// A receive that is not complete, which only `Test` takes.
    Pending,
    Cancelled,
    /// A synchronous send that is complete.
    Sent,
    /// A persistent receive that is not started, or is complete.
    Inactive,
    Persistent,
}

use Named::{
    Cancelled, Done, Garbage, Inactive, Null, Pending, Persistent, Received, Sent, Stale, Truncated,
};

/// A call of rank 0.
#[derive(Debug)]
pub(super) struct Completion {
    waits: bool,
    named: Named,
    no_request: bool,
    no_flag: bool,
    no_status: bool,
    /// How often the call is made.
    times: usize,
}

const TAG: i32 = 3;
const PLANE: Plane = Plane::PointToPoint;

fn wait_until_complete(request: usize) {
    while heddle_p2p::get_status(request).expect("a request").is_none() {}
}

impl Completion {
    /// True if rank 1 sends a message to rank 0 before the call.
    fn is_sent_to(&self) -> bool {
        matches!(self.named, Stale | Received | Truncated | Persistent)
    }

    /// Makes the request; rank 1 is going to do its part.
    fn prepare(&self, world: &CommRef, room: &mut [u8], sent: &mut [u8]) -> usize {
        let room = if self.named == Truncated { &mut room[..2] } else { room };
        match self.named {
            Null => mpi::MPI_REQUEST_NULL,
            Done => SEND_DONE,
            Garbage => GARBAGE,
            Stale | Received | Truncated | Pending | Cancelled => {
                heddle_p2p::irecv(world, PLANE, buffer(room), 1, TAG).expect("a receive")
            }
            Sent => heddle_p2p::isend(world, PLANE, buffer(sent), 1, TAG, Mode::Synchronous).expect("a send"),
            Inactive | Persistent => {
                let request = heddle_p2p::receive_init(world, buffer(room), 1, TAG).expect("a receive");
                if self.named == Persistent {
                    heddle_p2p::start(request).expect("a receive");
                }
                request
            }
        }
    }

    /// Brings the request into its state, now that rank 1 has done its part.
    fn settle(&self, request: usize) {
        match self.named {
            Received | Truncated | Persistent | Sent => wait_until_complete(request),
            Stale => _ = heddle_p2p::wait(&mut { request }).expect("a request"),
            Cancelled => heddle_p2p::cancel(request).expect("a request"),
            _ => {}
        }
    }

    fn call(&self, called: Called<'_>, request: usize, seen: &mut String) -> usize {
        let mut request = RequestHandle(request);
        for _ in 0..self.times {
            let (mut flag, mut status) = (-77, untouched());
            let variable = out_unless(self.no_request, &mut request);
            let status_out = status_unless(self.no_status, &mut status);
            let flag_out = out_unless(self.no_flag, &mut flag);
            let code = if self.waits {
                call!(called, "Wait", running, p2p::express_wait, p2p::wait, (variable, status_out))
            } else {
                call!(called, "Test", early, p2p::express_test, p2p::test, (variable, flag_out, status_out))
            };
            _ = write!(seen, "code {code}, flag {flag}, {}, {status:?}; ", kind_of(request));
        }
        request.0
    }
}

impl Case for Completion {
    fn draw(draw: &mut Draw) -> Self {
        let waits = draw.once_in(2);
        let usual = [Null, Done, Received, Received, Cancelled, Sent, Inactive, Persistent];
        let named = draw.mostly(&usual, &[Garbage, Stale, Truncated]);
        Completion {
            waits,
            named: if !waits && draw.once_in(4) { Pending } else { named },
            no_request: draw.once_in(12),
            no_flag: draw.once_in(12),
            no_status: draw.once_in(6),
            times: 1 + draw.below(3),
        }
    }

    fn play(&self, stage: &Stage<'_>, called: Called<'_>) -> String {
        let world = CommRef::world().expect("between MPI_Init and MPI_Finalize");
        let (mut room, mut bytes) = (vec![0; 64], [5, 6, 7, 8, 9, 10, 11, 12]);
        let mut seen = String::new();
        if stage.rank == 1 {
            if self.is_sent_to() {
                heddle_p2p::send(&world, PLANE, buffer(&mut bytes), 0, TAG, Mode::Standard).expect("a send");
            } else if self.named == Sent {
                let received = heddle_p2p::recv(&world, PLANE, buffer(&mut room), 0, TAG);
                _ = write!(seen, "{:?}", received.expect("a receive").bytes);
            }
            stage.meet();
            stage.meet();
            if self.named == Pending {
                heddle_p2p::send(&world, PLANE, buffer(&mut bytes), 0, TAG, Mode::Standard).expect("a send");
            }
            return seen;
        }
        let before = Counted::now();
        let request = self.prepare(&world, &mut room, &mut bytes);
        stage.meet();
        self.settle(request);
        let mut left = self.call(called, request, &mut seen);
        stage.meet();
        match self.named {
            // The case ends with what its call has left of the request.
            Inactive | Persistent => heddle_p2p::free(&mut left).expect("a request"),
            Garbage | Stale => {}
            _ => _ = write!(seen, "left {:?}; ", heddle_p2p::wait(&mut left).map(|outcome| outcome.bytes)),
        }
        _ = write!(seen, "{}; {}", before.since(), shown(&room));
        seen
    }
}
