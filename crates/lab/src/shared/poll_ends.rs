//! Who polls a line. A write ends polls: who has polled on behind it goes back.

use super::{LineIndex, NONE, SharedLab};

impl SharedLab {
    /// Whether another core than `core` polls the line.
    #[must_use]
    pub fn is_polled(&mut self, line: LineIndex, core: u32) -> bool {
        let others = self.line(line.number()).others(core);
        others.into_iter().any(|other| {
            let slot = self.cores[other as usize].running;
            slot != NONE && self.slots[slot as usize].polls.has(line)
        })
    }

    /// The line, which `cores` have, is written at `written`: who polls it and is ahead of that goes back.
    pub(super) fn end_polls(&mut self, line: LineIndex, cores: impl Iterator<Item = u32>, written: u64) {
        for core in cores {
            let slot = self.cores[core as usize].running;
            if slot == NONE {
                continue;
            }
            let clock = self.clocks[slot as usize];
            let thread = &mut self.slots[slot as usize];
            let excess = thread.polls.excess(line, clock, written);
            if excess > 0 {
                self.clocks[slot as usize] = (clock - excess).max(thread.told);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::Access;
    use crate::testing::{ByHand, START};

    const PERIOD: u64 = 1_000;

    /// Core 1 has read a line of core 0 at `START`, and `polls` times more: the machine, the line, the
    /// reader.
    fn polling(polls: u64) -> (ByHand, LineIndex, u32) {
        let mut lab = ByHand::new(1, 1, 3);
        let writer = lab.thread(0, START);
        let reader = lab.thread(1, START);
        // The writer has the token.
        lab.clocks[writer as usize] = crate::shared::NEVER;
        let line = lab.find(1);
        lab.take(line, 0, Access::Store, START - 10_000);
        lab.take(line, 1, Access::Load, START);
        lab.slots[reader as usize].polls.begin(line, START);
        for poll in 1..=polls {
            lab.slots[reader as usize].polls.visit(line, START + poll * PERIOD);
        }
        lab.clocks[reader as usize] = START + polls * PERIOD + PERIOD / 2;
        (lab, line, reader)
    }

    #[test]
    fn a_poller_goes_back_by_whole_polls() {
        for (written, back) in
            [(9_600, 0), (9_500, 1), (9_499, 1), (8_501, 1), (8_500, 2), (3_000, 7), (2_501, 7), (2_500, 8)]
        {
            let (mut lab, line, reader) = polling(10);
            let clock = lab.clocks[reader as usize];
            lab.take(line, 0, Access::Store, START + written);
            assert_eq!((clock - lab.clocks[reader as usize]) / PERIOD, back, "written at {written}");
            assert_eq!((clock - lab.clocks[reader as usize]) % PERIOD, 0);
            assert!(lab.clocks[reader as usize] >= START + written);
        }
    }

    #[test]
    fn it_goes_back_only_by_polls_that_were_alike() {
        let (mut lab, line, reader) = polling(10);
        let polls = &mut lab.slots[reader as usize].polls;
        // Something else came between.
        let begins = START + 10 * PERIOD + 300;
        for poll in 0..4 {
            polls.visit(line, begins + poll * PERIOD);
        }
        let clock = begins + 3 * PERIOD;
        lab.clocks[reader as usize] = clock;
        lab.take(line, 0, Access::Store, START + 1_000);
        assert_eq!(
            clock - lab.clocks[reader as usize],
            2 * PERIOD,
            "by the two that came after the same time"
        );
    }

    #[test]
    fn it_does_not_go_behind_what_it_was_told() {
        let (mut lab, line, reader) = polling(10);
        lab.slots[reader as usize].told = START + 7_777;
        lab.take(line, 0, Access::Store, START + 3_000);
        assert_eq!(lab.clocks[reader as usize], START + 7_777);
    }

    #[test]
    fn a_write_before_the_poll_or_after_its_clock_does_not_move_it() {
        for written in [START, START - 1_000, START + 10_500, START + 20_000] {
            let (mut lab, line, reader) = polling(10);
            let clock = lab.clocks[reader as usize];
            lab.take(line, 0, Access::Store, written);
            assert_eq!(lab.clocks[reader as usize], clock, "written at {written}");
        }
    }

    #[test]
    fn who_does_something_else_does_not_go_back() {
        // It has read the line, and then worked for longer than a poll.
        let (mut lab, line, reader) = polling(10);
        let clock = START + 11 * PERIOD + 1;
        lab.clocks[reader as usize] = clock;
        lab.take(line, 0, Access::Store, START + 3_000);
        assert_eq!(lab.clocks[reader as usize], clock);

        // One visit is no poll.
        let (mut lab, line, reader) = polling(1);
        let clock = lab.clocks[reader as usize];
        lab.take(line, 0, Access::Store, START + 100);
        assert_eq!(lab.clocks[reader as usize], clock);

        // It polls another line, which has the first one's place.
        let (mut lab, line, reader) = polling(10);
        let clock = lab.clocks[reader as usize];
        let other = (2..).map(|name| lab.find(name)).find(|other| other.number() % 8 == line.number() % 8);
        lab.slots[reader as usize].polls.visit(other.expect("there are more names"), clock);
        lab.take(line, 0, Access::Store, START + 3_000);
        assert_eq!(lab.clocks[reader as usize], clock);
    }

    #[test]
    fn reads_at_the_same_time_are_one_poll() {
        let (mut lab, line, reader) = polling(0);
        let polls = &mut lab.slots[reader as usize].polls;
        for poll in 1..=10 {
            polls.visit(line, START + poll * PERIOD);
            polls.visit(line, START + poll * PERIOD);
        }
        let clock = START + 10 * PERIOD;
        lab.clocks[reader as usize] = clock;
        lab.take(line, 0, Access::Store, START + 5_500);
        assert_eq!(clock - lab.clocks[reader as usize], 4 * PERIOD);
    }

    #[test]
    fn only_the_thread_on_the_core_goes_back() {
        let (mut lab, line, reader) = polling(10);
        let clock = lab.clocks[reader as usize];
        lab.sleep(reader, 16, 1, clock, clock + 5);
        lab.take(line, 0, Access::Store, START + 3_000);
        assert_eq!(lab.clocks[reader as usize], clock + 5, "its deadline stays");
    }
}
