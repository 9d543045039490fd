//! When threads take turns in a channel, or in receiving on a VNI. Messages are spread then if each thread
//! has a core: with more threads than cores, threads mostly find the locks free, and a message that is
//! spread takes more instructions.

use heddle_platform::atomic::{AtomicI32, AtomicU32, Ordering};

/// Messages are spread after so many hand-overs of the channel's lock, and changes of the tag.
const MANY: u32 = 64;

/// The tag of the last message that a thread sent by the lock of a channel, or received by that of a VNI, and
/// how often another one followed.
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
        let changes = self.changes.load(Ordering::Relaxed) + 1;
        let are_many = changes >= MANY;
        self.changes.store(if are_many { 0 } else { changes }, Ordering::Relaxed);
        are_many
    }
}

/// Returns true if so many hand-overs of a lock mean that threads take turns.
pub(crate) fn are_turns(hand_overs: u32) -> bool {
    hand_overs >= MANY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_alone_takes_no_turns() {
        let changes = TagChanges::default();
        assert!((1..100).any(|tag| changes.note(tag)), "its tags change");
        assert!(!(0..100).any(|_| changes.note(5)), "they do not");
        assert!(!are_turns(0) && are_turns(MANY));
    }
}
