//! Flow control of unexpected messages: a VNI throttles its senders while these take too much memory.
//!
//! A receiver may not stop reading its rings, since the message that it waits for may lie behind others. So
//! it stores what nobody has asked for yet, counts the bytes, and when they pass the bound it raises a flag
//! in shared memory. A sender loads the flag where it refreshes its credits, which is at least once in a lap
//! of the ring. While the flag is up it offers each message by rendezvous, whatever its length: the receiver
//! stores a header, and the data waits with the sender.
//!
//! ```text
//!            bytes > bound
//!   LOWERED ──────────────▶ RAISED
//!           ◀──────────────
//!            bytes ≤ bound / 2
//! ```
//!
//! Invariants:
//! 1. Once no thread is in [`Throttle::add`], the flag fits the bytes: it is down if they are at most half of
//!    the bound, and up if they are above the bound. A thread that changes the flag reads the bytes once more
//!    after that, so it sees every change whose thread did not see the flag: both pass a full fence between
//!    their store and their load.
//! 2. The flag is a hint to senders: nothing is lost if one of them sees it late.

use heddle_platform::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use std::any::Any;

/// The flag of one VNI of a process, and the bytes that its unexpected messages take.
#[derive(Debug)]
pub struct Throttle {
    flag: *const AtomicU32,
    bytes: AtomicUsize,
    bound: usize,
    /// The owner of the flag's memory: keeps it mapped.
    _keeps: Box<dyn Any + Send + Sync>,
}

// SAFETY: the flag is an atomic, in memory that the throttle keeps.
unsafe impl Send for Throttle {}
// SAFETY: the flag is an atomic, and so are the bytes.
unsafe impl Sync for Throttle {}

/// The effect of a change of the bytes on the flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagChange {
    /// Nothing.
    None,
    /// It raised the flag.
    Raised,
    /// It lowered the flag.
    Lowered,
}

impl Throttle {
    /// # Safety
    /// `keeps` keeps the flag alive.
    pub(crate) unsafe fn new(
        flag: *const AtomicU32,
        bound: usize,
        keeps: Box<dyn Any + Send + Sync>,
    ) -> Throttle {
        Throttle { flag, bytes: AtomicUsize::new(0), bound, _keeps: keeps }
    }

    fn flag(&self) -> &AtomicU32 {
        // SAFETY: the flag lives as long as the throttle.
        unsafe { &*self.flag }
    }

    /// Returns true if senders are throttled.
    #[inline(always)]
    pub fn is_raised(&self) -> bool {
        // Relaxed: a hint.
        self.flag().load(Ordering::Relaxed) != 0
    }

    /// The bytes above which the flag is raised.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// Changes the number of bytes, and raises or lowers the flag.
    #[cold]
    pub fn add(&self, change: isize) -> FlagChange {
        // Relaxed, here and below: the fences order the bytes and the flag (invariant 1).
        let mut bytes = self.bytes.fetch_add(change as usize, Ordering::Relaxed).wrapping_add_signed(change);
        let mut turn = FlagChange::None;
        loop {
            fence(Ordering::SeqCst);
            let is_raised = self.flag().load(Ordering::Relaxed) != 0;
            let raise = bytes > if is_raised { self.bound / 2 } else { self.bound };
            if raise == is_raised {
                return turn;
            }
            self.flag().store(u32::from(raise), Ordering::Relaxed);
            turn = if raise { FlagChange::Raised } else { FlagChange::Lowered };
            fence(Ordering::SeqCst);
            bytes = self.bytes.load(Ordering::Relaxed);
        }
    }
}

/// The kind of a message, as the throttle sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traffic {
    /// Data that the receiver may have to store: it is refused while the receiver throttles its senders.
    Eager,
    /// The same, refused also where the sender would have to load new credits.
    Prompt,
    /// A message of a protocol, or data that the receiver has asked for.
    Protocol,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn throttle(bound: usize) -> Throttle {
        let flag: &'static AtomicU32 = Box::leak(Box::default());
        // SAFETY: the flag is never freed.
        unsafe { Throttle::new(flag, bound, Box::new(())) }
    }

    #[test]
    fn the_flag_goes_up_above_the_bound_and_down_at_half_of_it() {
        let throttle = throttle(100);
        assert_eq!((throttle.add(100), throttle.is_raised()), (FlagChange::None, false));
        assert_eq!((throttle.add(1), throttle.is_raised()), (FlagChange::Raised, true));
        assert_eq!(throttle.add(1000), FlagChange::None);
        assert_eq!((throttle.add(-1050), throttle.is_raised()), (FlagChange::None, true));
        assert_eq!((throttle.add(-1), throttle.is_raised()), (FlagChange::Lowered, false));
        assert_eq!(throttle.add(50), FlagChange::None);
        assert_eq!(throttle.add(1), FlagChange::Raised);
    }

    #[test]
    fn without_a_bound_to_speak_of_the_flag_is_up_while_there_are_any() {
        let throttle = throttle(0);
        assert_eq!(throttle.add(1), FlagChange::Raised);
        assert_eq!(throttle.add(-1), FlagChange::Lowered);
    }
}
