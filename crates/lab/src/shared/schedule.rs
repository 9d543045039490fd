//! Who is next: the thread whose clock is lowest.

use super::{NEVER, SharedLab, State};

/// Who gets the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHolder {
    /// The thread in this slot, which has a core.
    Thread(u32),
    /// The supervisor: nobody can run, or those that wait for something outside are to be asked.
    Supervisor,
}

/// How often those that wait for something outside are asked while others run: each 50 us.
const ASK_EVERY: u64 = 50_000_000;

impl SharedLab {
    /// The slot with the lowest clock or deadline, and that.
    #[must_use]
    pub fn earliest(&self) -> Option<(u32, u64)> {
        let clocks = &self.clocks[..self.used as usize];
        let lowest = clocks.iter().copied().min().filter(|lowest| *lowest != NEVER)?;
        let slot = clocks.iter().position(|clock| *clock == lowest)?;
        Some((slot as u32, lowest))
    }

    /// When something happens besides what the holder of the token does: another thread's clock or deadline,
    /// or that the supervisor is to be asked.
    #[must_use]
    pub fn due(&self) -> u64 {
        let earliest = self.earliest().map_or(NEVER, |(_, clock)| clock);
        if self.outside > 0 { earliest.min(self.ask_at()) } else { earliest }
    }

    /// When those that wait for something outside are asked next.
    fn ask_at(&self) -> u64 {
        (self.asked + ASK_EVERY).min(self.ask_before)
    }

    /// Whether something is [`due`](Self::due) more than `ahead` before `clock`.
    #[must_use]
    pub fn due_before(&self, clock: u64, ahead: u64) -> bool {
        self.due().saturating_add(ahead) < clock
    }

    /// Who is next. Deadlines that come first are over then. `may_ask`: whether the supervisor is asked
    /// before the time goes far.
    pub fn next(&mut self, may_ask: bool) -> NextHolder {
        loop {
            let earliest = self.earliest();
            let is_due = |(_, clock)| clock >= self.ask_at();
            if may_ask && self.outside > 0 && earliest.is_none_or(is_due) {
                return NextHolder::Supervisor;
            }
            let Some((slot, clock)) = earliest else { return NextHolder::Supervisor };
            match self.slots[slot as usize].state {
                State::Running => return NextHolder::Thread(slot),
                _ => self.make_ready(slot, clock),
            }
        }
    }
}
