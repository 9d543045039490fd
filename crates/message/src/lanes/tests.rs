//! Messages that several threads send in a known order are received in that order, by tag, and from the first
//! wildcard on all of them.

use super::begin;
use crate::buffer::Buffer;
use crate::mapping::NAMED;
use crate::matching::Key;
use crate::request::{self, Found, RequestId, RequestKind};
use crate::spread::{SpreadBy, Spreading};
use crate::vni::{Direct, INLINE_BYTES, SendArgs, Vni, eager_header};
use heddle_bootstrap::JobControl;
use heddle_model::{Attempt, Model, Refusal};
use heddle_platform::atomic::{AtomicBool, AtomicU32, Ordering};
use heddle_settings::SpreadRule;
use heddle_spec::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG};
use heddle_transport::Fabric;
use std::sync::Arc;
use std::thread;

const VNIS: usize = 4;
const THREADS: u32 = 3;
/// A context whose home is VNI 2.
const CONTEXT: u64 = 2 << 6;
const HOME: usize = 2;

/// The VNIs of some ranks.
fn ranks<const N: usize>(rule: SpreadRule) -> [&'static [Vni]; N] {
    let job = JobControl::create(N as u32).expect("the memory of a job");
    std::array::from_fn(|rank| {
        let world = job.world_of(rank as u32).expect("the job is there");
        let fabric = Fabric::attach(&world, VNIS).expect("a segment");
        let spreading = Arc::new(Spreading::by(rule, &fabric));
        let sections = Arc::new(Model::default().sections(true));
        let vni = |index| Vni::spreading(&fabric, index, &sections, usize::MAX, Arc::clone(&spreading));
        let vnis: &'static [Vni] = (0..VNIS).map(vni).collect::<Vec<_>>().leak();
        begin(vnis, &fabric);
        vnis
    })
}

/// A thread of a test has panicked.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// Says so for the thread that has it: the others would wait for that one for ever.
struct TellsOthers;

impl Drop for TellsOthers {
    fn drop(&mut self) {
        if thread::panicking() {
            // Relaxed: only the flag is of interest.
            HAS_PANICKED.store(true, Ordering::Relaxed);
        }
    }
}

fn poll(vnis: &[Vni]) {
    assert!(!HAS_PANICKED.load(Ordering::Relaxed), "another thread has panicked");
    let mut happened = false;
    for vni in vnis {
        happened |= vni.progress();
    }
    if !happened {
        thread::yield_now();
    }
}

fn tag_of(number: u32) -> i32 {
    (number % THREADS) as i32
}

/// Sends message `number`, of `len` bytes, from rank 0; returns its request if it is not complete.
fn send(vnis: &[Vni], number: u32, len: usize) -> Option<RequestId> {
    let data = Box::leak(vec![0; len].into_boxed_slice());
    data[..4].copy_from_slice(&number.to_ne_bytes());
    // SAFETY: the bytes are never freed.
    let buffer = unsafe { Buffer::bytes(data.as_mut_ptr(), len) };
    let (tag, synchronous) = (tag_of(number), number % 7 == 6);
    let args = SendArgs { buffer, peer: 1, context: CONTEXT, source: 0, tag, synchronous, keep: None };
    let request = || request::take(HOME as u32, 0, RequestKind::Send);
    if len <= INLINE_BYTES && !synchronous {
        let header = eager_header(CONTEXT, 0, tag);
        for attempt in [Attempt::Bias, Attempt::Lock] {
            // SAFETY: the bytes are valid, and the receiver is another rank.
            let sent = unsafe { vnis[HOME].send_express(attempt, 1, &header, data.as_ptr(), len) };
            match sent {
                Ok(()) => return None,
                Err(Refusal::Busy) => {}
                Err(Refusal::Unfit | Refusal::OnLane) => break,
            }
        }
    }
    if number.is_multiple_of(2) {
        return vnis[HOME].send(args, request).expect("a request");
    }
    let id = request().expect("a request");
    vnis[HOME].send_into(id, args);
    Some(id)
}

/// A receive that was posted, and its data.
struct Posted(RequestId, &'static [u8]);

impl Posted {
    fn new(vnis: &[Vni], source: i32, tag: i32, len: usize) -> Posted {
        let id = request::take(HOME as u32, 0, RequestKind::Receive).expect("a request");
        let data: &'static mut [u8] = Box::leak(vec![0; len].into_boxed_slice());
        // SAFETY: new, and not issued yet.
        let in_flight = unsafe { request::in_flight(id) };
        // SAFETY: the bytes are never freed.
        in_flight.buffer = unsafe { Buffer::bytes(data.as_mut_ptr(), len) };
        in_flight.context = CONTEXT;
        vnis[HOME].receive(id, Key::new(CONTEXT, source, tag));
        Posted(id, data)
    }

    fn of(handle: usize, data: &'static [u8]) -> Posted {
        let Ok(Found::Slot(id)) = request::find(handle) else { panic!("the handle of a request") };
        Posted(id, data)
    }

    /// The number of the message.
    fn wait(self, vnis: &[Vni]) -> u32 {
        while !request::is_complete(self.0) {
            poll(vnis);
        }
        let (outcome, _) = request::consume(self.0).expect("no other thread took it");
        assert_eq!(outcome.error, None);
        number_in(self.1)
    }
}

/// Receives from rank 0 by the express path, if it takes the message: in a blocking call, or by a request;
/// otherwise, or if `way` is neither, by the general one.
fn receive_by_tag(vnis: &[Vni], tag: i32, len: usize, way: u32) -> u32 {
    let data: &'static mut [u8] = Box::leak(vec![0; len].into_boxed_slice());
    // SAFETY: the bytes are never freed.
    let buffer = unsafe { Buffer::bytes(data.as_mut_ptr(), len) };
    let (home, key) = (&vnis[HOME], Key::new(CONTEXT, 0, tag));
    match way {
        0 => {
            let on_lane = || home.take_express_on_lane(0, &key, buffer);
            let taken = home.take_express(Attempt::Lock, &key, buffer, None).or_else(|_| on_lane());
            if let Ok((envelope, bytes)) = taken {
                assert_eq!((envelope.source(), envelope.tag(), bytes), (0, tag, len));
                return number_in(data);
            }
        }
        1 => {
            let on_lane = || home.receive_express_on_lane(0, &key, buffer, 0);
            let posted = home.receive_express(Attempt::Lock, &key, buffer, 0, None).or_else(|_| on_lane());
            if let Ok(handle) = posted {
                return Posted::of(handle, data).wait(vnis);
            }
        }
        _ => {}
    }
    Posted::new(vnis, 0, tag, len).wait(vnis)
}

/// The number of the message with this data.
fn number_in(data: &[u8]) -> u32 {
    u32::from_ne_bytes(std::array::from_fn(|at| data[at]))
}

/// Threads of rank 0 send `count` messages by turns. Rank 1 receives the first `exact` by their tags, and the
/// others by wildcards.
fn in_turns(rule: SpreadRule, len: usize, exact: u32, count: u32, source: i32, ahead: usize) {
    let [sender, receiver] = ranks(rule);
    let (turn, done) = (AtomicU32::new(0), AtomicU32::new(0));
    let sends = |mine: u32| {
        let _tells = TellsOthers;
        let mut pending = Vec::new();
        for number in (mine..count).step_by(THREADS as usize) {
            while turn.load(Ordering::Acquire) != number {
                poll(sender);
            }
            pending.extend(send(sender, number, len));
            turn.store(number + 1, Ordering::Release);
        }
        while !pending.iter().all(|id| request::is_complete(*id)) {
            poll(sender);
        }
        pending.into_iter().for_each(|id| _ = request::consume(id).expect("no other thread took it"));
        done.fetch_add(1, Ordering::Release);
    };
    thread::scope(|scope| {
        let _tells = TellsOthers;
        for thread in 0..THREADS {
            let sends = &sends;
            scope.spawn(move || sends(thread));
        }
        for tag in 0..THREADS {
            for number in (tag..exact).step_by(THREADS as usize) {
                let got = receive_by_tag(receiver, tag as i32, len, number % 3);
                assert_eq!(got, number, "by tag: {rule:?}, {len} bytes");
            }
        }
        let mut posted = std::collections::VecDeque::new();
        for number in exact..count {
            while posted.len() < ahead.min((count - number) as usize) {
                posted.push_back(Posted::new(receiver, source, MPI_ANY_TAG, len));
            }
            let got = posted.pop_front().map(|first| first.wait(receiver));
            assert_eq!(got, Some(number), "by wildcard: {rule:?}, {len} bytes, {exact} by tag");
        }
        // Answers to the sender may wait for room.
        while done.load(Ordering::Acquire) != THREADS {
            poll(receiver);
        }
    });
    for vnis in [sender, receiver] {
        while !vnis.iter().all(|vni| vni.is_drained() && !vni.has_offers()) {
            poll(sender);
            poll(receiver);
        }
    }
}

/// Messages that were sent together come before those that were spread, also if both are gathered.
#[test]
fn messages_that_were_together_keep_their_order() {
    let [sender, receiver] = ranks(SpreadRule::Contended);
    let count = 30;
    for number in 0..count {
        if number == count / 2 {
            while receiver[HOME].progress() {}
            sender[HOME].spread_to(1, SpreadBy::Tag);
        }
        assert_eq!(send_with_tag(sender, number, (number % 5) as i32), None, "there is room");
    }
    (0..10).for_each(|_| poll(receiver));
    for number in 0..count {
        let posted = Posted::new(receiver, 0, MPI_ANY_TAG, 4);
        assert_eq!(posted.wait(receiver), number);
    }
}

fn send_express_on_lane(vnis: &[Vni], number: u32, tag: i32, len: usize) -> Result<(), Refusal> {
    let to = vnis[HOME].peer_apart(1).expect("its channel");
    let data: &mut [u8; INLINE_BYTES] = Box::leak(Box::new([0; INLINE_BYTES]));
    data[..4].copy_from_slice(&number.to_ne_bytes());
    let header = eager_header(CONTEXT, 0, tag);
    // SAFETY: the bytes are never freed.
    unsafe { vnis[HOME].send_express_on_lane((to, 1), &header, data.as_ptr(), len) }
}

/// Small messages take the express path on their lanes, from the notice of the sender on until the first
/// wildcard.
#[test]
fn the_express_path_goes_on_lanes_while_messages_are_spread() {
    const TAG: i32 = 1;
    let [sender, receiver] = ranks(SpreadRule::Always);
    let key = Key::new(CONTEXT, 0, TAG);
    let bytes: &'static mut [u8] = Box::leak(Box::new([0; 8]));
    // SAFETY: the bytes are never freed.
    let buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), 4) };
    let send = |number, len| send_express_on_lane(sender, number, TAG, len);
    let take = || receiver[HOME].take_express_on_lane(0, &key, buffer).map(|_| number_in(bytes));

    assert_eq!(send(0, 4), Err(Refusal::Unfit), "they are not spread yet");
    assert_eq!(send_with_tag(sender, 0, TAG), None, "there is room");
    assert_eq!(send(1, 4), Ok(()));
    assert_eq!(take(), Err(Refusal::Unfit), "the receiver has not read the notice");
    (0..10).for_each(|_| poll(receiver));
    // From then on the thread has requests at hand.
    assert_eq!(Posted::new(receiver, 0, TAG, 4).wait(receiver), 0);
    assert_eq!(take(), Ok(1), "it was unexpected");
    assert_eq!(take(), Err(Refusal::Unfit), "there is none");
    for number in [2, 3] {
        assert_eq!(send(number, 4), Ok(()));
    }
    assert_eq!(take(), Ok(2), "from the ring");
    let lane = receiver[HOME].lane_from(0, &key).expect("they are spread");
    let directly = || receiver[HOME].receive_directly_on_lane(9, (0, lane), key, buffer);
    assert!(matches!(directly(), Direct::Received(..)));
    assert_eq!(number_in(bytes), 3);
    assert!(matches!(directly(), Direct::Nothing));

    assert_eq!(send(3, INLINE_BYTES), Err(Refusal::Unfit), "with its stamp it is too long for a slot");
    assert_eq!(send(3, 8), Ok(()));
    assert_eq!(take(), Err(Refusal::Unfit), "it is too long for the buffer");
    let data: &'static mut [u8] = Box::leak(Box::new([0; 8]));
    // SAFETY: the bytes are never freed.
    let room = unsafe { Buffer::bytes(data.as_mut_ptr(), 8) };
    let handle = receiver[HOME].receive_express_on_lane(0, &key, room, 0).expect("a request");
    assert_eq!(Posted::of(handle, data).wait(receiver), 3);

    assert_eq!(send(4, 4), Ok(()));
    assert_eq!(Posted::new(receiver, MPI_ANY_SOURCE, MPI_ANY_TAG, 4).wait(receiver), 4);
    assert_eq!(send(5, 4), Ok(()), "the sender has not heard of the wildcard");
    assert_eq!(take(), Err(Refusal::Unfit), "it comes home");
    assert!(matches!(directly(), Direct::Ordinary));
    (0..10).for_each(|_| poll(sender));
    assert_eq!(send(6, 4), Err(Refusal::Unfit), "it has heard");
    assert_eq!(Posted::new(receiver, 0, TAG, 4).wait(receiver), 5);
}

/// A communicator with hints has its messages on one VNI, also if that is a home whose messages are spread.
#[test]
fn the_express_path_leaves_a_communicator_with_hints_at_home() {
    let [sender, receiver] = ranks(SpreadRule::Always);
    assert_eq!(send_with_tag(sender, 0, 1), None, "there is room");
    assert_eq!(Posted::new(receiver, 0, 1, 4).wait(receiver), 0);
    let hinted = CONTEXT | NAMED;
    let to = sender[HOME].peer_apart(1).expect("its channel");
    assert!(to.is_spread());
    let bytes: &'static mut [u8] = Box::leak(Box::new([7; 4]));
    // SAFETY: the bytes are never freed.
    let buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), 4) };
    let header = eager_header(hinted, 0, 1);
    // SAFETY: the bytes are never freed.
    let sent = unsafe { sender[HOME].send_express_on_lane((to, 1), &header, bytes.as_ptr(), 4) };
    assert_eq!(sent, Err(Refusal::Unfit));
    let key = Key::new(hinted, 0, 1);
    assert_eq!(receiver[HOME].receive_express_on_lane(0, &key, buffer, 0).err(), Some(Refusal::Unfit));
    assert!(receiver[HOME].lane_from(0, &key).is_none());
}

/// The receiver has its sender spread messages, once, and not after a wildcard.
#[test]
fn a_receiver_asks_its_sender_to_spread_messages() {
    let [sender, receiver] = ranks(SpreadRule::Contended);
    let (home, key) = (&receiver[HOME], Key::new(CONTEXT, 0, 1));
    let is_spread = |by: &[Vni], to| by[HOME].peer_apart(to).expect("its channel").is_spread();
    let poll_both = || (0..10).for_each(|_| [sender, receiver].into_iter().for_each(poll));
    assert_eq!(send_with_tag(sender, 0, 1), None, "there is room");
    home.receives_change(0, &key, SpreadBy::Tag);
    poll_both();
    assert!(!is_spread(sender, 1), "no threads take turns");
    home.ask_to_spread(0, &Key::new(CONTEXT | 1, 0, 1), SpreadBy::Tag);
    poll_both();
    assert!(!is_spread(sender, 1), "messages of a collective operation are not spread");
    home.ask_to_spread(0, &key, SpreadBy::Tag);
    poll_both();
    assert!(is_spread(sender, 1));
    assert_eq!(send_with_tag(sender, 1, 1), None, "there is room");
    assert_eq!([0, 1].map(|_| Posted::new(receiver, 0, 1, 4).wait(receiver)), [0, 1]);

    // The other way a wildcard came first.
    let posted = Posted::new(sender, MPI_ANY_SOURCE, MPI_ANY_TAG, 4);
    sender[HOME].ask_to_spread(0, &Key::new(CONTEXT, 1, 1), SpreadBy::Tag);
    poll_both();
    assert!(!is_spread(receiver, 0));
    sender[HOME].cancel_receive(posted.0);
    request::consume(posted.0).expect("it was cancelled");
}

/// Threads that have a peer each, and all the same tag, have a lane each.
#[test]
fn messages_of_one_tag_are_spread_by_their_sources() {
    const TAG: i32 = 1;
    let [first, second, receiver] = ranks(SpreadRule::Contended);
    let senders = [first, second];
    let lane = |source| receiver[HOME].lane_from(source as usize, &Key::new(CONTEXT, source, TAG));
    let send = |source: i32, number| {
        let sent = send_as((source, 2), senders[source as usize], number, TAG);
        assert_eq!(sent, None, "there is room");
    };
    let poll_all = || (0..10).for_each(|_| [first, second, receiver].into_iter().for_each(poll));
    for source in [0, 1] {
        send(source, 0);
        receiver[HOME].ask_to_spread(0, &Key::new(CONTEXT, source, TAG), SpreadBy::TagAndSource);
    }
    poll_all();
    let lanes = [0, 1].map(|source| lane(source).expect("they are spread").number());
    assert_ne!(lanes[0], lanes[1]);
    for source in [0, 1] {
        (1..4).for_each(|number| send(source, number));
    }
    for (number, source) in (0..4).flat_map(|number| [(number, 1), (number, 0)]) {
        assert_eq!(Posted::new(receiver, source, TAG, 4).wait(receiver), number);
    }
    // By the express path as well.
    for source in [0, 1] {
        let to = senders[source as usize][HOME].peer_apart(2).expect("its channel");
        let data: &[u8; INLINE_BYTES] = Box::leak(Box::new([7; INLINE_BYTES]));
        let header = eager_header(CONTEXT, source, TAG);
        // SAFETY: the bytes are never freed.
        let sent = unsafe {
            senders[source as usize][HOME].send_express_on_lane((to, 2), &header, data.as_ptr(), 4)
        };
        assert_eq!(sent, Ok(()));
        let into: &'static mut [u8] = Box::leak(Box::new([0; 4]));
        // SAFETY: the bytes are never freed.
        let buffer = unsafe { Buffer::bytes(into.as_mut_ptr(), 4) };
        let key = Key::new(CONTEXT, source, TAG);
        let taken = receiver[HOME].take_express_on_lane(source as usize, &key, buffer);
        assert_eq!(taken.map(|(envelope, bytes)| (envelope.source(), bytes)), Ok((source, 4)));
    }
    // The first wildcard brings them home.
    send(0, 4);
    assert_eq!(Posted::new(receiver, MPI_ANY_SOURCE, TAG, 4).wait(receiver), 4);
}

/// A sender fills one lane, and then uses another one. It goes on before the receiver looks, or afterwards.
fn full_lane_then_another(exact: u32) {
    let [sender, receiver] = ranks(SpreadRule::Always);
    assert_eq!(send_with_tag(sender, 0, 1), None, "there is room");
    let (mut count, mut waiting) = (1, Vec::new());
    // The last ones of tag 0 wait for room, so the last one of all, of tag 1, does.
    while waiting.len() < 3 {
        waiting.extend(send_with_tag(sender, count, 0));
        count += 1;
    }
    assert_eq!(send_express_on_lane(sender, count, 1, 4), Err(Refusal::Unfit), "it would go past them");
    waiting.push(send_with_tag(sender, count, 1).expect("it waits behind those of the other lane"));
    for number in 0..=count {
        let tag = if number < exact { i32::from(number == 0) } else { MPI_ANY_TAG };
        let posted = Posted::new(receiver, 0, tag, 4);
        while !request::is_complete(posted.0) {
            poll(sender);
            poll(receiver);
        }
        assert_eq!(posted.wait(receiver), number, "{exact} by tag");
    }
    for id in waiting {
        request::consume(id).expect("it was sent");
    }
}

fn send_with_tag(vnis: &[Vni], number: u32, tag: i32) -> Option<RequestId> {
    send_as((0, 1), vnis, number, tag)
}

/// Sends a number from a rank to another one.
fn send_as((source, peer): (i32, usize), vnis: &[Vni], number: u32, tag: i32) -> Option<RequestId> {
    let data = Box::leak(Box::new(number.to_ne_bytes()));
    // SAFETY: the bytes are never freed.
    let buffer = unsafe { Buffer::bytes(data.as_mut_ptr(), 4) };
    let args = SendArgs { buffer, peer, context: CONTEXT, source, tag, synchronous: false, keep: None };
    vnis[HOME].send(args, || request::take(HOME as u32, 0, RequestKind::Send)).expect("a request")
}

#[test]
fn a_message_waits_behind_those_that_found_no_room_in_another_lane() {
    [0, 1, 100].into_iter().for_each(full_lane_then_another);
}

/// Numbers of bytes, one for each protocol, and of messages.
const SIZES: [(usize, u32); 4] = [(4, 1500), (40, 300), (4000, 300), (400_000, 24)];

#[test]
fn messages_are_received_in_their_order_by_tag() {
    for (len, count) in SIZES {
        for rule in [SpreadRule::Never, SpreadRule::Contended, SpreadRule::Always] {
            in_turns(rule, len, count, count, 0, 1);
        }
    }
}

#[test]
fn messages_are_received_in_their_order_after_a_wildcard() {
    for (len, count) in SIZES {
        for exact in [0, count / 2] {
            for (source, ahead) in [(0, 1), (MPI_ANY_SOURCE, 5)] {
                for rule in [SpreadRule::Contended, SpreadRule::Always] {
                    in_turns(rule, len, exact, count, source, ahead);
                }
            }
        }
    }
}
