//! The life of requests: handed to other threads, cancelled, freed while active, started again and again,
//! completed by the program.

use crate::payload::Payload;
use crate::scene::{ANY_SOURCE, Parcel, Thread, call};
use heddle_comm::Plane;
use heddle_p2p::Mode;
use heddle_p2p::request::{Attachment, Canceller};

const P2P: Plane = Plane::PointToPoint;

/// Tags on the communicator of all threads, a range for each of the parts below.
const HANDED: i32 = 10_000;
const NEVER_SENT: i32 = 11_000;
const CANCELLED: i32 = 12_000;
const FREED: i32 = 13_000;
const FREED_SEEN: i32 = 14_000;
const PERSISTENT: i32 = 15_000;
const BUFFERED: i32 = 16_000;

pub(crate) fn run(thread: &mut Thread<'_>, round: usize) {
    handed_over(thread, round);
    cancelled(thread, round);
    freed(thread, round);
    persistent(thread, round);
    buffered(thread, round);
}

/// Another thread completes what this one began.
fn handed_over(thread: &mut Thread<'_>, round: usize) {
    let scene = thread.scene;
    let tag = HANDED + thread.number as i32;
    let mut requests = Vec::new();
    let (mut outgoing, mut incoming) = (Vec::new(), Vec::new());
    for (at, len) in [8, 500, 40_000].into_iter().enumerate() {
        let mut room = Payload::room(len);
        let mut data = Payload::new(len, thread.seed(scene.rank, round, at));
        requests.push(call(|| heddle_p2p::irecv(&scene.shared, P2P, room.buffer(), scene.from, tag)));
        let sent =
            call(|| heddle_p2p::isend(&scene.shared, P2P, data.buffer(), scene.to, tag, Mode::Standard));
        requests.push(sent);
        incoming.push((room, thread.seed(scene.from, round, at)));
        outgoing.push(data);
    }
    let generalized = call(|| heddle_p2p::start_generalized(Box::new(Nothing)));
    requests.push(generalized);
    let open = Box::new(move |handles: &[usize]| {
        call(|| heddle_p2p::complete_generalized(generalized));
        crate::messages::complete(&mut handles.to_vec(), round);
        for (room, seed) in &incoming {
            room.check(*seed, "a message that another thread waited for");
        }
        drop(outgoing);
    });
    scene.post(thread.partner, Parcel { requests, open });
    let Parcel { requests, open } = scene.fetch(thread.number);
    open(&requests);
}

/// A generalized request without any state.
#[derive(Debug)]
struct Nothing;

impl Attachment for Nothing {
    fn canceller(&self) -> Option<Canceller> {
        Some(Box::new(|_| Ok(())))
    }
}

/// Receives without a message, and receives whose message may be in flight.
fn cancelled(thread: &mut Thread<'_>, round: usize) {
    let scene = thread.scene;
    let number = thread.number as i32;
    let mut room = Payload::room(16);
    let mut request =
        call(|| heddle_p2p::irecv(&scene.shared, P2P, room.buffer(), ANY_SOURCE, NEVER_SENT + number));
    call(|| heddle_p2p::cancel(request));
    assert!(call(|| heddle_p2p::wait(&mut request)).cancelled);

    for (at, len) in [30, 3000, 50_000, 500_000].into_iter().enumerate() {
        let tag = CANCELLED + number;
        let mut data = Payload::new(len, thread.seed(scene.rank, round, at));
        let mut room = Payload::room(len);
        let mut receive = call(|| heddle_p2p::irecv(&scene.shared, P2P, room.buffer(), scene.from, tag));
        let mut send =
            call(|| heddle_p2p::isend(&scene.shared, P2P, data.buffer(), scene.to, tag, Mode::Standard));
        // Sometimes the message comes first, sometimes the cancellation, sometimes its first half.
        for _ in 0..[0, 4, 30, 200][(round + at) % 4] {
            if call(|| heddle_p2p::get_status(receive)).is_some() {
                break;
            }
        }
        call(|| heddle_p2p::cancel(receive));
        let outcome = call(|| heddle_p2p::wait(&mut receive));
        if outcome.cancelled {
            let late = call(|| heddle_p2p::recv(&scene.shared, P2P, room.buffer(), scene.from, tag));
            assert_eq!((late.error, late.bytes), (None, len as u64));
        } else {
            assert_eq!((outcome.error, outcome.bytes), (None, len as u64));
        }
        room.check(thread.seed(scene.from, round, at), "a receive that was to be cancelled");
        call(|| heddle_p2p::wait(&mut send));
    }
}

/// Requests that are freed while they are active: the operation goes on.
fn freed(thread: &mut Thread<'_>, round: usize) {
    let scene = thread.scene;
    let (tag, seen) = (FREED + thread.number as i32, FREED_SEEN + thread.number as i32);
    for (at, (len, mode)) in [(50, Mode::Synchronous), (70_000, Mode::Standard)].into_iter().enumerate() {
        let mut data = Payload::new(len, thread.seed(scene.rank, round, at));
        let mut send = call(|| heddle_p2p::isend(&scene.shared, P2P, data.buffer(), scene.to, tag, mode));
        call(|| heddle_p2p::free(&mut send));
        // No thread waits for this receive, so its memory stays in the attic.
        let mut lost = Payload::room(4);
        let mut receive = call(|| heddle_p2p::irecv(&scene.shared, P2P, lost.buffer(), scene.to, seen));
        call(|| heddle_p2p::free(&mut receive));
        thread.attic.push(Box::new(lost));

        let mut room = Payload::room(len);
        call(|| heddle_p2p::recv(&scene.shared, P2P, room.buffer(), scene.from, tag));
        room.check(thread.seed(scene.from, round, at), "a send whose request was freed");
        // The first answer goes to the receive that no thread waits for; the second says
        // that the data was received.
        let mut answer = Payload::new(4, 3);
        for _ in 0..2 {
            let data = answer.buffer();
            call(|| heddle_p2p::send(&scene.shared, P2P, data, scene.from, seen, Mode::Standard));
        }
        call(|| heddle_p2p::recv(&scene.shared, P2P, answer.buffer(), scene.to, seen));
        answer.check(3, "an answer");
    }
}

/// One description, many operations.
fn persistent(thread: &mut Thread<'_>, round: usize) {
    let scene = thread.scene;
    let tag = PERSISTENT + thread.number as i32;
    for (len, mode) in [(20, Mode::Standard), (2000, Mode::Buffered), (45_000, Mode::Synchronous)] {
        let seed = thread.seed(scene.rank, round, len);
        let mut data = Payload::new(len, seed);
        let mut room = Payload::room(len);
        let mut requests = [
            call(|| heddle_p2p::send_init(&scene.shared, data.buffer(), scene.to, tag, mode)),
            call(|| heddle_p2p::receive_init(&scene.shared, room.buffer(), scene.from, tag)),
        ];
        for form in 0..3 {
            for request in requests {
                call(|| heddle_p2p::start(request));
            }
            if form == 1 {
                requests.iter_mut().for_each(|request| while call(|| heddle_p2p::test(request)).is_none() {});
            } else {
                call(|| heddle_p2p::wait_all(&mut requests, |_, outcome| assert_eq!(outcome.error, None)));
            }
            room.check(thread.seed(scene.from, round, len), "a persistent receive");
        }
        requests.iter_mut().for_each(|request| call(|| heddle_p2p::free(request)));
    }
}

/// Sends that leave their data with the library.
fn buffered(thread: &mut Thread<'_>, round: usize) {
    let scene = thread.scene;
    let tag = BUFFERED + thread.number as i32;
    for (at, len) in [0, 30, 3000, 90_000].into_iter().enumerate() {
        let mut data = Payload::new(len, thread.seed(scene.rank, round, at));
        call(|| heddle_p2p::bsend(&scene.shared, data.buffer(), scene.to, tag));
    }
    for (at, len) in [0, 30, 3000, 90_000].into_iter().enumerate() {
        let mut room = Payload::room(len);
        let outcome = call(|| heddle_p2p::recv(&scene.shared, P2P, room.buffer(), scene.from, tag));
        assert_eq!((outcome.error, outcome.bytes), (None, len as u64));
        room.check(thread.seed(scene.from, round, at), "a buffered send");
    }
}
