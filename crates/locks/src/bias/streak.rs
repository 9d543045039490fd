//! Decides which user is given the bias of a lock, and when.
//!
//! A user that acquires the inner lock several times in a row gets the bias. How many times it needs adapts:
//! the number doubles when a young bias is revoked, so that a lock that several users really share stops
//! trying, and it halves when an old bias is revoked, because an old bias has paid for its revocation. The
//! numbers are plain; the caller holds the inner lock, which guards them.

/// The number of acquisitions in a row that first earn the bias.
pub(crate) const FIRST_STREAK: u32 = 16;
/// The highest number that revocations raise it to.
const LONGEST_STREAK: u32 = 1 << 16;

/// Counts the acquisitions that one user makes in a row.
#[derive(Debug)]
pub(crate) struct Streak {
    /// The user that acquired the inner lock last, and how many times in a row it did.
    user: Option<u64>,
    length: u32,
    /// The length that earns the bias, and the lower limit of that length.
    needed: u32,
    least: u32,
}

impl Streak {
    /// Starts without a user. A streak of `needed` acquisitions, at least one, first earns the bias.
    pub(crate) fn new(needed: u32) -> Self {
        Self { user: None, length: 0, needed: needed.max(1), least: needed.max(1) }
    }

    /// The user that acquired the inner lock last, if any has.
    pub(crate) fn user(&self) -> Option<u64> {
        self.user
    }

    /// Counts an acquisition by `user`. Returns true if the user has earned the bias.
    pub(crate) fn count(&mut self, user: u64) -> bool {
        if self.user != Some(user) {
            self.user = Some(user);
            self.length = 0;
        }
        self.length = self.length.saturating_add(1);
        self.length >= self.needed
    }

    /// The user got the bias, so it needs a new streak after the next revocation.
    pub(crate) fn restart(&mut self) {
        self.length = 0;
    }

    /// Makes the bias as good as unreachable, for platforms on which it does not pay.
    pub(crate) fn give_up(&mut self) {
        self.needed = u32::MAX;
    }

    /// Adapts the needed length after a revocation. `was_old` says whether the bias had lasted
    /// long enough to pay for it.
    pub(crate) fn bias_ended(&mut self, was_old: bool) {
        self.needed = if was_old {
            (self.needed / 2).max(self.least)
        } else {
            self.needed.saturating_mul(2).min(LONGEST_STREAK)
        };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn earned_after(streak: &mut Streak, user: u64) -> u32 {
        (1..).find(|_| streak.count(user)).expect("some length earns the bias")
    }

    #[test]
    fn only_acquisitions_in_a_row_count() {
        let mut streak = Streak::new(3);
        assert!(!streak.count(8));
        assert!(!streak.count(8));
        assert!(!streak.count(16), "another user's streak is its own");
        assert!(!streak.count(8));
        assert!(!streak.count(8));
        assert!(streak.count(8));
    }

    #[test]
    fn a_young_bias_doubles_the_length_and_an_old_one_halves_it() {
        let mut streak = Streak::new(4);
        streak.bias_ended(false);
        streak.bias_ended(false);
        assert_eq!(earned_after(&mut streak, 8), 16);
        streak.restart();
        streak.bias_ended(true);
        assert_eq!(earned_after(&mut streak, 8), 8);
        streak.restart();
        (0..9).for_each(|_| streak.bias_ended(true));
        assert_eq!(earned_after(&mut streak, 8), 4);
        streak.restart();
        (0..40).for_each(|_| streak.bias_ended(false));
        assert_eq!(earned_after(&mut streak, 8), LONGEST_STREAK);
    }
}
