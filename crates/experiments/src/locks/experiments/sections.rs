//! The rate of critical sections: empty ones, and short ones with the same work outside.

use std::hint::black_box;

use super::sample::Sample;
use crate::locks::guarded::{GuardKind, Guarded};
use crate::locks::team::{self, TeamEffort, Until};

/// Additions in the critical section, and outside, of the mixed experiment.
const ADDITIONS: u32 = 10;

/// Empty critical sections. They favour locks that let the last holder overtake all waiters.
pub(super) fn empty<K: GuardKind>(threads: usize, effort: &TeamEffort) -> Option<Sample> {
    let guarded = K::guard(());
    Sample::of_rates(&team::run(threads, until(effort), |_, turns| {
        while turns.next() {
            guarded.with(|()| ());
        }
        turns.done()
    }))
}

/// Critical sections of the length of a message's, with the same work outside.
pub(super) fn mixed<K: GuardKind>(threads: usize, effort: &TeamEffort) -> Option<Sample> {
    let guarded = K::guard(0_u64);
    Sample::of_rates(&team::run(threads, until(effort), |_, turns| {
        while turns.next() {
            guarded.with(add);
            add(&mut 0);
        }
        turns.done()
    }))
}

fn until(effort: &TeamEffort) -> Until {
    Until::Time(effort.window)
}

#[inline(always)]
fn add(number: &mut u64) {
    for _ in 0..ADDITIONS {
        *number = black_box(*number + 1);
    }
}
