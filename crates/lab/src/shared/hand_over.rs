//! The turn goes from thread to thread, and to the supervisor and back.

use super::{NEVER, NONE, NextHolder, SUPERVISOR, SharedLab, State};

impl SharedLab {
    /// Hands the token to whoever is next, and comes back when it is `mine` again. True if another had it in
    /// between.
    pub fn hand_over(&mut self, mine: u32) -> bool {
        let next = self.next_holder(false);
        if next == mine {
            return false;
        }
        self.passes += 1;
        self.token.hand_to(next);
        self.token.wait(mine);
        true
    }

    /// Hands the token to whoever is next, for good: the thread ends.
    pub fn hand_on(&mut self) {
        let next = self.next_holder(false);
        self.passes += 1;
        self.token.hand_to(next);
    }

    /// For the supervisor: hands the token to whoever is next. False if nobody can run; then the token stays.
    pub fn let_run(&mut self) -> bool {
        let next = self.next_holder(true);
        if next == SUPERVISOR {
            return false;
        }
        self.passes += 1;
        self.token.hand_to(next);
        true
    }

    /// For the supervisor: hands the token to the thread in `slot`, which waits for something outside, to
    /// look whether it has come.
    pub fn ask(&mut self, slot: u32) {
        self.asking = 1;
        self.token.hand_to(slot);
    }

    /// The supervisor asks no more.
    pub fn end_asking(&mut self) {
        self.asking = 0;
        self.ask_before = NEVER;
    }

    /// Whether the supervisor asks.
    #[must_use]
    pub fn is_asking(&self) -> bool {
        self.asking != 0
    }

    /// The answer of the thread in `slot`: back to the supervisor, until it is asked again or its turn comes.
    pub fn answer(&mut self, slot: u32) {
        self.token.hand_to(SUPERVISOR);
        self.token.wait(slot);
    }

    fn next_holder(&mut self, is_supervisor: bool) -> u32 {
        let NextHolder::Thread(slot) = self.next(!is_supervisor) else { return SUPERVISOR };
        debug_assert!(slot != NONE && self.slots[slot as usize].state == State::Running);
        self.now = self.now.max(self.clocks[slot as usize]);
        slot
    }
}
