//! Marks of a VNI whose messages may be spread, and of a channel.

use super::way::may_be_spread;
use crate::matching::Key;
use crate::request::RequestId;
use heddle_objects::spread::Spill;
use heddle_platform::atomic::{AtomicBool, AtomicU8, Ordering};
use heddle_settings::SpreadRule;

/// Marks of a home, which receives read. The mover writes them, in the home's critical section.
#[derive(Debug)]
pub(crate) struct SpreadMarks(AtomicU8);

/// There was no wildcard yet, and messages may be spread.
const UNGATHERED: u8 = 1;
/// Messages of some peer are matched on lanes.
const ELSEWHERE: u8 = 2;

impl SpreadMarks {
    /// The marks of a new VNI.
    pub(crate) fn new(rule: SpreadRule) -> SpreadMarks {
        SpreadMarks(AtomicU8::new(if rule == SpreadRule::Never { 0 } else { UNGATHERED }))
    }

    /// Returns true if the messages of some peer are matched on lanes.
    #[inline(always)]
    pub(crate) fn is_elsewhere(&self) -> bool {
        // Relaxed: a hint. The state is asked again in the home's critical section.
        self.0.load(Ordering::Relaxed) & ELSEWHERE != 0
    }

    /// Returns true if a receive with wildcards may be posted.
    #[inline(always)]
    pub(crate) fn is_gathered(&self) -> bool {
        // Acquire: pairs with the Release in `set`, for a thread in a lane's critical section.
        self.0.load(Ordering::Acquire) & UNGATHERED == 0
    }

    /// Returns true if the message for a receive may be on a lane, or has to be moved home first.
    #[inline(always)]
    pub(crate) fn concern(&self, key: &Key) -> bool {
        let marks = self.0.load(Ordering::Relaxed);
        marks != 0 && (marks & ELSEWHERE != 0 || key.shape() != 0) && may_be_spread(key.context)
    }

    /// Written by the mover.
    pub(crate) fn set_gathered(&self) {
        self.set(UNGATHERED, false);
    }

    /// Written by the mover.
    pub(crate) fn set_elsewhere(&self, is_set: bool) {
        self.set(ELSEWHERE, is_set);
    }

    fn set(&self, mark: u8, is_set: bool) {
        let marks = self.0.load(Ordering::Relaxed) & !mark;
        self.0.store(marks | if is_set { mark } else { 0 }, Ordering::Release);
    }
}

/// Marks of a channel whose messages are spread, beside the number of queued ones. With one of them that
/// number is not 0, so all quick ways to send are closed. They are written in the critical sections of the
/// home and of the channel.
pub(crate) const SPREAD: usize = 1 << 63;
/// Neither lanes nor home: a sender waits for the spill.
pub(crate) const CLOSED: usize = 1 << 62;
/// On the home, with stamps.
pub(crate) const STAMPS: usize = 1 << 61;
/// On lanes from the first message on.
pub(crate) const WISHED: usize = 1 << 60;
/// Beside `SPREAD`: not by tag alone.
pub(crate) const BY_SOURCE: usize = 1 << BY;
pub(crate) const BY: u32 = 59;
pub(crate) const MARKS: usize = SPREAD | CLOSED | STAMPS | WISHED | BY_SOURCE;

/// The state of a sender that spreads messages of a home to a peer.
#[derive(Debug, Default)]
pub(crate) struct SpreadOut {
    /// The sends that found no room in their lanes.
    pub(crate) spill: Spill<RequestId>,
    /// The receiver has used a wildcard.
    pub(crate) is_over: AtomicBool,
}
