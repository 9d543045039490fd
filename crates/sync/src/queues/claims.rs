//! Places in a ring that many producers of one process fill: the rule for which producer may write where.
//!
//! **What it gives.** A ring has slots, one for each message, and a bulk area of lines for data that does not
//! fit into a slot. A producer claims the next slot, and lines if it needs them, by one compare-and-swap,
//! fills them, and publishes the slot by the flag in it. No producer ever waits: there is room or there is
//! not, and a failed compare-and-swap means that another's succeeded (lock-free). A producer that is stopped
//! between claim and publication holds up the *reader* at that slot, since messages are read in order; the
//! other producers claim the next slots and go on, until the ring is full.
//!
//! **Source.** D. Vyukov, *Bounded MPMC queue* (1024cores.net, 2010), as in
//! [`Bounded`](crate::queues::Bounded), with slots and lines claimed together. The reader publishes its
//! progress by two counters, its *credits*, instead of in each slot: the format is that of a ring with a
//! single producer, and its reader does not know which thread writes.
//!
//! ```text
//!  next  ┌──── slots, 40 bits ────┬── lines, 24 bits ──┐  the next to be claimed; both wrap, positions do not
//!  known   slots, lines: the reader's credits as some producer has seen them last; they only grow, in 64 bits
//! ```
//!
//! A position is `known` plus the distance from there to `next`, which is short: at most the ring's size.
//!
//! **Invariants.**
//!
//! 1. A place is claimed by the one producer that moved `next` over it, and only if its earlier
//!    content was consumed, by credits that this or another producer has read. Only that producer
//!    writes it until it is published.
//! 2. `known` ≤ consumed ≤ claimed. A producer that claims has seen a `known` with room before, so claimed ≤
//!    `known` + size for a thread that reads `next` and then `known` (the claim's Release pairs with that
//!    Acquire). If `known` is newer than `next`, the distance is huge: then `next` has changed, and the
//!    producer reads it again.
//! 3. Slots and lines are claimed together, so they are consumed in the same order.
//!
//! **Orderings.** Credits are published with Release after the last read, and read with Acquire; `known`
//! hands them on by the same pair. `next` is changed with AcqRel.
//!
//! **More than 2^40 slots.** If others claimed exactly 2^40 slots while a producer is stopped between two
//! instructions, it would not notice: at ten million a second that takes 30 hours.

use crate::memory::padded::CachePadded;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform};

/// The bytes of a line of the bulk area.
pub const LINE_BYTES: u64 = 64;
/// The number by which readers count one slot.
pub const CELLS_A_SLOT: u64 = 2;

const LINE_BITS: u32 = 24;
const LINES: u64 = (1 << LINE_BITS) - 1;
const SLOTS: u64 = u64::MAX >> LINE_BITS;

/// The producers' state of a ring; see the [module](self).
#[derive(Debug)]
pub struct Claims<P: Platform = Native> {
    slots: u64,
    lines: u64,
    next: CachePadded<P::AtomicU64>,
    known: CachePadded<Known<P>>,
}

#[derive(Debug)]
struct Known<P: Platform> {
    slots: P::AtomicU64,
    lines: P::AtomicU64,
}

/// The counters of the reader's progress: cells and bytes consumed.
#[derive(Debug)]
pub struct Credits<'a, P: Platform = Native> {
    /// Cells, [`CELLS_A_SLOT`] a slot.
    pub cells: &'a P::AtomicU64,
    /// Bytes of the bulk area, a multiple of [`LINE_BYTES`].
    pub bytes: &'a P::AtomicU64,
}

/// A place that belongs to the claiming thread until it publishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The slot's number.
    pub slot: u64,
    /// The number of the first line. The lines do not wrap.
    pub line: u64,
}

impl<P: Platform> Claims<P> {
    /// The claims of a new ring with `slots` slots and `lines` lines.
    ///
    /// # Panics
    ///
    /// If the slots are not a power of two, or one of the two numbers is too large to be counted.
    #[must_use]
    pub fn new(slots: u64, lines: u64) -> Self {
        assert!(slots.is_power_of_two() && slots < SLOTS / 2, "a ring cannot have {slots} slots");
        assert!(lines < LINES / 2, "a ring cannot have {lines} lines");
        let known = Known { slots: AtomicInteger::new(0), lines: AtomicInteger::new(0) };
        Self { slots, lines, next: CachePadded::new(AtomicInteger::new(0)), known: CachePadded::new(known) }
    }

    /// The claims of a ring whose places before `from` were all claimed and consumed.
    ///
    /// # Panics
    ///
    /// The same as [`new`](Self::new).
    #[must_use]
    pub fn starting_at(slots: u64, lines: u64, from: Claim) -> Self {
        let claims = Self::new(slots, lines);
        claims.known.slots.store(from.slot, Ordering::Relaxed);
        claims.known.lines.store(from.line, Ordering::Relaxed);
        let next = from.slot << LINE_BITS | from.line & LINES;
        // Release: pairs with the Acquire in claim().
        claims.next.store(next, Ordering::Release);
        claims
    }

    /// Claims a slot, and `lines` lines in a row; `None` if there is no room now.
    ///
    /// The lines do not wrap, so up to that number of lines is skipped before the ring's end. A caller
    /// must ask for at most half of the lines whose credits the reader always returns; more might not
    /// find room in an empty ring.
    #[inline]
    pub fn claim(&self, lines: u64, credits: &Credits<'_, P>) -> Option<Claim> {
        // Acquire: see invariant 2.
        let mut next = self.next.load(Ordering::Acquire);
        loop {
            let place = self.place(next, lines).or_else(|| {
                self.refresh(credits);
                self.place(next, lines)
            });
            let Some((claim, after)) = place else {
                let now = self.next.load(Ordering::Acquire);
                if now == next {
                    return None;
                }
                next = now;
                continue;
            };
            // AcqRel: see invariant 2.
            match self.next.compare_exchange(next, after, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(claim),
                Err(now) => next = now,
            }
        }
    }

    /// Where a message would go and what `next` would be, if the known credits leave room.
    #[inline(always)]
    fn place(&self, next: u64, lines: u64) -> Option<(Claim, u64)> {
        // Acquire: pairs with the Release in raise(): the reader is done with the slot.
        let consumed = self.known.slots.load(Ordering::Acquire);
        let ahead = (next >> LINE_BITS).wrapping_sub(consumed) & SLOTS;
        if ahead >= self.slots {
            return None;
        }
        // The whole number: the reader's count does not wrap with `next`.
        let slot = consumed + ahead;
        let after = next.wrapping_add(1 << LINE_BITS);
        if lines == 0 {
            return Some((Claim { slot, line: 0 }, after));
        }
        // Acquire: pairs with the Release in raise(): the reader is done with the lines.
        let consumed = self.known.lines.load(Ordering::Acquire);
        let ahead = (next & LINES).wrapping_sub(consumed) & LINES;
        let free = consumed + ahead;
        let offset = free % self.lines;
        let line = if offset + lines > self.lines { free + self.lines - offset } else { free };
        let end = line + lines;
        (end <= consumed + self.lines).then_some((Claim { slot, line }, after & !LINES | end & LINES))
    }

    /// Reads how far the reader has come.
    #[cold]
    fn refresh(&self, credits: &Credits<'_, P>) {
        // Acquire: pairs with the reader's Release: later writes come after its last reads.
        raise(&self.known.slots, credits.cells.load(Ordering::Acquire) / CELLS_A_SLOT);
        raise(&self.known.lines, credits.bytes.load(Ordering::Acquire) / LINE_BYTES);
    }
}

/// Raises a number to at least `to`.
fn raise(number: &impl AtomicInteger<u64>, to: u64) {
    let mut now = number.load(Ordering::Relaxed);
    while now < to {
        // Release: pairs with the Acquire in place().
        match number.compare_exchange(now, to, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(other) => now = other,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use heddle_platform::atomic::AtomicU64;

    struct Reader {
        cells: AtomicU64,
        bytes: AtomicU64,
    }

    impl Reader {
        fn credits(&self) -> Credits<'_> {
            Credits { cells: &self.cells, bytes: &self.bytes }
        }

        fn consume(&self, slots: u64, lines: u64) {
            self.cells.store(slots * CELLS_A_SLOT, Ordering::Release);
            self.bytes.store(lines * LINE_BYTES, Ordering::Release);
        }
    }

    fn at(claims: &Claims, reader: &Reader, lines: u64) -> Option<(u64, u64)> {
        claims.claim(lines, &reader.credits()).map(|claim| (claim.slot, claim.line))
    }

    #[test]
    fn claims_in_order_as_far_as_there_is_room() {
        let reader = Reader { cells: AtomicU64::new(0), bytes: AtomicU64::new(0) };
        let claims = Claims::new(4, 10);
        assert_eq!(at(&claims, &reader, 4), Some((0, 0)));
        assert_eq!(at(&claims, &reader, 0), Some((1, 0)));
        assert_eq!(at(&claims, &reader, 4), Some((2, 4)));
        assert_eq!(at(&claims, &reader, 3), None, "it would wrap, and the first lines are taken");
        assert_eq!(at(&claims, &reader, 2), Some((3, 8)));
        assert_eq!(at(&claims, &reader, 0), None, "all slots are taken");
        reader.consume(1, 4);
        assert_eq!(at(&claims, &reader, 4), Some((4, 10)));
        assert_eq!(at(&claims, &reader, 0), None);
        reader.consume(4, 10);
        assert_eq!(
            at(&claims, &reader, 7),
            None,
            "six lines are left to the end, and the next four are taken"
        );
        assert_eq!(at(&claims, &reader, 6), Some((5, 14)));
    }

    #[test]
    fn counts_on_where_its_numbers_wrap() {
        // Starts just before the end of both numbers, of one of them, and of numbers that have wrapped
        // before; with a number of lines that divides theirs, and with one that does not.
        for (slot, line) in [(SLOTS, LINES), (SLOTS, 0), (0, LINES), (5 * SLOTS + 4, 3 * LINES + 2)] {
            for lines in [4, 10] {
                let (slot, line) = (slot.saturating_sub(2), line.saturating_sub(3));
                let reader = Reader { cells: AtomicU64::new(0), bytes: AtomicU64::new(0) };
                reader.consume(slot, line);
                let claims = Claims::<Native>::starting_at(2, lines, Claim { slot, line });
                for more in (0..16).step_by(2) {
                    let claimed = (slot + more, line + more);
                    assert_eq!(at(&claims, &reader, 1), Some(claimed));
                    assert_eq!(at(&claims, &reader, 1), Some((claimed.0 + 1, claimed.1 + 1)));
                    assert_eq!(at(&claims, &reader, 0), None, "both slots are taken");
                    reader.consume(claimed.0 + 2, claimed.1 + 2);
                }
            }
        }
    }
}
