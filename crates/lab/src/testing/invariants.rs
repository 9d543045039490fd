//! The invariants of a machine.

use crate::shared::{NEVER, NONE, SharedLab, Slot, State};

/// The threads that wait for `core`, the first first.
pub(crate) fn waiting_for(lab: &SharedLab, core: u32) -> Vec<u32> {
    let known = |slot: u32| (slot != NONE).then_some(slot);
    let first = known(lab.cores[core as usize].first);
    let queue = std::iter::successors(first, |slot| known(lab.slots[*slot as usize].next));
    queue.take(lab.used as usize + 1).collect()
}

/// Each thread is in one place, each core has one thread or is idle because nobody can have it.
pub(crate) fn check_whole(lab: &SharedLab) {
    let mut places = vec![0; lab.used as usize];
    for core in 0..lab.layout.cores {
        let place = &lab.cores[core as usize];
        if place.running != NONE {
            let thread = &lab.slots[place.running as usize];
            assert_eq!((thread.state, thread.core), (State::Running, core), "core {core} runs {thread:?}");
            places[place.running as usize] += 1;
        }
        let queue = waiting_for(lab, core);
        assert_eq!(queue.len(), place.waiting as usize, "core {core}: {queue:?}");
        assert_eq!(queue.last().copied().unwrap_or(NONE), place.last, "core {core}: {queue:?}");
        assert!(queue.is_empty() || place.running != NONE, "core {core} is idle, {queue:?} wait for it");
        for slot in queue {
            let thread = &lab.slots[slot as usize];
            assert_eq!(
                (thread.state, thread.core),
                (State::Queued, core),
                "{thread:?} waits for core {core}"
            );
            assert_eq!(lab.clocks[slot as usize], NEVER, "the clock of one that waits");
            places[slot as usize] += 1;
        }
    }
    for core in (0..lab.layout.cores).filter(|core| lab.cores[*core as usize].running == NONE) {
        let may = |thread: &Slot| thread.allowed[core as usize / 64] >> (core % 64) & 1 != 0;
        let waits = lab.slots.iter().position(|thread| thread.state == State::Queued && may(thread));
        assert_eq!(waits, None, "core {core} is idle, and this one waits");
    }
    let mut outside = 0;
    for (slot, found) in places.into_iter().enumerate() {
        let thread = &lab.slots[slot];
        let wanted = u32::from(matches!(thread.state, State::Running | State::Queued));
        assert_eq!(found, wanted, "places of {thread:?}");
        assert!(
            wanted == 0 || thread.allowed[thread.core as usize / 64] >> (thread.core % 64) & 1 != 0,
            "{thread:?} is where it may not run"
        );
        assert!(
            thread.state != State::Free || lab.clocks[slot] == NEVER,
            "slot {slot} is free, with a clock"
        );
        outside += u32::from(thread.state == State::Outside);
    }
    assert_eq!(outside, lab.outside, "threads that wait outside");
}
