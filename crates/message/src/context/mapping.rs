//! The VNI of a message: sender and receiver compute the same one, each by itself.
//!
//! The context id, which the leader of a new communicator makes, has all that they need:
//!
//! ```text
//!  63      42 41             5    4       3       2    1   0
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
//! **Order.** Messages of one communicator, source and tag are on one VNI, and so are all receives and probes that can match
//! them: a receive or probe with a wildcard that the VNI depends on is refused. Messages with different tags or sources need
//! no order between them, since no receive can match both.
//!
//! **Agreement.** The members of a new communicator send their hints to the leader. A hint takes effect only if every process
//! gives the same value ([`Choice::agreed`]).
//!
//! Without hints all of this costs a message one branch, on bits of the context id that it carries anyway.

/// The bits of a context id that tell apart the planes of a communicator.
pub const PLANE: u64 = 0b11;
/// Messages are sharded by tag, and `MPI_ANY_TAG` is refused.
pub(crate) const BY_TAG: u64 = 1 << 2;
/// Messages are sharded by source, and `MPI_ANY_SOURCE` is refused.
pub(crate) const BY_SOURCE: u64 = 1 << 3;
/// The program has named the VNI.
pub(crate) const NAMED: u64 = 1 << 4;
/// Where the number begins, and how long it is.
const NUMBER: (u32, u32) = (5, 37);
/// Where the leader's rank begins.
const LEADER: u32 = NUMBER.0 + NUMBER.1;

/// The context id of a communicator that does not know its context yet. No leader makes it, and it shards nothing.
pub const UNKNOWN: u64 = u64::MAX << NUMBER.0;

/// Odd factors without a pattern: of runs, of sources beside tags, and of both. The first two differ, so that tags derived from
/// ranks are sharded, too.
const OF_RUNS: u32 = 0x9e37_79b9;
const OF_SOURCES: u32 = 0x1656_67b1;
const OF_BOTH: u32 = 0xc2b2_ae35;

/// A context id: the world rank of the leader that gives it away, its number there, and how messages are mapped.
pub fn context_id(leader: usize, number: u64, choice: Choice) -> u64 {
    (leader as u64) << LEADER | number << NUMBER.0 | choice.bits()
}

/// The VNI where a context is at home.
pub(super) fn default_vni(context: u64, vnis: usize) -> u32 {
    let number = context >> NUMBER.0 & ((1 << NUMBER.1) - 1);
    (number % vnis as u64) as u32
}

/// The VNI of a message in a context whose home is `home`.
#[cold]
pub(super) fn sharded_vni(default_vni: u32, context: u64, (source, tag): (i32, i32), vnis: u32) -> u32 {
    if context & (NAMED | PLANE) != 0 {
        return default_vni;
    }
    let steps = match (context & BY_TAG != 0, context & BY_SOURCE != 0) {
        (true, false) => steps(tag as u32, vnis),
        (false, true) => steps(source as u32, vnis),
        // Programs often derive the tag from the rank: steps that are equal would be taken twice.
        (true, true) => steps(tag as u32, vnis) + mixed(source as u32, OF_SOURCES),
        (false, false) => 0,
    };
    (default_vni + steps) % vnis
}

/// The steps of a tag or source: in a run of as many as there are VNIs each is on its own, and runs begin anywhere.
///
/// Threads mostly have tags in a row. A plain remainder would do for these, but would put all tags on one VNI that differ by a
/// multiple of the number of VNIs.
#[inline]
pub(crate) fn steps(number: u32, vnis: u32) -> u32 {
    number % vnis + mixed(number / vnis, OF_RUNS)
}

/// 16 bits that depend on all of the number's; 0 for 0.
#[inline]
fn mixed(number: u32, factor: u32) -> u32 {
    let once = number.wrapping_mul(factor);
    (once ^ once >> 15).wrapping_mul(OF_BOTH) >> 16
}

/// How a communicator's messages are to be mapped to VNIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Choice {
    /// All to this one.
    vni: Option<u32>,
    /// Spread by tag.
    by_tag: bool,
    /// Spread by source.
    by_source: bool,
}

impl Choice {
    /// A choice: all messages on one VNI, or sharded by tag, by source or by both.
    pub fn new(vni: Option<u32>, by_tag: bool, by_source: bool) -> Choice {
        Choice { vni, by_tag, by_source }
    }

    /// What is done in a context, of processes with so many VNIs.
    pub fn in_force(context: u64, vnis: usize) -> Choice {
        Choice {
            vni: (context & NAMED != 0).then(|| default_vni(context, vnis)),
            by_tag: context & BY_TAG != 0,
            by_source: context & BY_SOURCE != 0,
        }
    }

    /// What two that may differ have in common. The order in which many agree does not matter: what two say differently, or one
    /// does not say, is not said by both together.
    #[must_use]
    pub fn agreed(self, other: Choice) -> Choice {
        Choice {
            vni: self.vni.filter(|_| self.vni == other.vni),
            by_tag: self.by_tag && other.by_tag,
            by_source: self.by_source && other.by_source,
        }
    }

    /// For a message.
    pub fn to_word(self) -> u64 {
        self.vni.map_or(0, |vni| u64::from(vni) + 1) << NUMBER.0 | self.bits()
    }

    /// What [`to_word`](Self::to_word) has made.
    pub fn from_word(word: u64) -> Choice {
        let vni = (word >> NUMBER.0).checked_sub(1).map(|vni| vni as u32);
        Choice { vni, ..Choice::in_force(word & !NAMED, 1) }
    }

    fn bits(self) -> u64 {
        let bit = |set: bool, bit: u64| if set { bit } else { 0 };
        bit(self.vni.is_some(), NAMED) | bit(self.by_tag, BY_TAG) | bit(self.by_source, BY_SOURCE)
    }

    /// The first number from `next` on whose home is right.
    pub fn number_from(self, next: u64, vnis: usize) -> u64 {
        let vnis = vnis as u64;
        self.vni.map_or(next, |vni| next + (u64::from(vni) + vnis - next % vnis) % vnis)
    }

    /// The VNI that was named.
    pub fn vni(self) -> Option<u32> {
        self.vni
    }

    /// Whether messages are sharded by tag, and by source.
    pub fn sharded_by(self) -> (bool, bool) {
        (self.by_tag, self.by_source)
    }
}

/// Whether all messages of a context are at home, and may be received with wildcards.
#[inline(always)]
pub(super) fn is_plain(context: u64) -> bool {
    context & (BY_TAG | BY_SOURCE) == 0
}

#[cfg(test)]
mod tests;
