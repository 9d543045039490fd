//! A peer that writes garbage into a ring: the reader stays within the ring, or refuses the
//! message and names the peer.

use crate::failure::Peer;
use crate::ring::tests::{ends, header};
use crate::ring::{Consumer, Credits, Producer, RingMemory};
use crate::slot::{CELL_BYTES, EXTRA_BYTES, INLINE_BYTES};
use crate::throttle::Traffic;
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

const PAGE: usize = 4096;
const SLOTS: usize = 8;
const BULK: u64 = PAGE as u64;

/// A ring between pages without access: a read or write outside of it crashes.
struct Guarded {
    base: *mut u8,
    memory: RingMemory,
}

impl Guarded {
    fn new() -> Guarded {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe { libc::mmap(ptr::null_mut(), 4 * PAGE, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        let base: *mut u8 = base.cast();
        let inside = base.wrapping_add(PAGE);
        // SAFETY: pages of the mapping just made.
        let status = unsafe { libc::mprotect(inside.cast(), 2 * PAGE, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(status, 0);
        let bulk = inside.wrapping_add(PAGE);
        let cells = bulk.wrapping_sub(SLOTS * 2 * CELL_BYTES);
        let credits: *const Credits = inside.cast();
        let cells = (cells.cast(), 2 * SLOTS as u64);
        let memory = RingMemory::new(credits, cells, (bulk, BULK), Box::leak(Box::default()));
        Guarded { base, memory }
    }

    /// Writes a word into the ring's slots.
    fn write(&self, at: usize, word: u64) {
        let place = self.memory.cells.cast::<u64>().wrapping_add(at % (SLOTS * 8));
        // SAFETY: inside the slots.
        unsafe { place.write_unaligned(word) };
    }

    fn contains(&self, bytes: &[u8]) -> bool {
        let (begin, end) = (self.memory.cells.addr(), self.memory.bulk.addr() + PAGE);
        bytes.as_ptr().addr() >= begin && bytes.as_ptr().addr() + bytes.len() <= end
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; the ends of the ring are gone.
        unsafe { libc::munmap(self.base.cast(), 4 * PAGE) };
    }
}

#[derive(Debug, Clone)]
enum Step {
    /// A correct sender sends.
    Send { len: usize },
    /// A word is written anywhere.
    Scribble { at: usize, word: u64 },
    /// A flag word is written that the reader takes for its next message, with words in the rest of the slot.
    Forge { len: u8, payload: u64, position: u64 },
    /// The reader takes a message.
    Take,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Numbers that are nearly right find more than those that are wholly wrong.
    let near = || prop_oneof![0..3 * BULK, any::<u64>(), (0..64u64).prop_map(|lines| lines * 64)];
    let len = prop_oneof![Just(0xff_u8), Just(0xfe), 0..64_u8, any::<u8>()];
    let step = prop_oneof![
        4 => (0..=BULK as usize / 4).prop_map(|len| Step::Send { len }),
        4 => (0..=INLINE_BYTES).prop_map(|len| Step::Send { len }),
        1 => (any::<usize>(), any::<u64>()).prop_map(|(at, word)| Step::Scribble { at, word }),
        1 => (len, near(), near()).prop_map(|(len, payload, position)| Step::Forge { len, payload, position }),
        6 => Just(Step::Take),
    ];
    prop::collection::vec(step, 1..80)
}

fn send(producer: &mut Producer, len: usize) {
    // SAFETY: `fill` gets room for the bytes announced.
    let fill = |to: *mut u8| unsafe { to.write_bytes(len as u8, len) };
    if len <= INLINE_BYTES {
        producer.send_inline(&header(1), len, fill);
    } else {
        producer.send_bulk(Traffic::Eager, &header(1), len, &[0; EXTRA_BYTES], |to, _| fill(to));
    }
}

/// Takes a message if there is one, reads all of it, and says whether there was one.
fn take(ring: &Guarded, consumer: &mut Consumer) -> bool {
    consumer.take(|message| {
        assert!(ring.contains(message.payload()), "{message:?} lies outside the ring");
        std::hint::black_box(message.payload().iter().map(|byte| u64::from(*byte)).sum::<u64>());
        std::hint::black_box(message.extra());
    })
}

/// Runs the steps. Returns the text of the refusal, if there was one.
fn run(steps: &[Step]) -> Option<String> {
    let ring = Guarded::new();
    let (mut producer, mut consumer) = ends(ring.memory);
    consumer.peer = Peer { rank: 3, fail: |failure| resume_unwind(Box::new(failure.to_string())) };
    let body = || {
        for step in steps {
            match *step {
                Step::Send { len } => send(&mut producer, len),
                Step::Scribble { at, word } => ring.write(at, word),
                Step::Forge { len, payload, position } => {
                    let next = consumer.next();
                    let at = next as usize % (2 * SLOTS) * CELL_BYTES / 8;
                    ring.write(at + 3, payload);
                    ring.write(at + 4, position);
                    ring.write(at, u64::from(ring.memory.lap(next)) | u64::from(len) << 40);
                }
                Step::Take => _ = take(&ring, &mut consumer),
            }
        }
        // This ends: the laps of the flags bound the rest.
        (0..4 * SLOTS).take_while(|_| take(&ring, &mut consumer)).count()
    };
    let ended = catch_unwind(AssertUnwindSafe(body));
    ended.err().map(|refused| *refused.downcast::<String>().unwrap_or_else(|other| resume_unwind(other)))
}

/// The number of random cases: that of `PROPTEST_CASES`, which the long form of the tests sets, or `usual`.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(4000)))]

    #[test]
    fn garbage_is_refused_with_the_peer_s_name_or_stays_in_the_ring(steps in steps()) {
        if let Some(text) = run(&steps) {
            prop_assert!(text.starts_with("rank 3 has written"), "{text}");
        }
    }

    #[test]
    fn messages_of_correct_senders_are_never_refused(steps in steps()) {
        let honest: Vec<Step> =
            steps.into_iter().filter(|step| matches!(step, Step::Send { .. } | Step::Take)).collect();
        prop_assert_eq!(run(&honest), None);
    }
}

/// The text of the refusal of a forged message at the beginning of a ring.
fn refusal_of(len: u8, payload: u64, position: u64) -> String {
    run(&[Step::Forge { len, payload, position }]).expect("it is refused")
}

#[test]
fn a_refusal_says_why() {
    for (text, says) in [
        (refusal_of(41, 0, 0), "a slot is said to hold 41 bytes"),
        (refusal_of(0xfd, 0, 0), "253 bytes"),
        (refusal_of(0xfe, 0, 0), "across two slots"),
        (refusal_of(0xff, BULK / 4 + 1, 0), "1025 bytes, and the longest has 1024"),
        (refusal_of(0xff, 100, BULK - 64), "position 4032, and the reader is at 0"),
        (refusal_of(0xff, 100, 8), "position 8"),
        (refusal_of(0xff, 100, u64::MAX - 63), "position 18446744073709551552"),
    ] {
        assert!(text.contains(says), "{says:?} is expected in {text:?}");
    }
    let in_the_middle = [Step::Send { len: 0 }, Step::Take, Step::Forge { len: 20, payload: 0, position: 0 }];
    assert!(run(&in_the_middle).is_some_and(|text| text.contains("across two slots")));
}
