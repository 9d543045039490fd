//! Threads that come, sleep on a word, wait for something outside, and go.

use super::stats::Counts;
use super::{CORES, NEVER, NONE, Polls, SLOTS, SharedLab, Slot, State};

impl SharedLab {
    /// A slot for a new thread of `process`, near `core`, which begins at `at`. `None` when all are used.
    pub fn begin_thread(&mut self, process: u32, pid: i32, core: u32, at: u64) -> Option<u32> {
        let slot = (0..SLOTS as u32).find(|slot| self.slots[*slot as usize].state == State::Free)?;
        self.used = self.used.max(slot + 1);
        self.slots[slot as usize] = Slot {
            state: State::Asleep,
            core,
            process,
            pid,
            since: at,
            word: 0,
            bits: 0,
            next: NONE,
            allowed: [u64::MAX; CORES / 64],
            told: 0,
            counts: Counts::default(),
            polls: Polls::default(),
        };
        let at = at + self.jitter(slot);
        self.make_ready(slot, at);
        Some(slot)
    }

    /// Up to 2 us, by the seed.
    pub(crate) fn jitter(&self, slot: u32) -> u64 {
        let mixed = (self.seed ^ u64::from(slot).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb) % 2_000_000
    }

    /// The thread in `slot` ends at `at`.
    pub fn end_thread(&mut self, slot: u32, at: u64) {
        let counts = self.slots[slot as usize].counts;
        self.total.add(&counts);
        self.now = self.now.max(at);
        self.leave_core(slot, State::Free, at);
    }

    /// All threads of the process `pid` are gone, whatever they did.
    pub fn end_process(&mut self, pid: i32) {
        for slot in 0..self.used {
            let thread = self.slots[slot as usize];
            if thread.pid != pid {
                continue;
            }
            if thread.state != State::Free {
                self.total.add(&thread.counts);
            }
            match thread.state {
                State::Free => {}
                State::Running => self.leave_core(slot, State::Free, self.now),
                State::Queued => self.take_from_queue(slot),
                State::Asleep | State::Outside => {
                    self.outside -= u32::from(thread.state == State::Outside);
                    self.clocks[slot as usize] = NEVER;
                }
            }
            self.slots[slot as usize].state = State::Free;
        }
    }

    /// The thread in `slot` sleeps from `at` on, until one wakes the `bits` of `word`, or until `deadline`.
    pub fn sleep(&mut self, slot: u32, word: u64, bits: u32, at: u64, deadline: u64) {
        self.leave_core(slot, State::Asleep, at);
        self.clocks[slot as usize] = deadline;
        let thread = &mut self.slots[slot as usize];
        thread.word = word;
        thread.bits = bits;
        thread.since = at;
    }

    /// The thread in `slot` waits from `at` on for something outside, or until `deadline`. If something
    /// outside was given to do, it is asked as soon as no other thread is behind it.
    pub fn wait_outside(&mut self, slot: u32, at: u64, deadline: u64) {
        if self.outside == 0 {
            self.asked = self.asked.max(at);
        }
        if self.stirred != 0 {
            self.ask_before = self.ask_before.min(at);
        }
        self.leave_core(slot, State::Outside, at);
        self.clocks[slot as usize] = deadline;
        self.slots[slot as usize].word = 0;
        self.slots[slot as usize].since = at;
    }

    /// Wakes up to `most` of those that sleep on `bits` of `word`, who came first first: how many, and the
    /// clock of who wakes.
    pub fn wake(&mut self, word: u64, bits: u32, most: u32, mut at: u64) -> (u32, u64) {
        let mut woken = 0;
        while woken < most {
            let sleeps = |slot: &u32| {
                let thread = &self.slots[*slot as usize];
                thread.state == State::Asleep && thread.word == word && thread.bits & bits != 0
            };
            let first = (0..self.used).filter(sleeps).min_by_key(|slot| self.slots[*slot as usize].since);
            let Some(first) = first else { break };
            let since = self.slots[first as usize].since;
            self.slots[first as usize].word = 0;
            self.make_ready(first, (at + self.costs.awake).max(since));
            at += self.costs.wake;
            woken += 1;
        }
        (woken, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::NextHolder;
    use crate::testing::{ByHand, COSTS, START, check_whole, waiting_for};

    /// A machine of `sleepers` + 1 cores on which these sleep on the word 16, each from a time of its own on,
    /// for all bits: who wakes them, and they.
    fn sleeping(sleepers: u32) -> (ByHand, u32, Vec<u32>) {
        let mut lab = ByHand::new(1, 1, sleepers + 1);
        let waker = lab.thread(0, START);
        let slots: Vec<u32> = (0..sleepers).map(|_| lab.thread(1, START)).collect();
        for (number, slot) in slots.iter().enumerate() {
            lab.sleep(*slot, 16, u32::MAX, START + number as u64, NEVER);
        }
        (lab, waker, slots)
    }

    #[test]
    fn the_first_to_sleep_is_the_first_to_wake() {
        let (mut lab, waker, slots) = sleeping(4);
        // Whatever their slots are: the third has slept longest.
        lab.slots[slots[2] as usize].since = START - 10;
        let at = START + 1_000;
        assert_eq!(lab.wake(16, u32::MAX, 2, at), (2, at + 2 * COSTS.wake));
        let states: Vec<State> = slots.iter().map(|slot| lab.slots[*slot as usize].state).collect();
        assert_eq!(states, [State::Running, State::Asleep, State::Running, State::Asleep]);
        assert_eq!(lab.clocks[slots[2] as usize], at + COSTS.awake);
        assert_eq!(lab.clocks[slots[0] as usize], at + COSTS.wake + COSTS.awake, "the second is woken later");
        assert_eq!(lab.wake(16, u32::MAX, 9, at).0, 2);
        assert_eq!(lab.wake(16, u32::MAX, 9, at), (0, at), "nobody sleeps any more");
        assert_eq!(lab.slots[waker as usize].state, State::Running);
        check_whole(&lab);
    }

    #[test]
    fn only_those_of_the_word_and_the_bits_wake() {
        let (mut lab, _, slots) = sleeping(3);
        lab.slots[slots[0] as usize].word = 17;
        lab.slots[slots[1] as usize].bits = 0b01;
        lab.slots[slots[2] as usize].bits = 0b10;
        assert_eq!(lab.wake(16, 0b100, 9, START).0, 0);
        assert_eq!(lab.wake(16, 0b110, 9, START).0, 1);
        assert_eq!(lab.slots[slots[2] as usize].state, State::Running);
        assert_eq!(lab.wake(18, u32::MAX, 9, START).0, 0);
        assert_eq!(lab.wake(17, u32::MAX, 9, START).0, 1);
        assert_eq!(lab.slots[slots[1] as usize].state, State::Asleep);
        check_whole(&lab);
    }

    #[test]
    fn nobody_wakes_before_it_sleeps() {
        let (mut lab, _, slots) = sleeping(1);
        lab.slots[slots[0] as usize].since = START + 50_000;
        lab.wake(16, u32::MAX, 1, START);
        assert_eq!(lab.clocks[slots[0] as usize], START + 50_000);
    }

    #[test]
    fn a_sleeper_without_a_core_waits_for_one() {
        let mut lab = ByHand::new(1, 1, 1);
        let sleeper = lab.thread(0, START);
        lab.sleep(sleeper, 16, 1, START, NEVER);
        let waker = lab.thread(0, START);
        lab.wake(16, 1, 1, START + 100);
        assert_eq!(waiting_for(&lab, 0), [sleeper]);
        lab.end_thread(waker, START + 200);
        assert_eq!(lab.clocks[sleeper as usize], START + 100 + COSTS.awake + COSTS.switch);
    }

    #[test]
    fn a_deadline_that_comes_first_ends_the_sleep() {
        let mut lab = ByHand::new(1, 1, 2);
        let sleeper = lab.thread(0, START);
        let other = lab.thread(0, START);
        lab.sleep(sleeper, 16, 1, START, START + 500);
        lab.clocks[other as usize] = START + 499;
        assert_eq!(lab.next(true), NextHolder::Thread(other));
        assert_eq!(lab.slots[sleeper as usize].state, State::Asleep);
        lab.clocks[other as usize] = START + 501;
        assert_eq!(lab.next(true), NextHolder::Thread(sleeper));
        assert_eq!(lab.clocks[sleeper as usize], START + 500);
        assert_eq!(lab.slots[sleeper as usize].word, 16, "nobody has woken it");
        assert_eq!(lab.wake(16, 1, 1, START + 600).0, 0, "it sleeps no more");
        check_whole(&lab);
    }

    #[test]
    fn a_wake_up_that_comes_first_ends_the_deadline() {
        let mut lab = ByHand::new(1, 1, 2);
        let sleeper = lab.thread(0, START);
        let other = lab.thread(0, START);
        lab.sleep(sleeper, 16, 1, START, START + 500);
        lab.wake(16, 1, 1, START + 499);
        assert_eq!(lab.slots[sleeper as usize].word, 0, "somebody has");
        assert_eq!(lab.clocks[sleeper as usize], START + 499 + COSTS.awake);
        lab.clocks[other as usize] = NEVER;
        assert_eq!(lab.next(true), NextHolder::Thread(sleeper));
        check_whole(&lab);
    }

    #[test]
    fn those_that_wait_outside_are_asked_before_the_time_goes_far() {
        let mut lab = ByHand::new(1, 1, 2);
        let [waits, runs] = [0; 2].map(|_| lab.thread(0, START));
        lab.wait_outside(waits, START, START + 80_000_000);
        assert_eq!((lab.outside, lab.asked), (1, START));
        assert_eq!(lab.due(), lab.earliest().expect("one runs").1);
        lab.clocks[runs as usize] = START + 50_000_000 - 1;
        assert_eq!(lab.next(true), NextHolder::Thread(runs));
        lab.clocks[runs as usize] = START + 50_000_000;
        assert_eq!(lab.next(true), NextHolder::Supervisor);
        assert_eq!(lab.next(false), NextHolder::Thread(runs), "the supervisor has asked");
        lab.clocks[runs as usize] = START + 90_000_000;
        assert_eq!(lab.due(), START + 50_000_000);
        lab.asked = START + 79_000_000;
        assert_eq!(lab.next(true), NextHolder::Thread(waits), "its time is over");
        assert_eq!((lab.clocks[waits as usize], lab.outside), (START + 80_000_000, 0));
        check_whole(&lab);
    }

    #[test]
    fn who_has_stirred_something_outside_is_asked_before_its_time_is_over() {
        let mut lab = ByHand::new(1, 1, 2);
        let [looks, runs] = [0; 2].map(|_| lab.thread(0, START));
        lab.stirred = 1;
        lab.wait_outside(looks, START + 1000, START + 1000);
        lab.clocks[runs as usize] = START + 999;
        assert_eq!(lab.next(true), NextHolder::Thread(runs), "one is behind");
        lab.clocks[runs as usize] = START + 1000;
        assert_eq!(lab.next(true), NextHolder::Supervisor);
        assert_eq!(lab.due(), START + 1000);
        check_whole(&lab);
    }

    #[test]
    fn nobody_can_run_when_all_sleep() {
        let (mut lab, waker, slots) = sleeping(2);
        lab.sleep(waker, 16, 1, START, NEVER);
        assert_eq!(lab.next(true), NextHolder::Supervisor);
        assert_eq!(lab.earliest(), None);
        assert_eq!(lab.due(), NEVER);
        lab.make_ready(slots[0], START + 100_000_000);
        assert_eq!(lab.next(true), NextHolder::Thread(slots[0]), "nobody is to be asked");
    }

    #[test]
    fn slots_are_used_again_and_keep_no_past() {
        let mut lab = ByHand::new(1, 1, 2);
        let a = lab.thread(0, START);
        let _ = lab.thread(0, START);
        lab.slots[a as usize].counts.locked = 3;
        lab.slots[a as usize].told = 9;
        lab.end_thread(a, START + 100);
        assert_eq!((lab.total.locked, lab.now), (3, START + 100));
        check_whole(&lab);
        assert_eq!(lab.thread(0, START + 200), a);
        assert_eq!((lab.slots[a as usize].counts.locked, lab.slots[a as usize].told), (0, 0));
        assert_eq!(lab.used, 2);
    }

    #[test]
    fn the_seed_moves_starts_by_two_microseconds_at_most() {
        let starts = |seed: u64| {
            let mut lab = ByHand::new(1, 1, 8);
            lab.seed = seed;
            (0..8).map(|_| lab.begin_thread(0, 1, 0, START).expect("a slot")).for_each(drop);
            lab.clocks[..8].to_vec()
        };
        assert_eq!(starts(7), starts(7));
        assert_ne!(starts(7), starts(8));
        let all = [starts(7), starts(8)].concat();
        assert!(all.iter().all(|clock| (START..START + 2_000_000).contains(clock)), "{all:?}");
        assert!(all.iter().max() > all.iter().min(), "{all:?}");
    }

    #[test]
    fn a_machine_has_room_for_so_many_threads() {
        let mut lab = ByHand::new(1, 1, 2);
        for _ in 0..SLOTS {
            assert!(lab.begin_thread(0, 1, 0, START).is_some());
        }
        assert_eq!(lab.begin_thread(0, 1, 0, START), None);
        check_whole(&lab);
        lab.end_process(1);
        check_whole(&lab);
        assert!(lab.slots.iter().all(|slot| slot.state == State::Free));
    }

    #[test]
    fn a_process_ends_in_whatever_state_its_threads_are() {
        // Which of the threads belong to the process that ends: first, middle, last in queues, running,
        // asleep, outside.
        for members in 0_u32..1 << 8 {
            let mut lab = ByHand::new(1, 1, 2);
            let pid = |number: usize| if members >> number & 1 != 0 { 7 } else { 8 };
            let slots: Vec<u32> = (0..8).map(|number| lab.thread_of(pid(number), 0, START)).collect();
            lab.sleep(slots[0], 16, 1, START + 10, START + 90_000);
            lab.wait_outside(slots[1], START + 10, START + 90_000);
            check_whole(&lab);
            for slot in &slots {
                lab.slots[*slot as usize].counts.locked = 1;
            }
            lab.end_process(7);
            check_whole(&lab);
            assert_eq!(lab.total.locked, u64::from(members.count_ones()));
            for (number, slot) in slots.iter().enumerate() {
                let is_there = lab.slots[*slot as usize].state != State::Free;
                assert_eq!(is_there, pid(number) == 8, "thread {number} of {members:#b}");
            }
            lab.end_process(8);
            check_whole(&lab);
            assert_eq!((lab.earliest(), lab.outside), (None, 0));
        }
    }
}
