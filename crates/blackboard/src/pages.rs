//! Memory for data that do not fit into a cell. A process allocates its own when it first publishes such
//! data, or makes a persistent operation that will; it maps that of another one when it first looks at such
//! data.

use crate::cell::{DEPTH, KINDS_OF_PAGES, LANE_DEPTH, Range};
use heddle_message::domain::Domain;
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_transport::{SharedMemory, SharedRange};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// How many slots pages have: one for each round, in turn. The first ones have as many as there are cells.
const SLOTS: u32 = 16;
const _: () = assert!(SLOTS <= LANE_DEPTH);
const FIRST_SLOTS: u32 = DEPTH;
/// How many rounds of an operation a process may publish before it finishes the first of them. It finds room
/// for them when the others have finished all rounds before, whether they wait for it or not.
pub const AHEAD: u32 = SLOTS / 2;

/// The bytes of a slot on the first and on the second pages.
const FIRST: usize = 256;
const SECOND: usize = 8 << 10;
/// The same of the third pages, for few processes. Together the slots are larger than a core's second cache:
/// lines that the readers still have in theirs cost a writer three times as much as others.
const THIRD: usize = 128 << 10;
const LINE: usize = 64;

/// With more processes than these, slots on the third pages are smaller, but not smaller than on the second.
const FEW_PROCESSES: usize = 4;
/// If a process has allocated more blackboards than these, the slots of the others are those of the second
/// pages: a program may have thousands of communicators.
const FEW_BLACKBOARDS: usize = 16;

heddle_platform::per_process! {
    /// How many blackboards this process has allocated that are still there.
    static BLACKBOARDS: AtomicUsize = AtomicUsize::new(0);
}

/// Counts a blackboard that this process has allocated, as long as it is there.
#[derive(Debug)]
pub(crate) struct Allocated {
    before: usize,
}

impl Allocated {
    pub(crate) fn count() -> Allocated {
        Allocated { before: BLACKBOARDS.fetch_add(1, Ordering::Relaxed) }
    }

    /// The bytes of a slot on its third pages.
    pub(crate) fn slot(&self, processes: usize) -> usize {
        if self.before >= FEW_BLACKBOARDS {
            SECOND
        } else if processes <= FEW_PROCESSES {
            THIRD
        } else {
            (THIRD * FEW_PROCESSES / processes.next_power_of_two()).max(SECOND)
        }
    }
}

impl Drop for Allocated {
    fn drop(&mut self) {
        BLACKBOARDS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// After this number of rounds a communicator has lived long enough for third pages to pay.
const ROUNDS_BEFORE_THIRD: u32 = 64;

heddle_platform::per_process! {
    /// Pages of this process from blackboards that are gone, for others to come: a communicator that lives
    /// for a few operations would spend more time on the allocation than on them.
    static SPARE: Mutex<Vec<SharedMemory>> = Mutex::new(Vec::new());
}
const MOST_SPARE: usize = 16;

fn spares() -> MutexGuard<'static, Vec<SharedMemory>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Spare pages of that many bytes.
fn spare(bytes: usize) -> Option<SharedMemory> {
    let mut spares = spares();
    let found = spares.iter().position(|memory| memory.len() == bytes)?;
    Some(spares.swap_remove(found))
}

/// The pages of all processes, of one size; in the lane of a persistent operation each process has as large
/// ones as it needs.
#[derive(Debug)]
pub(crate) struct Pages {
    slot: usize,
    slots: u32,
    own: OnceLock<SharedMemory>,
    others: Box<[OnceLock<SharedMemory>]>,
    /// Held by the thread that allocates or maps some.
    making: Mutex<()>,
}

impl Pages {
    /// The bytes of a slot on the pages of each kind, for `third` on the third.
    pub(crate) fn slots(third: usize) -> [usize; KINDS_OF_PAGES] {
        [FIRST, SECOND, third.max(SECOND)]
    }

    /// Pages with slots of that many bytes, which are not allocated yet.
    pub(crate) fn new(slot: usize, processes: usize) -> Pages {
        let others = (0..processes).map(|_| OnceLock::new()).collect();
        let slots = if slot == FIRST { FIRST_SLOTS } else { SLOTS };
        Pages { slot, slots, own: OnceLock::new(), others, making: Mutex::new(()) }
    }

    /// Pages of a persistent operation of which this process publishes `longest` bytes in a round.
    pub(crate) fn of_lane(longest: usize, processes: usize) -> Pages {
        // A power of two: pages of blackboards that are gone are then found again.
        Pages::new(longest.next_power_of_two().max(2 * FIRST), processes)
    }

    fn bytes(&self) -> usize {
        self.slot * self.slots as usize
    }

    /// How many slots there are.
    pub(crate) fn depth(&self) -> u32 {
        self.slots
    }

    /// The bytes of a slot.
    #[inline(always)]
    pub(crate) fn slot(&self) -> usize {
        self.slot
    }

    /// Where data of `len` bytes go in a round, from the start of the pages: in the round's slot, each time
    /// behind those of the time before, so that they come to lines that nobody has read for long.
    pub(crate) fn offset(&self, round: u32, len: usize) -> usize {
        let room = len.next_multiple_of(LINE).max(LINE);
        let times = (round / self.slots) as usize;
        (round % self.slots) as usize * self.slot + times % (self.slot / room).max(1) * room
    }

    /// The pages of this process, and where it tells the others of them. `None` if there is no memory for
    /// them; the next time there may be.
    pub(crate) fn own(&self, domain: &Domain, words: &Range) -> Option<&SharedMemory> {
        self.get_or_make(&self.own, || {
            let memory = spare(self.bytes()).or_else(|| domain.fabric().allocate(self.bytes()).ok())?;
            let range = memory.range()?;
            // Relaxed: the mark of a cell brings them along.
            words.offset.store(range.offset, Ordering::Relaxed);
            words.len.store(range.len, Ordering::Relaxed);
            Some(memory)
        })
    }

    /// The pages of a process that has published data on them. `None` if they cannot be mapped now.
    pub(crate) fn of(&self, rank: usize, domain: &Domain, words: &Range) -> Option<&SharedMemory> {
        self.get_or_make(&self.others[rank], || {
            let (offset, len) = (words.offset.load(Ordering::Relaxed), words.len.load(Ordering::Relaxed));
            domain.fabric().map(SharedRange { offset, len }).ok()
        })
    }

    #[inline(always)]
    fn get_or_make<'a>(
        &self,
        place: &'a OnceLock<SharedMemory>,
        make: impl FnOnce() -> Option<SharedMemory>,
    ) -> Option<&'a SharedMemory> {
        if let Some(memory) = place.get() {
            return Some(memory);
        }
        let _maker = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if place.get().is_none() {
            // No other thread has set it meanwhile.
            _ = place.set(make()?);
        }
        place.get()
    }
}

/// The number of the pages for `len` bytes, which are within the limits, in a round. Once the communicator
/// has lived for a while, all but the shortest data go to the third: those are quicker, but take longer to
/// allocate.
pub(crate) fn kind_for(len: usize, round: u32, pages: &[Pages; KINDS_OF_PAGES]) -> usize {
    match pages.iter().position(|pages| len <= pages.slot) {
        Some(0) => 0,
        Some(1) if round < ROUNDS_BEFORE_THIRD => 1,
        _ => KINDS_OF_PAGES - 1,
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let Some(memory) = self.own.take() else { return };
        let mut spares = spares();
        if spares.len() < MOST_SPARE {
            spares.push(memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_stay_in_the_slot_of_their_round_and_move_on() {
        let pages = Pages::new(THIRD, 2);
        for len in [1, 3000, 40_000, pages.slot() - 1, pages.slot()] {
            for round in [0, 5, 3 * SLOTS + 1, u32::MAX] {
                let offset = pages.offset(round, len);
                assert_eq!(offset / pages.slot(), (round % SLOTS) as usize);
                assert!(offset % pages.slot() + len <= pages.slot(), "{len} bytes at {offset}");
            }
        }
        assert_eq!(pages.offset(SLOTS, 3000) - pages.offset(0, 3000), 3008);
    }

    #[test]
    fn slots_are_smaller_with_many_processes_and_with_many_blackboards() {
        let few: Vec<_> = (0..FEW_BLACKBOARDS).map(|_| Allocated::count()).collect();
        let slots = |allocated: &Allocated| [1, 4, 5, 8, 64, 256].map(|processes| allocated.slot(processes));
        assert_eq!(slots(&few[0]), [128 << 10, 128 << 10, 64 << 10, 64 << 10, 8 << 10, 8 << 10]);
        let one_more = Allocated::count();
        assert_eq!(slots(&one_more), [8 << 10; 6]);
        drop(few);
        assert_eq!(Allocated::count().slot(2), 128 << 10);
    }

    #[test]
    fn data_go_to_pages_where_they_fit() {
        let pages = Pages::slots(THIRD).map(|slot| Pages::new(slot, 2));
        let kinds =
            |round| [49, FIRST, FIRST + 1, SECOND, SECOND + 1, THIRD].map(|len| kind_for(len, round, &pages));
        assert_eq!(kinds(0), [0, 0, 1, 1, 2, 2]);
        assert_eq!(kinds(ROUNDS_BEFORE_THIRD), [0, 0, 2, 2, 2, 2]);
    }
}
