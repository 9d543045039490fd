//! Messages: windows of nonblocking operations of all sizes, completed by different calls; wildcards; probes.

use crate::payload::Payload;
use crate::scene::{ANY_SOURCE, ANY_TAG, Thread, call};
use heddle_comm::{CommRef, Plane};
use heddle_p2p::{Any, Mode, Some_};
use heddle_platform::atomic::Ordering;

const P2P: Plane = Plane::PointToPoint;

/// Sizes on both sides of every protocol limit: within the slot, through the bulk area, by rendezvous.
const SIZES: [usize; 14] = [0, 1, 8, 9, 24, 40, 41, 100, 1000, 8192, 32768, 32769, 70_000, 200_000];

/// Tags on the communicator of all threads.
const WINDOW: i32 = 0;
const FIRST_COME: i32 = 5000;
const PROBED: i32 = 6000;
const CROSS: i32 = 7000;

pub(crate) fn run(thread: &mut Thread<'_>, round: usize) {
    let scene = thread.scene;
    if round.is_multiple_of(2) {
        window(thread, round, thread.own_comm, (scene.to, scene.from), 0, ANY_TAG);
    } else {
        let first = WINDOW + 32 * thread.number as i32;
        window(thread, round, &scene.shared, (scene.to, scene.from), first, 0);
    }
    window(thread, round, thread.own_comm, (scene.rank, scene.rank), 100, 0);
    first_come(thread, round);
    probed(thread, round);
    crosswise(thread, round);
}

/// All sizes at once, from one neighbour and to the other. With `any_tag` the receives take them in order.
fn window(
    thread: &Thread<'_>,
    round: usize,
    comm: &CommRef,
    (to, from): (i32, i32),
    first_tag: i32,
    any_tag: i32,
) {
    let mut requests = Vec::new();
    let (mut outgoing, mut incoming) = (Vec::new(), Vec::new());
    let rotation = thread.number + round;
    let me = thread.scene.rank;
    for at in 0..SIZES.len() {
        let len = SIZES[(at + rotation) % SIZES.len()];
        outgoing.push(Payload::new(len, thread.seed(me, round, at)));
        incoming.push(Payload::room(len));
    }
    for at in 0..SIZES.len() {
        let tag = first_tag + at as i32;
        let wanted = if any_tag == ANY_TAG && at % 2 == 0 { ANY_TAG } else { tag };
        let mode = if at % 5 == 3 { Mode::Synchronous } else { Mode::Standard };
        let receive = |incoming: &mut Payload| {
            let source = if at % 3 == 0 { ANY_SOURCE } else { from };
            call(|| heddle_p2p::irecv(comm, P2P, incoming.buffer(), source, wanted))
        };
        // Expected or unexpected, turn by turn.
        if round % 4 < 2 {
            requests.push(receive(&mut incoming[at]));
        }
        let data = outgoing[at].buffer();
        requests.push(call(|| heddle_p2p::isend(comm, P2P, data, to, tag, mode)));
        if round % 4 >= 2 {
            requests.push(receive(&mut incoming[at]));
        }
    }
    complete(&mut requests, rotation);
    for (at, data) in incoming.iter().enumerate() {
        data.check(thread.seed(from, round, at), "a window of messages");
    }
}

/// Completes all requests by one of the calls that MPI has for it.
pub(crate) fn complete(requests: &mut [usize], form: usize) {
    let mut left = requests.len();
    while left > 0 {
        match form % 6 {
            0 => {
                call(|| heddle_p2p::wait_all(requests, |_, outcome| assert_eq!(outcome.error, None)));
                left = 0;
            }
            1 => match call(|| heddle_p2p::wait_any(requests)) {
                Any::Completed(..) => left -= 1,
                other => panic!("{left} requests are open, but: {other:?}"),
            },
            2 => match call(|| heddle_p2p::test_any(requests)) {
                Any::Completed(..) => left -= 1,
                Any::Pending => {}
                Any::Nothing => panic!("{left} requests are open"),
            },
            3 => match call(|| heddle_p2p::wait_some(requests, |_, outcome| assert_eq!(outcome.error, None)))
            {
                Some_::Completed(count, _) => left -= count,
                Some_::Nothing => panic!("{left} requests are open"),
            },
            4 => match call(|| heddle_p2p::test_some(requests, |_, outcome| assert_eq!(outcome.error, None)))
            {
                Some_::Completed(count, _) => left -= count,
                Some_::Nothing => panic!("{left} requests are open"),
            },
            _ => {
                for request in requests.iter_mut().rev() {
                    while call(|| heddle_p2p::test(request)).is_none() {}
                }
                left = 0;
            }
        }
    }
}

/// Each thread sends one message and receives one from any sender: together they receive all that they sent.
fn first_come(thread: &Thread<'_>, round: usize) {
    let scene = thread.scene;
    let value = thread.seed(scene.rank, round, 7);
    let mut data = Payload::new(8, value);
    let mut room = Payload::room(8);
    let mut request = call(|| heddle_p2p::irecv(&scene.shared, P2P, room.buffer(), ANY_SOURCE, FIRST_COME));
    call(|| heddle_p2p::send(&scene.shared, P2P, data.buffer(), scene.to, FIRST_COME, Mode::Standard));
    let outcome = call(|| heddle_p2p::wait(&mut request));
    assert_eq!((outcome.source, outcome.tag, outcome.bytes), (scene.from, FIRST_COME, 8));
    scene.sent.fetch_add(data.sum(), Ordering::Relaxed);
    scene.received.fetch_add(room.sum(), Ordering::Relaxed);
}

/// Messages that are probed before they are received, some by several threads.
fn probed(thread: &Thread<'_>, round: usize) {
    let scene = thread.scene;
    let len = SIZES[(thread.number + round) % SIZES.len()];
    let tag = PROBED + 1 + thread.number as i32;
    let seed = thread.seed(scene.rank, round, 8);
    let mut data = Payload::new(len, seed);
    let mut request =
        call(|| heddle_p2p::isend(&scene.shared, P2P, data.buffer(), scene.to, tag, Mode::Standard));
    let seen = call(|| heddle_p2p::probe(&scene.shared, scene.from, tag));
    assert_eq!((seen.source, seen.bytes), (scene.from, len as u64));
    let mut room = Payload::room(len);
    let outcome = call(|| heddle_p2p::recv(&scene.shared, P2P, room.buffer(), ANY_SOURCE, tag));
    assert_eq!((outcome.error, outcome.bytes), (None, len as u64));
    room.check(thread.seed(scene.from, round, 8), "a probed message");
    call(|| heddle_p2p::wait(&mut request));

    let mut data = Payload::new(100, 1);
    let mut request =
        call(|| heddle_p2p::isend(&scene.shared, P2P, data.buffer(), scene.to, PROBED, Mode::Standard));
    // All threads probe for the same messages, and each gets one.
    let (message, seen) = if round.is_multiple_of(2) {
        call(|| heddle_p2p::mprobe(&scene.shared, ANY_SOURCE, PROBED))
    } else {
        loop {
            if let Some(found) = call(|| heddle_p2p::improbe(&scene.shared, scene.from, PROBED)) {
                break found;
            }
        }
    };
    let mut room = Payload::room(seen.bytes as usize);
    let outcome = call(|| heddle_p2p::mrecv(message, room.buffer()));
    assert_eq!((outcome.error, outcome.bytes), (None, 100));
    room.check(1, "a matched message");
    call(|| heddle_p2p::wait(&mut request));
}

/// From each thread to the next thread of the next process, in both directions at once.
fn crosswise(thread: &Thread<'_>, round: usize) {
    let scene = thread.scene;
    let next = CROSS + thread.partner as i32;
    let here = CROSS + thread.number as i32;
    for len in [4, 60_000] {
        let mut data = Payload::new(len, round as u64);
        let mut room = Payload::room(len);
        let outcome = call(|| {
            heddle_p2p::sendrecv(
                &scene.shared,
                P2P,
                (data.buffer(), scene.to, next),
                (room.buffer(), scene.from, here),
            )
        });
        assert_eq!((outcome.error, outcome.bytes), (None, len as u64));
        room.check(round as u64, "a message from thread to thread");
        let outcome = call(|| {
            heddle_p2p::sendrecv_replace(&scene.shared, data.buffer(), (scene.to, next), (scene.from, here))
        });
        assert_eq!(outcome.error, None);
        let mut request = call(|| {
            heddle_p2p::isendrecv_replace(&scene.shared, room.buffer(), (scene.to, next), (scene.from, here))
        });
        call(|| heddle_p2p::wait(&mut request));
        room.check(round as u64, "a message in the place of another");
    }
}
