//! When threads take turns in a channel, or in receiving on a VNI. Messages are spread then if the process
//! has several cores: on a single one threads mostly find the locks free, however many there are, and a
//! message that is spread takes more instructions.

use super::way::SpreadBy;
use heddle_platform::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use heddle_transport::Envelope;

/// Messages are spread after so many hand-overs of the channel's lock, and changes of the tag or source.
const MANY: u32 = 64;
/// Beside this number of changes of the tag, changes of the source count.
const FEW: u32 = MANY / 8;
/// Once there were many, after so many more the next peer may be asked.
const MORE: u32 = 4;

/// The tag of the last message that a thread sent by the lock of a channel, and how often another one
/// followed.
#[derive(Debug, Default)]
pub(crate) struct TagChanges {
    tag: AtomicI32,
    changes: AtomicU32,
}

impl TagChanges {
    /// Notes a message. Returns true once in a while, after many changes: then it is worthwhile to ask
    /// whether [threads take turns](are_turns).
    #[inline]
    pub(crate) fn note(&self, tag: i32) -> bool {
        // Relaxed, and loads and stores, here and below: one thread at a time is inside.
        tag != self.tag.load(Ordering::Relaxed) && self.change(tag)
    }

    #[cold]
    fn change(&self, tag: i32) -> bool {
        self.tag.store(tag, Ordering::Relaxed);
        add(&self.changes, 0)
    }
}

/// Counts. Returns true after many, and goes on from `next` then.
fn add(count: &AtomicU32, next: u32) -> bool {
    let more = count.load(Ordering::Relaxed) + 1;
    let are_many = more >= MANY;
    count.store(if are_many { next } else { more }, Ordering::Relaxed);
    are_many
}

/// Source and tag of the last receive that a thread issued by the lock of a VNI, and how often others
/// followed.
#[derive(Debug, Default)]
pub(crate) struct ReceiveChanges {
    last: AtomicU64,
    tags: AtomicU32,
    sources: AtomicU32,
}

impl ReceiveChanges {
    /// Notes a receive. Once in a while, after many changes, returns by what the sender may spread its
    /// messages, if [threads take turns](are_turns).
    #[inline]
    pub(crate) fn note(&self, envelope: Envelope) -> Option<SpreadBy> {
        if envelope.bits() == self.last.load(Ordering::Relaxed) { None } else { self.change(envelope) }
    }

    #[cold]
    #[inline(never)]
    fn change(&self, envelope: Envelope) -> Option<SpreadBy> {
        let last = Envelope::of_bits(self.last.load(Ordering::Relaxed));
        self.last.store(envelope.bits(), Ordering::Relaxed);
        if last.tag() != envelope.tag() && add(&self.tags, MANY - MORE) {
            return Some(SpreadBy::Tag);
        }
        // Each thread has its tag if these change as well.
        let is_by_source = last.source() != envelope.source()
            && add(&self.sources, MANY - MORE)
            && self.tags.load(Ordering::Relaxed) <= FEW;
        is_by_source.then(|| {
            self.tags.store(0, Ordering::Relaxed);
            SpreadBy::TagAndSource
        })
    }
}

/// The number of cores of a process from which on its messages are spread: two of its threads can be at the
/// lock at once.
const CORES: u32 = 2;

/// Returns true if so many hand-overs of a lock mean that threads take turns, and on so many cores that they
/// get in each other's way.
pub(crate) fn are_turns(hand_overs: u32, cores: impl FnOnce() -> u32) -> bool {
    hand_overs >= MANY && cores() >= CORES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_alone_takes_no_turns() {
        let changes = TagChanges::default();
        assert!((1..100).any(|tag| changes.note(tag)), "its tags change");
        assert!(!(0..100).any(|_| changes.note(5)), "they do not");
        assert!(!are_turns(0, || CORES) && are_turns(MANY, || CORES));
    }

    #[test]
    fn threads_on_one_core_are_not_in_each_other_s_way() {
        assert!(!are_turns(MANY, || 1));
        assert!(!are_turns(0, || unreachable!("nobody asks for cores before there are turns")));
    }

    /// Notes receives with these sources and tags, and returns what they say.
    fn says(of: impl Fn(i32) -> (i32, i32)) -> Vec<SpreadBy> {
        let changes = ReceiveChanges::default();
        (1..300).map(of).filter_map(|(source, tag)| changes.note(Envelope::new(source, tag))).collect()
    }

    #[test]
    fn receives_say_by_what_their_messages_are_apart() {
        let by_tag = says(|number| (1, number % 8));
        assert!(by_tag.len() > 50 && by_tag.iter().all(|by| *by == SpreadBy::Tag), "{by_tag:?}");
        let by_source = says(|number| (number % 8, number / 100));
        assert!(
            by_source.len() > 50 && by_source.iter().all(|by| *by == SpreadBy::TagAndSource),
            "{by_source:?}"
        );
        let both = says(|number| (number % 6, number / 4));
        assert!(!both.is_empty() && both.iter().all(|by| *by == SpreadBy::Tag), "{both:?}");
        assert_eq!(says(|_| (3, 4)), []);
    }
}
