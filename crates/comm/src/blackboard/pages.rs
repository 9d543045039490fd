//! Memory for data that do not fit into a cell. A process allocates its own when it first publishes such
//! data, and maps that of another one when it first looks at such data.

use super::cell::Range;
use heddle_message::domain::Domain;
use heddle_platform::atomic::Ordering;
use heddle_transport::{SharedMemory, SharedRange};
use std::sync::OnceLock;

/// The bytes of a slot on the first pages, and how many there are.
const FIRST: (usize, u32) = (2 << 10, 8);
/// The same of the second pages, for few processes.
const SECOND: (usize, u32) = (32 << 10, 4);
/// With more processes than these, slots on the second pages are smaller, but not smaller than …
const FEW: usize = 16;
const LEAST: usize = 8 << 10;

/// The pages of all processes, of one size.
#[derive(Debug)]
pub(super) struct Pages {
    slot: usize,
    slots: u32,
    /// `None` if there is no memory for them.
    own: OnceLock<Option<SharedMemory>>,
    others: Box<[OnceLock<Option<SharedMemory>>]>,
}

impl Pages {
    /// The first or the second pages, none of which is allocated yet.
    pub(super) fn new(number: usize, processes: usize) -> Pages {
        let (slot, slots) = match number {
            0 => FIRST,
            _ if processes <= FEW => SECOND,
            _ => ((SECOND.0 * FEW / processes).next_power_of_two().max(LEAST), SECOND.1),
        };
        let others = (0..processes).map(|_| OnceLock::new()).collect();
        Pages { slot, slots, own: OnceLock::new(), others }
    }

    /// The bytes of a slot.
    #[inline(always)]
    pub(super) fn slot(&self) -> usize {
        self.slot
    }

    /// How many slots there are: one for each round, in turn.
    #[inline(always)]
    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    /// Where the slot for a round begins.
    pub(super) fn slot_of(&self, memory: &SharedMemory, round: u32) -> *mut u8 {
        memory.as_ptr().wrapping_add((round % self.slots) as usize * self.slot)
    }

    /// The pages of this process, and where it tells the others of them.
    pub(super) fn own(&self, domain: &Domain, words: &Range) -> Option<&SharedMemory> {
        self.own
            .get_or_init(|| {
                let memory = domain.fabric().allocate(self.slot * self.slots as usize).ok()?;
                let range = memory.range()?;
                // Relaxed: the mark of a cell brings them along.
                words.offset.store(range.offset, Ordering::Relaxed);
                words.len.store(range.len, Ordering::Relaxed);
                Some(memory)
            })
            .as_ref()
    }

    /// The pages of a process that has published data on them.
    pub(super) fn of(&self, rank: usize, domain: &Domain, words: &Range) -> Option<&SharedMemory> {
        self.others[rank]
            .get_or_init(|| {
                let (offset, len) = (words.offset.load(Ordering::Relaxed), words.len.load(Ordering::Relaxed));
                let range = SharedRange { offset, len };
                domain
                    .fabric()
                    .map(range)
                    .ok()
                    .filter(|memory| memory.len() >= self.slot * self.slots as usize)
            })
            .as_ref()
    }
}
