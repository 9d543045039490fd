//! Ports of two ranks of one process, over the loopback.

mod credit;
mod departures;
mod one_sided;
mod stopped_reads;

use super::alike::Alike;
use super::heartbeat::PATIENCE;
use super::listener::{Duties, Listener};
use super::port::{CopyDirection, DEPTH, Lasts, Opened};
use super::signal::Signal;
use super::{LONGEST_PAYLOAD, Outgoing, Port, ProcessInfo, RemoteCopy};
use crate::failure::Failure;
use crate::losses::LOST;
use crate::ring::{Incoming, Offered};
use crate::slot::{EXTRA_BYTES, Envelope, Header};
use crate::throttle::Traffic;
use heddle_bootstrap::LocalRanks;
use heddle_libfabric::{Library, Provider, Wish};
use heddle_platform::atomic::{AtomicU32, Ordering};
use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

const RANKS: u32 = 3;

/// The addresses that the ranks of all tests have left: the rank, the VNI, which is the test's number, and
/// the word.
static WORDS: Mutex<Vec<(u32, usize, String)>> = Mutex::new(Vec::new());

fn word_of(rank: u32, vni: usize) -> Result<String, String> {
    let words = WORDS.lock().expect("no test fails here");
    let found = words.iter().find(|(r, v, _)| (*r, *v) == (rank, vni));
    found.map(|(_, _, word)| word.clone()).ok_or_else(|| format!("rank {rank} has left no word {vni}"))
}

fn fail(failure: &Failure) -> ! {
    panic!("{failure}");
}

fn provider() -> Arc<Provider> {
    let wish = Wish { provider: None, domain: Some("lo".to_owned()) };
    let library = Library::open().expect("libfabric is installed");
    Arc::new(library.provider(&wish, DEPTH).expect("the provider"))
}

thread_local! {
    /// True if the ranks of this thread's test go on without a lost rank.
    static SURVIVES: Cell<bool> = const { Cell::new(false) };
}

/// A listener's duties in a test: it rings, and sends what a port has open.
struct Ringing(mpsc::Sender<()>, Arc<Port>);

impl Duties for Ringing {
    fn ring(&self) {
        let _ = self.0.send(());
    }

    fn has_work(&self) -> bool {
        !self.1.is_at_rest()
    }

    fn longest_wait(&self) -> Option<Duration> {
        self.1.longest_wait()
    }

    fn send_open(&self) {
        self.1.send_open();
    }

    fn send_open_if_free(&self) -> bool {
        self.1.send_open_if_free()
    }
}

/// The choices that all processes here make alike.
const ALIKE: Alike = Alike { vnis: 4, collectives: 7 };

/// The port of a rank whose machine has no other, and its key.
fn port(provider: &Arc<Provider>, rank: u32, test: usize, vnis: usize) -> Port {
    port_with(provider, rank, test, vnis, Box::leak(Box::default()))
}

/// Does the same, with the flag by which the rank throttles its senders.
fn port_with(
    provider: &Arc<Provider>,
    rank: u32,
    test: usize,
    vnis: usize,
    throttle: &'static AtomicU32,
) -> Port {
    let opened = Opened::new(provider, 100 + u64::from(rank)).expect("an endpoint");
    let word = opened.address(Alike { vnis, ..ALIKE }).expect("a name").to_string();
    WORDS.lock().expect("no test fails here").push((rank, test, word));
    let local = Arc::new(LocalRanks::of(vec![rank]));
    let (survives, losses) = (|| SURVIVES.get(), Arc::default());
    let alike = ALIKE;
    let process =
        ProcessInfo { rank, ranks: RANKS, local, alike, word_of, fail, survives, losses, late: None };
    // SAFETY: the flag lives as long as the process.
    unsafe { Port::new(test, process, throttle, Arc::new(Signal::new()), opened) }.expect("a port")
}

fn header(tag: i32) -> Header {
    Header { kind: 1, aux: 0, context: 5, envelope: Envelope::new(0, tag) }
}

/// Sends a message of that many bytes, all of which are `tag`.
fn send(port: &Port, peer: u32, traffic: Traffic, tag: i32, len: usize) -> bool {
    let (header, extra) = (header(tag), [tag as u8; EXTRA_BYTES]);
    let extra = (len > 40).then_some(&extra);
    let message = Outgoing { traffic, header: &header, len, extra };
    // SAFETY: a packet has room for the longest payload.
    port.send(peer, message, |to| unsafe { to.write_bytes(tag as u8, len) })
}

/// Reads what has arrived, and checks it. Returns the tags.
fn read(port: &Port, from: usize) -> Vec<i32> {
    let mut tags = Vec::new();
    port.read(|sender, message| {
        let tag = message.header.envelope.tag();
        assert_eq!((sender, message.header), (from, header(tag)));
        assert!(message.payload().iter().all(|byte| *byte == tag as u8));
        assert!(!message.has_extra() || message.extra() == [tag as u8; EXTRA_BYTES]);
        tags.push(tag);
    });
    tags
}

#[test]
fn a_flood_of_all_lengths_arrives_in_order_and_waits_for_its_reader() {
    const MESSAGES: i32 = 2000;
    let provider = provider();
    let (from, to) = (port(&provider, 0, 0, 4), port(&provider, 1, 0, 4));
    let len = |tag: i32| [0, 8, 40, 41, 1000, 10_000, LONGEST_PAYLOAD][tag as usize % 7];
    let mut sent = 0;
    // A receiver that reads nothing holds up its sender.
    for _ in 0..20_000 {
        sent += i32::from(send(&from, 1, Traffic::Eager, sent, len(sent)));
        from.read(|_, _| panic!("nobody sends to it"));
    }
    assert!((1..200).contains(&sent), "{sent}");
    let mut tags = Vec::new();
    while tags.len() < MESSAGES as usize {
        if sent < MESSAGES && send(&from, 1, Traffic::Eager, sent, len(sent)) {
            sent += 1;
        }
        from.read(|_, _| panic!("nobody sends to it"));
        tags.extend(read(&to, 0));
    }
    assert_eq!(tags, (0..MESSAGES).collect::<Vec<_>>());
    while !from.is_drained() {}
}

/// The provider makes the connection while it is asked before a wait, of which no descriptor tells then.
#[test]
fn a_thread_that_only_waits_sends_what_was_put_off_until_there_was_a_connection() {
    let provider = provider();
    let (from, to) = (port(&provider, 0, 24, 4), port(&provider, 1, 24, 4));
    assert!(send(&from, 1, Traffic::Eager, 9, 8));
    assert_eq!(from.longest_wait(), Some(Duration::from_millis(1)), "there is no connection yet");
    while read(&to, 0).is_empty() {
        from.may_wait();
    }
    assert_eq!(from.longest_wait(), None);
}

#[test]
fn a_receiver_that_throttles_its_senders_gets_only_messages_of_protocols() {
    let provider = provider();
    let throttle: &'static AtomicU32 = Box::leak(Box::default());
    let (from, to) = (port(&provider, 0, 1, 4), port_with(&provider, 1, 1, 4, throttle));
    throttle.store(1, Ordering::Relaxed);
    let (mut sent, mut refused) = (0, false);
    while !refused {
        sent += i32::from(send(&from, 1, Traffic::Eager, sent, 8));
        from.read(|_, _| panic!("nobody sends to it"));
        read(&to, 0);
        refused = from.is_throttled(1);
    }
    assert!(!send(&from, 1, Traffic::Eager, 0, 8));
    assert!(send(&from, 1, Traffic::Protocol, 0, 8));
    throttle.store(0, Ordering::Relaxed);
    // It learns of the end with the credit for later messages.
    while from.is_throttled(1) {
        send(&from, 1, Traffic::Protocol, 0, 8);
        from.read(|_, _| panic!("nobody sends to it"));
        read(&to, 0);
    }
    assert!(send(&from, 1, Traffic::Eager, 0, 8));
}

#[test]
fn fetched_data_is_there_when_its_message_arrives() {
    const LEN: usize = 300_001;
    let provider = provider();
    let owner = Arc::new(port(&provider, 0, 7, 4));
    // So each copy takes several reads.
    let reader = port(&provider, 1, 7, 4).copying_at_most(LEN / 4);
    let mut from: Vec<u8> = (0..LEN).map(|index| (index * 7 + index / 256) as u8).collect();
    // SAFETY: the bytes outlive what is exposed.
    let exposed = unsafe { owner.expose(from.as_mut_ptr(), LEN, Lasts::Shortly) }
        .expect("the provider has remote reads");
    let mut to = vec![vec![0; LEN]; 3];
    for (number, to) in (0u8..).zip(&mut to) {
        let done = (header(number.into()), [number; EXTRA_BYTES]);
        let copy = RemoteCopy {
            direction: CopyDirection::Read,
            peer: 0,
            there: exposed.name(),
            here: to.as_mut_ptr(),
            len: LEN,
            done,
        };
        // SAFETY: the bytes are there until the end of the test, which all messages arrive before.
        assert!(unsafe { reader.copy(copy, true) });
    }
    let mut tags = Vec::new();
    while tags.len() < 3 {
        owner.read(|_, _| panic!("nobody sends to it"));
        // The messages come from the reader itself.
        tags.extend(read(&reader, 1));
    }
    tags.sort_unstable();
    assert_eq!(tags, [0, 1, 2]);
    assert!(to.iter().all(|to| *to == from));
    assert!(reader.is_drained());
}

#[test]
fn threads_stay_awake_while_long_data_is_under_way_and_something_happens() {
    const LONG: Duration = Duration::from_secs(3600);
    let provider = provider();
    let mut data = vec![1; 10_000];
    for (test, awake) in [(15, LONG), (16, Duration::ZERO)] {
        let owner = Arc::new(port(&provider, 0, test, 4).staying_awake(awake));
        let reader = port(&provider, 1, test, 4).staying_awake(awake);
        // The provider may have work of its own first.
        let come_to_rest = |port: &Port| {
            while !port.may_wait() {
                port.is_empty();
            }
        };
        let sleep_or_stay = |port: &Port| {
            if awake == LONG { assert!(!port.may_wait()) } else { come_to_rest(port) }
        };
        come_to_rest(&owner);
        come_to_rest(&reader);
        // SAFETY: the bytes outlive what is exposed.
        let exposed = unsafe { owner.expose(data.as_mut_ptr(), data.len(), Lasts::Shortly) }
            .expect("it has remote reads");
        sleep_or_stay(&owner);
        let mut to = vec![0; data.len()];
        let done = (header(0), [0; EXTRA_BYTES]);
        let copy = RemoteCopy {
            direction: CopyDirection::Read,
            peer: 0,
            there: exposed.name(),
            here: to.as_mut_ptr(),
            len: to.len(),
            done,
        };
        // SAFETY: the bytes are there until the message has arrived.
        assert!(unsafe { reader.copy(copy, true) });
        sleep_or_stay(&reader);
        while read(&reader, 1).is_empty() {
            owner.is_empty();
        }
        drop(exposed);
        come_to_rest(&owner);
        come_to_rest(&reader);
        assert_eq!(to, data);
    }
}

#[test]
fn strangers_are_counted_and_not_read() {
    let provider = provider();
    let (stranger, to) = (port(&provider, 0, 2, 4), port(&provider, 1, 2, 4));
    // Another key than that of the receiver, which a stranger cannot know.
    for word in WORDS.lock().expect("no test fails here").iter_mut() {
        if (word.0, word.1) == (1, 2) {
            word.2 = word.2.replace(":65:", ":66:");
        }
    }
    while to.strangers() < 3 {
        send(&stranger, 1, Traffic::Eager, 0, 8);
        stranger.read(|_, _| panic!("nobody sends to it"));
        assert_eq!(read(&to, 0), []);
    }
}

#[test]
#[should_panic(expected = "it has 3 VNIs and this process has 4: set HEDDLE_VNIS")]
fn a_rank_with_another_number_of_vnis_is_refused() {
    let provider = provider();
    let (from, _to) = (port(&provider, 0, 3, 4), port(&provider, 1, 3, 3));
    send(&from, 1, Traffic::Eager, 0, 8);
}

#[test]
#[should_panic(
    expected = "its algorithms of collective operations are others than this process's: set HEDDLE_COLLECTIVES"
)]
fn a_rank_with_other_collective_operations_is_refused() {
    let from = port(&provider(), 0, 40, 4);
    from.know(1, "4:8:1::00:there:tcp");
    send(&from, 1, Traffic::Eager, 0, 8);
}

#[test]
#[should_panic(expected = "its network is verbs;ofi_rxm of libfabric and this process's is ")]
fn a_rank_in_another_network_is_refused() {
    let from = port(&provider(), 0, 22, 4);
    from.know(1, "4:7:1::00:there:verbs+ofi_rxm");
    send(&from, 1, Traffic::Eager, 0, 8);
}

#[test]
#[should_panic(expected = "rank 2 on another machine cannot be reached: rank 2 has left no word")]
fn a_rank_without_an_address_is_named() {
    let from = port(&provider(), 0, 4, 4);
    send(&from, 2, Traffic::Eager, 0, 8);
}

/// Two ports that have exchanged messages.
fn acquainted(test: usize) -> (Port, Port) {
    let provider = provider();
    let (one, other) = (port(&provider, 0, test, 4), port(&provider, 1, test, 4));
    let (mut here, mut there) = (0, 0);
    let (mut sent_here, mut sent_there) = (false, false);
    while here + there < 2 {
        sent_here = sent_here || send(&one, 1, Traffic::Eager, 0, 8);
        sent_there = sent_there || send(&other, 0, Traffic::Eager, 0, 8);
        there += read(&other, 0).len();
        here += read(&one, 1).len();
    }
    (one, other)
}

const SILENCE: Duration = Duration::from_secs(7);

#[test]
fn ports_that_beat_do_not_lose_each_other() {
    let (one, other) = acquainted(8);
    for _ in 0..10 * PATIENCE {
        one.beat(SILENCE);
        other.beat(SILENCE);
    }
}

#[test]
#[should_panic(expected = "cannot be reached: it was silent for 7 s (HEDDLE_PEER_TIMEOUT)")]
fn a_silent_rank_is_lost() {
    let (one, _other) = acquainted(9);
    for _ in 0..10 * PATIENCE {
        one.beat(SILENCE);
    }
}

/// Reads the messages of a port to itself that say that a rank is lost, and returns the ranks.
fn read_losses(port: &Port, rank: usize) -> Vec<u8> {
    let mut lost = Vec::new();
    port.read(|sender, message| {
        assert_eq!((sender, message.header.kind), (rank, LOST));
        lost.push(message.payload()[0]);
    });
    lost
}

#[test]
fn a_port_that_survives_a_loss_says_so_and_drops_what_it_had() {
    SURVIVES.set(true);
    let (one, other) = acquainted(13);
    // A packet that is left open, and messages until the peer's credit is used up.
    one.signal().listener_is_there();
    while send(&one, 1, Traffic::Eager, 0, 100) {}
    (0..2 * PATIENCE).for_each(|_| one.beat(SILENCE));
    assert_eq!(read_losses(&one, 0), [1]);
    assert_eq!(read_losses(&one, 0), [], "it is said once");
    assert!(!send(&one, 1, Traffic::Protocol, 0, 8));
    assert!(one.is_drained() && one.is_empty() && one.acquaintances().is_empty());
    // Packets of the lost rank, which comes back, are dropped, and their buffers are not lost.
    for round in 0..200 {
        for _ in 0..200 {
            send(&other, 0, Traffic::Eager, round, 100);
            other.is_empty();
            assert_eq!(read_losses(&one, 0), []);
        }
    }
}

#[test]
fn a_rank_that_leaves_is_not_missed_until_it_sends_again() {
    let (one, other) = acquainted(10);
    other.set_leaves(true);
    while !other.is_drained() {
        one.is_empty();
    }
    (0..10 * PATIENCE).for_each(|_| one.beat(SILENCE));
    other.set_leaves(false);
    while read(&one, 1).is_empty() {
        send(&other, 0, Traffic::Eager, 0, 8);
        other.is_empty();
    }
    let lost =
        std::panic::catch_unwind(AssertUnwindSafe(|| (0..2 * PATIENCE).for_each(|_| one.beat(SILENCE))));
    assert!(lost.is_err(), "nobody missed it");
}

#[test]
fn messages_behind_the_first_share_a_packet_that_a_poll_or_the_listener_sends() {
    let (from, to) = acquainted(11);
    // A listener that does nothing by itself.
    from.signal().listener_is_there();
    for round in 0..3 {
        from.is_empty();
        (0..100).for_each(|tag| assert!(send(&from, 1, Traffic::Eager, tag, 8)));
        let mut tags = Vec::new();
        while tags.is_empty() {
            tags = read(&to, 0);
        }
        // The others are in the sender's buffer, however often the receiver polls.
        (0..1000).for_each(|_| tags.extend(read(&to, 0)));
        assert_eq!(tags, [0]);
        assert!(if round == 0 { from.send_open() } else { !from.is_empty() });
        while tags.len() < 100 {
            tags.extend(read(&to, 0));
        }
        assert_eq!(tags, (0..100).collect::<Vec<_>>());
    }
    // A long one leaves with those before it.
    (0..3).for_each(|tag| assert!(send(&from, 1, Traffic::Eager, tag, if tag == 2 { 10_000 } else { 8 })));
    let mut tags = Vec::new();
    while tags.len() < 3 {
        tags.extend(read(&to, 0));
    }
    assert_eq!(tags, [0, 1, 2]);
}

#[test]
fn the_listener_does_not_wait_for_a_port_that_is_in_use() {
    let (from, to) = acquainted(17);
    from.signal().listener_is_there();
    (0..2).for_each(|tag| assert!(send(&from, 1, Traffic::Eager, tag, 8)));
    let (answer, answered) = mpsc::channel();
    let message = Outgoing { traffic: Traffic::Eager, header: &header(2), len: 0, extra: None };
    std::thread::scope(|scope| {
        let in_use = |_| {
            scope.spawn(|| answer.send(from.send_open_if_free()));
            let sent = answered.recv_timeout(Duration::from_secs(60));
            assert_eq!(sent, Ok(false), "it waits");
        };
        assert!(from.send(1, message, in_use));
    });
    assert!(from.send_open_if_free(), "a packet is open");
    let mut tags = Vec::new();
    while tags.len() < 3 {
        tags.extend(read(&to, 0));
    }
    assert_eq!(tags, [0, 1, 2]);
}

#[test]
fn packets_of_many_messages_can_be_read_one_by_one() {
    let (from, to) = acquainted(12);
    from.signal().listener_is_there();
    (0..50).for_each(|tag| assert!(send(&from, 1, Traffic::Eager, tag, 8)));
    from.send_open();
    let (mut tags, mut refused) = (Vec::new(), 0);
    while tags.len() < 50 {
        let seen = Cell::new(None);
        let take = |message: &Incoming| {
            seen.set(Some(message.header.envelope.tag()));
            refused % 2 == 1
        };
        match to.offer(take) {
            Offered::Nothing => {}
            Offered::Refused => refused += 1,
            Offered::Taken => {
                refused += 1;
                tags.extend(seen.get());
            }
        }
    }
    assert_eq!(tags, (0..50).collect::<Vec<_>>());
}

#[test]
fn a_message_makes_the_listener_ring_for_a_sleeper() {
    let provider = provider();
    let (from, to) = (port(&provider, 0, 6, 4), Arc::new(port(&provider, 1, 6, 4)));
    let listener =
        Listener::new(Arc::new(Signal::new()), Some(vec![to.wait_descriptor().expect("tcp has one")]));
    let (rings, rung) = mpsc::channel();
    assert!(listener.start(None, Ringing(rings, Arc::clone(&to))));
    for round in 0..3 {
        // Nothing is left to poll for, so the sleeper may sleep.
        while !(to.is_empty() && to.may_wait()) {}
        assert!(listener.arm());
        while !send(&from, 1, Traffic::Eager, round, 8) {}
        // The sender polls until it is connected; the sleeper polls only when it is rung for.
        let (mut tags, mut waits) = (Vec::new(), 0);
        while tags.is_empty() {
            waits += 1;
            assert!(waits < 20_000, "nobody rings");
            from.read(|_, _| panic!("nobody sends to it"));
            if rung.recv_timeout(Duration::from_millis(1)).is_ok() {
                tags = read(&to, 0);
                listener.arm();
            }
        }
        assert_eq!(tags, [round]);
    }
}
