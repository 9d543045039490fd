//! From which core a lock is used, for the decision to which one it should be biased.

/// Acquisitions in a row that make a core the owner of a lock that was never revoked.
pub(super) const FIRST_STREAK: u32 = 16;
/// The most that revocations can raise that to.
const LONGEST_STREAK: u32 = 1 << 16;
/// How long a bias has to last to be worth its revocation.
pub(super) const WORTHWHILE_NS: u64 = if cfg!(loom) { 2 } else { 1_000_000 };

/// How the lock was used of late. How many acquisitions make an owner doubles with each revocation of a bias that
/// did not last for a millisecond, so that a lock that cores really share stops trying, and halves with that of
/// an older one, which was worth it.
#[derive(Debug)]
pub(super) struct Habit {
    /// The core from which it was acquired last through L, and how many times in a row.
    core: usize,
    streak: u32,
    /// How long a streak makes an owner, and how long at least.
    needed: u32,
    least: u32,
}

impl Habit {
    pub(super) fn new(streak: u32) -> Habit {
        let least = streak.max(1);
        Habit { core: usize::MAX, streak: 0, needed: least, least }
    }

    /// Notes an acquisition from `core`. True if the streak is long enough for it to become the owner.
    pub(super) fn used_from(&mut self, core: usize) -> bool {
        if self.core != core {
            self.core = core;
            self.streak = 0;
        }
        self.streak = self.streak.saturating_add(1);
        let is_due = self.streak >= self.needed;
        if is_due {
            self.streak = 0;
        }
        is_due
    }

    /// Notes that a bias was revoked.
    pub(super) fn revoked(&mut self, was_worthwhile: bool) {
        self.needed = if was_worthwhile {
            (self.needed / 2).max(self.least)
        } else {
            self.needed.saturating_mul(2).min(LONGEST_STREAK)
        };
    }

    /// From now on no core becomes the owner.
    pub(super) fn give_up(&mut self) {
        self.needed = u32::MAX;
    }
}
