//! What travels with the adaptive lock from writer to writer: the status of a node in the tree of queues.

use super::setting::{PASSINGS, SETTING_BITS, Setting};

/// Something that a threshold did in this turn of writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Felt {
    /// Below the root: it kept a writer from passing the lock on to another one that waited.
    pub(super) locality_cut: bool,
    /// More than half of the passings were used that it allows.
    pub(super) locality_used: bool,
    /// The same at the root.
    pub(super) writers_cut: bool,
    pub(super) writers_used: bool,
}

impl Felt {
    pub(super) const BITS: u32 = 4;

    pub(super) fn of(bits: u64) -> Felt {
        let bit = |number: u32| bits >> number & 1 == 1;
        Felt { locality_cut: bit(0), locality_used: bit(1), writers_cut: bit(2), writers_used: bit(3) }
    }

    pub(super) fn bits(self) -> u64 {
        let bits = [self.locality_cut, self.locality_used, self.writers_cut, self.writers_used];
        bits.into_iter().enumerate().map(|(number, bit)| u64::from(bit) << number).sum()
    }

    pub(super) fn or(self, other: Felt) -> Felt {
        Felt::of(self.bits() | other.bits())
    }
}

/// The part of a turn of writers that has gone by in one queue.
///
/// It is a node's status, so it costs no operation of its own: a writer that takes the lock over at some
/// level learns there which thresholds are in force, how many passings there were in a row, and how many
/// writers.
/// Its word is none of the queue's special ones, whose low bits count more passings than any bounds allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Turn {
    /// Of this queue, in a row.
    pub(super) passings: u64,
    /// Those that have had the lock since the turn of this queue began.
    pub(super) writers: u64,
    /// What thresholds did below this queue.
    pub(super) felt: Felt,
    /// What they did before in this measurement.
    pub(super) felt_before: Felt,
    /// A measurement ends with this turn, so its last writer chooses a setting.
    pub(super) is_last: bool,
    /// The setting in force.
    pub(super) setting: Setting,
}

/// The bits of the number of writers, which stays at the most that they hold.
const WRITERS: u32 = 64 - PASSINGS - 2 * Felt::BITS - 1 - SETTING_BITS;
const FELT: u32 = PASSINGS + WRITERS;
const FELT_BEFORE: u32 = FELT + Felt::BITS;
const LAST: u32 = FELT_BEFORE + Felt::BITS;
const MOST_WRITERS: u64 = (1 << WRITERS) - 1;

impl Turn {
    /// A turn that begins with these thresholds.
    pub(super) fn begins(setting: Setting) -> Turn {
        Turn { setting, ..Turn::default() }
    }

    pub(super) fn of(status: u64) -> Turn {
        Turn {
            passings: status & ((1 << PASSINGS) - 1),
            writers: status >> PASSINGS & MOST_WRITERS,
            felt: Felt::of(status >> FELT),
            felt_before: Felt::of(status >> FELT_BEFORE),
            is_last: status >> LAST & 1 == 1,
            setting: Setting::of(status >> (LAST + 1)),
        }
    }

    pub(super) fn status(self) -> u64 {
        self.passings
            | self.writers << PASSINGS
            | self.felt.bits() << FELT
            | self.felt_before.bits() << FELT_BEFORE
            | u64::from(self.is_last) << LAST
            | self.setting.word() << (LAST + 1)
    }

    /// The turn after what went by in the queue below, which now gives the lock up.
    pub(super) fn with(self, below: Turn) -> Turn {
        let writers = (self.writers + below.writers).min(MOST_WRITERS);
        Turn { writers, felt: self.felt.or(below.felt), ..self }
    }

    /// The turn of the writer that gets the lock next in this queue.
    pub(super) fn passed(self) -> Turn {
        Turn { passings: self.passings + 1, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::{Felt, MOST_WRITERS, Turn};
    use crate::adaptive::setting::Setting;
    use crate::queue::MODE_CHANGE;

    #[test]
    fn a_turn_fits_into_a_status_that_is_no_special_word() {
        let felt = Felt { locality_cut: true, locality_used: true, writers_cut: true, writers_used: true };
        let setting = Setting { coarseness: 31, locality: 15, writers: 15 };
        let turn = Turn {
            passings: 1 << 23,
            writers: MOST_WRITERS,
            felt,
            felt_before: felt,
            is_last: true,
            setting,
        };
        assert_eq!(Turn::of(turn.status()), turn);
        assert!(turn.status() < MODE_CHANGE);
        assert_eq!(turn.with(turn).writers, MOST_WRITERS, "it stays at the most");
        assert_eq!(Turn::begins(Setting::default()).status(), 0);
    }
}
