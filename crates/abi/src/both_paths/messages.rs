//! Sends, receives, `Sendrecv` and `Iprobe`, by rank 0.

use super::draw::Draw;
use super::seen::{Counted, kind_of, shown, untouched};
use super::stage::{Address, Comm, GARBAGE, ROOM, Stage, Type, out_unless, status_unless};
use super::traffic::{buffer, comm_of, drain, end_of, isend};
use super::way::{Called, Case, call};
use crate::argument::{RecvArguments, SendArguments, SendrecvArguments, StatusOut};
use crate::bodies::p2p;
use crate::entry::{Express, running};
use heddle_comm::{CommRef, Plane};
use heddle_p2p::Attempt;
use heddle_spec::constants as mpi;
use heddle_spec::handle::RequestHandle;
use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageFunction {
    Send,
    Rsend,
    Isend,
    Irsend,
    Recv,
    Irecv,
    Sendrecv,
    Iprobe,
}

use MessageFunction::{Iprobe, Irecv, Irsend, Isend, Recv, Rsend, Send, Sendrecv};

/// When the message comes that a receive wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Before,
    /// During a blocking call, or after a nonblocking one.
    Later,
    Never,
}

/// The arguments for one direction.
#[derive(Debug, Clone, Copy)]
struct Direction {
    address: Address,
    count: i64,
    datatype: Type,
    peer: i32,
    tag: i32,
}

/// A call of rank 0, and what goes on around it.
#[derive(Debug)]
pub(super) struct Message {
    function: MessageFunction,
    send: Direction,
    receive: Direction,
    comm: Comm,
    /// True if rank 0 has used the communicator last.
    used_last: bool,
    /// A message for the receive: when it comes, from whom, and its length.
    arrival: Arrival,
    from: usize,
    bytes: usize,
    /// True if a message with another tag comes first.
    after_another: bool,
    /// True if rank 0 has polled when it calls, so that what came before is not in the ring any more.
    polled: bool,
    /// True if a receive is posted for what is sent.
    posted: bool,
    no_status: bool,
    no_variable: bool,
}

/// The tag of a message that nobody wants.
const OTHER_TAG: i32 = 77;

const USUAL_TAGS: [i32; 3] = [0, 5, i32::MAX];

/// All tags that messages have.
pub(super) const TAGS: [i32; 4] = [USUAL_TAGS[0], USUAL_TAGS[1], USUAL_TAGS[2], OTHER_TAG];

fn direction(draw: &mut Draw, counts: &[i64], wrong_counts: &[i64]) -> Direction {
    let wildcards =
        if draw.has_wildcards() { [mpi::MPI_ANY_SOURCE, mpi::MPI_ANY_TAG] } else { [mpi::MPI_PROC_NULL, 5] };
    Direction {
        address: draw.mostly(&[Address::Aligned, Address::Odd], &Address::WRONG),
        count: draw.mostly(counts, wrong_counts),
        datatype: draw.mostly(&Type::USUAL, &Type::OTHERS),
        peer: draw.mostly(&[0, 1], &[mpi::MPI_PROC_NULL, wildcards[0], 2, -9, i32::MAX, i32::MIN]),
        tag: draw.mostly(&USUAL_TAGS, &[wildcards[1], -1, -9, i32::MIN]),
    }
}

impl Message {
    fn sends(&self) -> bool {
        matches!(self.function, Send | Rsend | Isend | Irsend | Sendrecv)
    }

    fn receives(&self) -> bool {
        matches!(self.function, Recv | Irecv | Sendrecv | Iprobe)
    }

    /// Changes what would wait for ever, though no argument is wrong.
    fn without_deadlock(mut self, draw: &mut Draw) -> Self {
        let Message { send, receive, .. } = self;
        if self.sends() && send.peer == 0 && self.function != Isend && self.function != Irsend {
            // A long self message waits for its receive.
            self.send.count = send.count.min(2);
        }
        let is_own = self.function == Sendrecv && (send.peer, send.tag) == (receive.peer, receive.tag);
        if is_own && receive.peer == 0 && !draw.once_in(4) {
            self.arrival = Arrival::Never;
        } else if matches!(self.function, Recv | Sendrecv) && self.arrival == Arrival::Never {
            self.arrival = Arrival::Before;
        }
        self.from = match receive.peer {
            0 => 0,
            mpi::MPI_ANY_SOURCE if self.comm != Comm::Alone => self.from,
            _ if self.comm == Comm::Alone => 0,
            _ => 1,
        };
        if self.arrival == Arrival::Later && (self.from == 0 || self.function == Iprobe) {
            self.arrival = Arrival::Before;
        }
        if !self.receives() {
            self.arrival = Arrival::Never;
        }
        self
    }

    /// True if this rank posts a receive for what is sent, which the call itself does not receive.
    fn posts(&self, stage: &Stage<'_>) -> bool {
        let receives_own = self.function == Sendrecv && self.send.peer == 0;
        self.posted && self.sends() && self.send.peer == stage.rank as i32 && !receives_own
    }

    /// The communicator and the tag of the message for the receive; others if rank 0 names wrong ones.
    fn supply(&self, stage: &Stage<'_>) -> (CommRef, i32) {
        (self.right_comm(stage), if self.receive.tag < 0 { 5 } else { self.receive.tag })
    }

    fn right_comm(&self, stage: &Stage<'_>) -> CommRef {
        let named = match self.comm {
            Comm::Duplicate => Comm::Duplicate,
            Comm::Alone if stage.rank == 0 => Comm::Alone,
            _ => Comm::World,
        };
        comm_of(stage.comm(named))
    }

    /// Sends what the receive wants, if this rank is the one, and returns the requests.
    fn send_supply(&self, stage: &Stage<'_>, supply: &mut [Vec<u8>; 2]) -> Vec<usize> {
        let (comm, tag) = self.supply(stage);
        let [another, wanted] = supply;
        let mut sent = Vec::new();
        if self.after_another {
            sent.push(isend(&comm, another, OTHER_TAG));
        }
        sent.push(isend(&comm, wanted, tag));
        sent
    }

    /// Polls until the message for the receive is here.
    fn poll(&self, stage: &Stage<'_>) {
        let (comm, tag) = self.supply(stage);
        let source = self.from as i32;
        while heddle_p2p::iprobe(&comm, source, tag).expect("a probe").is_none() {}
    }

    /// The call. What it stores in variables is added to `seen`.
    fn call(
        &self,
        stage: &Stage<'_>,
        called: Called<'_>,
        memory: &mut [Vec<u8>; 2],
        seen: &mut String,
    ) -> usize {
        let Message { send, receive, no_status, no_variable, .. } = *self;
        let comm = stage.comm(self.comm);
        let [from, to] = memory;
        let outgoing = SendArguments {
            buf: send.address.within(from).cast_const().cast(),
            count: send.count,
            datatype: stage.datatype(send.datatype),
            dest: send.peer,
            tag: send.tag,
            comm,
        };
        let incoming = RecvArguments {
            buf: receive.address.within(to).cast(),
            count: receive.count,
            datatype: stage.datatype(receive.datatype),
            source: receive.peer,
            tag: receive.tag,
            comm,
        };
        let (mut request, mut status, mut flag) = (RequestHandle(GARBAGE), untouched(), -77);
        let (variable, flag_out) =
            (out_unless(no_variable, &mut request), out_unless(no_variable, &mut flag));
        let status_out = status_unless(no_status, &mut status);
        macro_rules! sends {
            ($name:literal, $express:path, $general:path $(, $variable:expr)?) => {
                call!(called, $name, running, $express, $general, (outgoing $(, $variable)?))
            };
        }
        macro_rules! receives {
            ($name:literal, $express:path, $general:path, $variable:expr) => {
                call!(called, $name, running, $express, $general, (incoming, $variable))
            };
        }
        let code = match self.function {
            Send => sends!("Send", p2p::express_send, p2p::send),
            Rsend => sends!("Rsend", p2p::express_rsend, p2p::rsend),
            Isend => sends!("Isend", p2p::express_isend, p2p::isend, variable),
            Irsend => sends!("Irsend", p2p::express_irsend, p2p::irsend, variable),
            Recv => receives!("Recv", p2p::express_recv, p2p::recv, status_out),
            Irecv => receives!("Irecv", p2p::express_irecv, p2p::irecv, variable),
            Sendrecv => call!(
                called,
                "Sendrecv",
                running,
                express_sendrecv,
                p2p::sendrecv,
                (
                    SendrecvArguments {
                        sendbuf: outgoing.buf,
                        sendcount: outgoing.count,
                        sendtype: outgoing.datatype,
                        dest: outgoing.dest,
                        sendtag: outgoing.tag,
                        recvbuf: incoming.buf,
                        recvcount: incoming.count,
                        recvtype: incoming.datatype,
                        source: incoming.source,
                        recvtag: incoming.tag,
                        comm,
                    },
                    status_out
                )
            ),
            Iprobe => call!(
                called,
                "Iprobe",
                running,
                p2p::express_iprobe,
                p2p::iprobe,
                (receive.peer, receive.tag, comm, flag_out, status_out)
            ),
        };
        _ = write!(seen, "code {code}, flag {flag}, request {}, {status:?}; ", kind_of(request));
        request.0
    }
}

/// The express path of `Sendrecv`, which takes its arguments one by one.
fn express_sendrecv(attempt: Attempt, call: SendrecvArguments, status: StatusOut) -> Express {
    let SendrecvArguments { sendbuf, sendcount, sendtype, dest, sendtag, .. } = call;
    let SendrecvArguments { recvbuf, recvcount, recvtype, source, recvtag, comm, .. } = call;
    p2p::express_sendrecv(
        attempt, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
        comm, status,
    )
}

impl Case for Message {
    fn draw(draw: &mut Draw) -> Self {
        let functions = [Send, Rsend, Isend, Irsend, Recv, Irecv, Sendrecv, Iprobe];
        // A probe is a wildcard to messages that are spread.
        let function = draw.one_of(if draw.has_wildcards() { &functions } else { &functions[..7] });
        let most = i64::MAX;
        Message {
            function,
            // Counts of data that is not there are wrong for every datatype.
            send: direction(draw, &[0, 1, 2, 5, 10], &[3, 11, 40, -1, -2, i64::MIN]),
            receive: direction(
                draw,
                &[0, 1, 2, 5, 10, 40, 100],
                &[11, -1, i64::MIN, most, most / 8, most / 8 + 1, 1 << 40, (1 << 40) - 1, (1 << 40) + 1],
            ),
            comm: draw.mostly(
                &[Comm::World, Comm::Duplicate],
                &[Comm::Alone, Comm::Freed, Comm::Freed, Comm::Null, Comm::Garbage],
            ),
            used_last: !draw.once_in(4),
            arrival: draw.one_of(&[Arrival::Before, Arrival::Later, Arrival::Never]),
            from: draw.below(2),
            bytes: draw.one_of(&[0, 1, 4, 8, 8, 20, 39, 40, 41, 100, 512]),
            after_another: draw.once_in(4),
            polled: draw.once_in(2),
            posted: draw.once_in(2),
            no_status: draw.once_in(8),
            no_variable: draw.once_in(12),
        }
        .without_deadlock(draw)
    }

    fn play(&self, stage: &Stage<'_>, called: Called<'_>) -> String {
        let is_caller = stage.rank == 0;
        if self.comm == Comm::Freed {
            stage.free_comm();
        }
        let pattern = |first: usize, length| (0..length).map(|i| (first + i * 7) as u8 | 1).collect();
        let mut memory: [Vec<u8>; 2] = [pattern(3, ROOM), vec![0; ROOM]];
        let mut supply: [Vec<u8>; 2] = [pattern(50, 12), pattern(100, self.bytes)];
        let (mut room, mut seen, mut sent) = (vec![0; ROOM], String::new(), Vec::new());
        let posted = if self.posts(stage) {
            let comm = self.right_comm(stage);
            let (to, tag) = (buffer(&mut room), self.send.tag.max(0));
            heddle_p2p::irecv(&comm, Plane::PointToPoint, to, 0, tag).expect("a receive")
        } else {
            GARBAGE
        };
        // Rank 0 does not call MPI from here until its call, so that a message stays where it is put.
        stage.meet();
        let supplies = self.from == stage.rank;
        if supplies && self.arrival == Arrival::Before {
            sent = self.send_supply(stage, &mut supply);
        }
        stage.meet();
        let mut request = GARBAGE;
        if is_caller {
            if self.polled && stage.has_wildcards && self.arrival == Arrival::Before {
                self.poll(stage);
            }
            if self.used_last {
                _ = CommRef::from_handle(stage.comm(self.comm).0);
            }
            let before = Counted::now();
            request = self.call(stage, called, &mut memory, &mut seen);
            // A message on another lane may be read or not.
            let is_certain = stage.has_wildcards || !self.after_another;
            if self.arrival != Arrival::Later && is_certain {
                seen += &before.since();
                // An exchange with itself need not keep the message.
                if self.function != Sendrecv {
                    _ = write!(seen, ", unexpected {}; ", before.unexpected_since());
                }
            }
        } else if supplies && self.arrival == Arrival::Later && self.function != Irecv {
            sent = self.send_supply(stage, &mut supply);
        }
        stage.meet();
        if supplies && self.arrival == Arrival::Later && self.function == Irecv {
            sent = self.send_supply(stage, &mut supply);
        }
        stage.meet();
        if matches!(self.function, Irecv) {
            seen += &end_of(request);
            request = GARBAGE;
        }
        seen += &end_of(posted);
        // No receive is left that could take a message of `drain`.
        stage.meet();
        seen += &drain(stage);
        sent.push(request);
        sent.into_iter().for_each(|request| seen += &end_of(request));
        stage.meet();
        if is_caller {
            _ = write!(seen, "; received {}", shown(&memory[1]));
        }
        _ = write!(seen, ", posted {}", shown(&room));
        seen
    }
}
