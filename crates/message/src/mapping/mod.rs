//! The VNI of a message: sender and receiver each compute it, and get the same one.
//!
//! The context id, which the leader of a new communicator makes, contains everything that they need:
//!
//! ```text
//!  63      42 41             6    5       4       3    2   0
//!  ┌─────────┬────────────────┬───────┬────────┬──────┬───────┐
//!  │ leader  │ number         │ named │ source │ tag  │ plane │
//!  └─────────┴────────────────┴───────┴────────┴──────┴───────┘
//!   world rank  of the leader's  how its messages are sharded
//! ```
//!
//! | the program said | the VNI of a message of the program |
//! |---|---|
//! | nothing | the communicator's default VNI: its number, modulo the number of VNIs |
//! | `heddle_vni` | the same; the leader takes a number that leads to that VNI (bit "named") |
//! | `mpi_assert_no_any_tag` | default VNI + a step by the tag (bit "tag") |
//! | `mpi_assert_no_any_source` | default VNI + a step by the sender's rank in the communicator (bit "source") |
//! | both hints | default VNI + both steps |
//! | `heddle_vni` and hints | default VNI; wildcards that break a hint are still refused |
//!
//! Collective operations and the creation of communicators use the default VNI.
//!
//! **Order.** Messages of one communicator, source and tag are on one VNI, and so are all receives and probes
//! that can match them: a receive or probe with a wildcard that the VNI depends on is refused. Messages with
//! different tags or sources need no order between them, since no receive can match both.
//!
//! **Agreement.** The members of a new communicator send their hints to the leader. A hint takes effect only
//! if every process gives the same value ([`VniChoice::agreed`]).
//!
//! Without hints all of this costs a message one branch, on bits of the context id that it carries anyway.

pub use crate::matching::PLANE;

/// Messages are sharded by tag, and `MPI_ANY_TAG` is refused.
pub(crate) const BY_TAG: u64 = 1 << 3;
/// Messages are sharded by source, and `MPI_ANY_SOURCE` is refused.
pub(crate) const BY_SOURCE: u64 = 1 << 4;
/// The program has named the VNI.
pub(crate) const NAMED: u64 = 1 << 5;
/// The first bit of the number, and its length in bits.
const NUMBER: (u32, u32) = (6, 36);
/// The first bit of the leader's rank.
const LEADER: u32 = NUMBER.0 + NUMBER.1;

/// How many numbers a leader has.
pub(crate) const NUMBERS: u64 = 1 << NUMBER.1;

/// The context id of a communicator that does not know its context yet, and the word by which a leader says
/// that it has no number left. No leader makes it, since its rank would be 2^22 - 1; it shards nothing.
pub const UNKNOWN: u64 = u64::MAX << NUMBER.0;

/// Odd factors without a pattern: for runs, for sources beside tags, and for both. The first two differ, so
/// that tags derived from ranks are sharded, too.
const OF_RUNS: u32 = 0x9e37_79b9;
const OF_SOURCES: u32 = 0x1656_67b1;
const OF_BOTH: u32 = 0xc2b2_ae35;

/// Makes a context id from the world rank of the leader, the leader's number for it, and
/// the mapping of messages.
///
/// # Panics
/// If the rank or the number has more bits than its field.
pub fn context_id(leader: usize, number: u64, choice: VniChoice) -> u64 {
    assert!(leader < 1 << (u64::BITS - LEADER) && number < NUMBERS, "no context {number} of rank {leader}");
    (leader as u64) << LEADER | number << NUMBER.0 | choice.bits()
}

/// The default VNI of a context.
pub(crate) fn default_vni(context: u64, vnis: usize) -> u32 {
    let number = context >> NUMBER.0 & (NUMBERS - 1);
    (number % vnis as u64) as u32
}

/// The VNI of a message in a context with this default VNI.
#[cold]
pub(crate) fn sharded_vni(default_vni: u32, context: u64, (source, tag): (i32, i32), vnis: u32) -> u32 {
    if context & (NAMED | PLANE) != 0 {
        return default_vni;
    }
    let steps = match (context & BY_TAG != 0, context & BY_SOURCE != 0) {
        (true, false) => steps(tag as u32, vnis),
        (false, true) => steps(source as u32, vnis),
        // Programs often derive the tag from the rank. With equal steps for both, such messages
        // would miss half of the VNIs.
        (true, true) => steps(tag as u32, vnis) + mixed(source as u32, OF_SOURCES),
        (false, false) => 0,
    };
    (default_vni + steps) % vnis
}

/// The steps of a tag or source. Numbers fall into runs, each as long as the number of VNIs. In a run each
/// number has a VNI of its own; the VNI where a run begins is mixed from the run's number.
///
/// Threads mostly have consecutive tags. A plain remainder would do for these, but would put all tags that
/// differ by a multiple of the number of VNIs on one VNI.
#[inline]
pub(crate) fn steps(number: u32, vnis: u32) -> u32 {
    number % vnis + mixed(number / vnis, OF_RUNS)
}

/// Returns 16 bits that depend on all bits of the number; 0 for 0.
#[inline]
fn mixed(number: u32, factor: u32) -> u32 {
    let once = number.wrapping_mul(factor);
    (once ^ once >> 15).wrapping_mul(OF_BOTH) >> 16
}

/// The mapping of a communicator's messages to VNIs, as the program asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VniChoice {
    /// The VNI that carries all messages, if the program names one.
    vni: Option<u32>,
    /// True if messages are sharded by tag.
    by_tag: bool,
    /// True if messages are sharded by source.
    by_source: bool,
}

impl VniChoice {
    /// Makes a choice: all messages on one VNI, or sharded by tag, by source or by both.
    pub fn new(vni: Option<u32>, by_tag: bool, by_source: bool) -> VniChoice {
        VniChoice { vni, by_tag, by_source }
    }

    /// Returns the mapping that a context has in processes with `vnis` VNIs.
    pub fn in_force(context: u64, vnis: usize) -> VniChoice {
        VniChoice {
            vni: (context & NAMED != 0).then(|| default_vni(context, vnis)),
            by_tag: context & BY_TAG != 0,
            by_source: context & BY_SOURCE != 0,
        }
    }

    /// Returns what two choices have in common: a hint that only one of them gives, or that they give
    /// different values, is dropped. The result for many choices does not depend on their order.
    #[must_use]
    pub fn agreed(self, other: VniChoice) -> VniChoice {
        VniChoice {
            vni: self.vni.filter(|_| self.vni == other.vni),
            by_tag: self.by_tag && other.by_tag,
            by_source: self.by_source && other.by_source,
        }
    }

    /// Encodes the choice for a message.
    pub fn to_word(self) -> u64 {
        self.vni.map_or(0, |vni| u64::from(vni) + 1) << NUMBER.0 | self.bits()
    }

    /// Decodes a choice that [`to_word`](Self::to_word) has encoded.
    pub fn from_word(word: u64) -> VniChoice {
        let vni = (word >> NUMBER.0).checked_sub(1).map(|vni| vni as u32);
        VniChoice { vni, ..VniChoice::in_force(word & !NAMED, 1) }
    }

    fn bits(self) -> u64 {
        let bit = |set: bool, bit: u64| if set { bit } else { 0 };
        bit(self.vni.is_some(), NAMED) | bit(self.by_tag, BY_TAG) | bit(self.by_source, BY_SOURCE)
    }

    /// Returns the first number from `next` on whose default VNI is the chosen one.
    pub fn number_from(self, next: u64, vnis: usize) -> u64 {
        let vnis = vnis as u64;
        self.vni.map_or(next, |vni| next + (u64::from(vni) + vnis - next % vnis) % vnis)
    }

    /// The VNI that the program named.
    pub fn vni(self) -> Option<u32> {
        self.vni
    }

    /// Returns whether messages are sharded by tag, and whether they are sharded by source.
    pub fn sharded_by(self) -> (bool, bool) {
        (self.by_tag, self.by_source)
    }
}

/// Returns true if all messages of a context are on the default VNI, and may be received with wildcards.
#[inline(always)]
pub(crate) fn is_plain(context: u64) -> bool {
    context & (BY_TAG | BY_SOURCE) == 0
}

#[cfg(test)]
mod tests;
