//! Where everything lies in the transport's part of the job's shared segment.
//!
//! ```text
//!  doorbells   one cache line a rank
//!  presences   one cache line a rank: has it started, does it need fences
//!  attendances one cache line a (rank, VNI): how many of the rank's threads wait there
//!  throttles   one cache line a (rank, VNI): whether it throttles its senders
//!  allocated   one cache line: how much of the file behind the segment was allocated (`shared_memory.rs`)
//!  connections one bit a (receiver, VNI, sender): "I have begun to send to you"
//!  rings       one a (receiver, VNI, sender): credits · slots · bulk
//! ```
//!
//! The segment is sparse: a page exists only once it was touched, so a pair of ranks that
//! never talk costs nothing.

use crate::presence::Presence;
use crate::ring::{Credits, RingMemory, longest_payload};
use heddle_platform::atomic::{AtomicU32, AtomicU64};
use heddle_sync::Doorbell;

const PAGE: usize = 4096;
const LINE: usize = 64;

/// The longest payload that the rings of every job take, in bytes: more is sent in pieces, or by another
/// protocol. The protocols above take their limits from here, and [`Geometry::for_job`] refuses rings that
/// are too small for it.
pub const LONGEST_PAYLOAD: usize = 32 << 10;

/// The numbers that fix the layout. All ranks of a job use the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Ranks in the job.
    pub ranks: usize,
    /// VNIs in each process.
    pub vnis: usize,
    /// Slots in a ring, a power of two.
    pub slots: usize,
    /// Bytes in a ring's bulk area, a multiple of the page size.
    pub bulk_bytes: usize,
}

impl Geometry {
    /// The sizes for a job. A bulk area larger than a core's private cache is better: lines that have left it
    /// for the shared one are written sooner than lines that must be taken back from the other core (8 KiB
    /// messages on 1 MiB of cache a core: 8 GB/s with 256 KiB, 11 with 1 MiB, 20 with 2 MiB). With many ranks
    /// both areas are smaller, so that a process that talks to all others keeps its share of shared memory
    /// small: the slots of a ring have their pages from its first message on.
    ///
    /// # Panics
    /// If the rings would not take a payload of [`LONGEST_PAYLOAD`] bytes.
    pub fn for_job(ranks: usize, vnis: usize) -> Geometry {
        let (slots, bulk_bytes) = match ranks {
            0..=4 => (256, 2 << 20),
            5..=8 => (256, 1 << 20),
            9..=64 => (256, 256 << 10),
            65..=256 => (128, 128 << 10),
            _ => (64, 128 << 10),
        };
        let geometry = Geometry { ranks, vnis, slots, bulk_bytes };
        geometry.check();
        geometry
    }

    /// Refuses rings in which a sender of the longest payload could wait for ever.
    fn check(&self) {
        let longest = longest_payload(self.bulk_bytes as u64);
        assert!(
            LONGEST_PAYLOAD as u64 <= longest,
            "a bulk area of {} bytes takes payloads of at most {longest} bytes, and {LONGEST_PAYLOAD} are \
             sent",
            self.bulk_bytes
        );
    }

    fn connection_words(&self) -> usize {
        self.ranks.div_ceil(64)
    }

    fn connection_stride(&self) -> usize {
        (self.connection_words() * 8).next_multiple_of(LINE)
    }

    fn presences_offset(&self) -> usize {
        self.ranks * LINE
    }

    fn attendances_offset(&self) -> usize {
        self.presences_offset() + self.ranks * LINE
    }

    fn throttles_offset(&self) -> usize {
        self.attendances_offset() + self.ranks * self.vnis * LINE
    }

    fn allocated_offset(&self) -> usize {
        self.throttles_offset() + self.ranks * self.vnis * LINE
    }

    fn connections_offset(&self) -> usize {
        self.allocated_offset() + LINE
    }

    fn rings_offset(&self) -> usize {
        (self.connections_offset() + self.ranks * self.vnis * self.connection_stride()).next_multiple_of(PAGE)
    }

    fn ring_stride(&self) -> usize {
        (size_of::<Credits>() + self.slots * LINE + self.bulk_bytes).next_multiple_of(PAGE)
    }

    /// The length of the transport's part of the segment, in bytes.
    pub fn segment_len(&self) -> usize {
        self.rings_offset() + self.ranks * self.vnis * self.ranks * self.ring_stride()
    }

    /// The areas, besides rings, that peers read and write to communicate with a rank: offsets and lengths.
    pub(crate) fn areas_of(&self, rank: usize) -> [(usize, usize); 5] {
        let attendances = self.attendances_offset() + rank * self.vnis * LINE;
        let throttles = self.throttles_offset() + rank * self.vnis * LINE;
        let connections = self.connections_offset() + rank * self.vnis * self.connection_stride();
        [
            (0, self.attendances_offset()),
            (attendances, self.vnis * LINE),
            (throttles, self.vnis * LINE),
            (self.allocated_offset(), LINE),
            (connections, self.vnis * self.connection_stride()),
        ]
    }

    /// The doorbell of a rank.
    ///
    /// # Safety
    /// `base` is the start of a live mapping of [`Geometry::segment_len`] bytes.
    #[expect(clippy::cast_ptr_alignment, reason = "a mapping begins on a page, and every doorbell on a line")]
    pub(crate) unsafe fn doorbell(&self, base: *mut u8, rank: usize) -> *const Doorbell {
        debug_assert!(rank < self.ranks);
        // SAFETY: inside the segment.
        unsafe { base.add(rank * LINE) }.cast::<Doorbell>()
    }

    /// The presence of a rank.
    ///
    /// # Safety
    /// The same as for [`Geometry::doorbell`].
    #[expect(
        clippy::cast_ptr_alignment,
        reason = "a mapping begins on a page, and the offset is a multiple of 64"
    )]
    pub(crate) unsafe fn presence(&self, base: *mut u8, rank: usize) -> *const Presence {
        debug_assert!(rank < self.ranks);
        // SAFETY: inside the segment.
        unsafe { base.add(self.presences_offset() + rank * LINE) }.cast::<Presence>()
    }

    /// How many threads of a rank wait on a VNI.
    ///
    /// # Safety
    /// The same as for [`Geometry::doorbell`].
    #[expect(
        clippy::cast_ptr_alignment,
        reason = "a mapping begins on a page, and the offset is a multiple of 64"
    )]
    pub(crate) unsafe fn attendance(&self, base: *mut u8, rank: usize, vni: usize) -> *const AtomicU32 {
        debug_assert!(rank < self.ranks && vni < self.vnis);
        // SAFETY: inside the segment.
        unsafe { base.add(self.attendances_offset() + (rank * self.vnis + vni) * LINE) }.cast::<AtomicU32>()
    }

    /// The flag by which a rank throttles the senders to one of its VNIs.
    ///
    /// # Safety
    /// The same as for [`Geometry::doorbell`].
    #[expect(
        clippy::cast_ptr_alignment,
        reason = "a mapping begins on a page, and the offset is a multiple of 64"
    )]
    pub(crate) unsafe fn throttle(&self, base: *mut u8, rank: usize, vni: usize) -> *const AtomicU32 {
        debug_assert!(rank < self.ranks && vni < self.vnis);
        // SAFETY: inside the segment.
        unsafe { base.add(self.throttles_offset() + (rank * self.vnis + vni) * LINE) }.cast::<AtomicU32>()
    }

    /// The number of bytes behind the segment that were allocated.
    ///
    /// # Safety
    /// The same as for [`Geometry::doorbell`].
    #[expect(
        clippy::cast_ptr_alignment,
        reason = "a mapping begins on a page, and the offset is a multiple of 64"
    )]
    pub(crate) unsafe fn allocated(&self, base: *mut u8) -> *const AtomicU64 {
        // SAFETY: inside the segment.
        unsafe { base.add(self.allocated_offset()) }.cast::<AtomicU64>()
    }

    /// The words in which senders announce themselves to a receiver's VNI.
    ///
    /// # Safety
    /// The same as for [`Geometry::doorbell`].
    #[expect(
        clippy::cast_ptr_alignment,
        reason = "a mapping begins on a page, and the offset is a multiple of 64"
    )]
    pub(crate) unsafe fn connections(
        &self,
        base: *mut u8,
        receiver: usize,
        vni: usize,
    ) -> *const [AtomicU64] {
        let offset = self.connections_offset() + (receiver * self.vnis + vni) * self.connection_stride();
        // SAFETY: inside the segment; the offset is a multiple of 64.
        let first = unsafe { base.add(offset) }.cast::<AtomicU64>();
        std::ptr::slice_from_raw_parts(first, self.connection_words())
    }

    /// The ring from a sender to a receiver's VNI.
    ///
    /// # Safety
    /// The same as for [`Geometry::doorbell`].
    pub(crate) unsafe fn ring(
        &self,
        base: *mut u8,
        receiver: usize,
        vni: usize,
        sender: usize,
    ) -> RingMemory {
        let index = (receiver * self.vnis + vni) * self.ranks + sender;
        // SAFETY: inside the segment.
        let credits = unsafe { base.add(self.rings_offset() + index * self.ring_stride()) };
        // SAFETY: inside the ring.
        let slots = unsafe { credits.add(size_of::<Credits>()) };
        // SAFETY: inside the ring.
        let bulk = unsafe { slots.add(self.slots * LINE) };
        // SAFETY: the caller's promise.
        let throttle = unsafe { self.throttle(base, receiver, vni) };
        let cells = (slots.cast(), self.slots as u64 * 2);
        RingMemory::new(credits.cast(), cells, (bulk, self.bulk_bytes as u64), throttle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rings_of_every_job_take_the_longest_payload() {
        for ranks in [1, 4, 5, 8, 9, 64, 65, 100, 128, 1 << 16] {
            let geometry = Geometry::for_job(ranks, 1);
            assert!(longest_payload(geometry.bulk_bytes as u64) >= LONGEST_PAYLOAD as u64);
        }
    }

    #[test]
    #[should_panic(expected = "payloads of at most 16384 bytes")]
    fn rings_too_small_for_the_longest_payload_are_refused() {
        Geometry { ranks: 65, vnis: 1, slots: 256, bulk_bytes: 64 << 10 }.check();
    }

    #[test]
    fn rings_do_not_overlap_and_end_at_the_segment() {
        let g = Geometry { ranks: 3, vnis: 2, slots: 8, bulk_bytes: 4096 };
        let base = 0x10_0000 as *mut u8;
        let mut starts = Vec::new();
        for receiver in 0..3 {
            for vni in 0..2 {
                for sender in 0..3 {
                    // SAFETY: only addresses are computed, nothing is read.
                    starts.push(unsafe { g.ring(base, receiver, vni, sender) }.credits.addr());
                }
            }
        }
        assert!(starts.windows(2).all(|w| w[1] - w[0] == g.ring_stride()));
        let last_end = starts.last().copied().unwrap_or(0) + g.ring_stride();
        assert_eq!(last_end, base.addr() + g.segment_len());
    }
}
