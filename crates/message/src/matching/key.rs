//! The key by which messages and receives are matched.

use heddle_spec::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG};
use heddle_transport::Envelope;

/// The matching key. In a receive, source and tag may be `MPI_ANY_SOURCE`, `MPI_ANY_TAG`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The context id.
    pub context: u64,
    /// Source and tag.
    pub envelope: Envelope,
}

/// The bits of a context id that tell apart the planes of a communicator.
pub const PLANE: u64 = 0b111;

/// The four shapes of a receive's key.
pub(super) const SHAPES: usize = 4;

impl Key {
    /// A key.
    #[inline(always)]
    pub fn new(context: u64, source: i32, tag: i32) -> Key {
        Key { context, envelope: Envelope::new(source, tag) }
    }

    /// Returns true if a receive with this key matches a message with that exact key.
    #[inline(always)]
    pub fn wants(&self, exact: &Key) -> bool {
        self == exact || (self.shape() != 0 && exact.with_shape(self.shape()) == *self)
    }

    /// The rank of the sender in the communicator, or `MPI_ANY_SOURCE`.
    #[inline(always)]
    pub fn source(&self) -> i32 {
        self.envelope.source()
    }

    /// The tag, or `MPI_ANY_TAG`.
    #[inline(always)]
    pub fn tag(&self) -> i32 {
        self.envelope.tag()
    }

    /// The wildcards of the key: 0 for none, 1 for any tag, 2 for any source, 3 for both.
    #[inline(always)]
    pub(crate) fn shape(&self) -> usize {
        usize::from(self.tag() == MPI_ANY_TAG) | usize::from(self.source() == MPI_ANY_SOURCE) << 1
    }

    /// This exact key with the wildcards of a shape.
    #[inline(always)]
    pub(crate) fn with_shape(&self, shape: usize) -> Key {
        let source = if shape & 2 != 0 { MPI_ANY_SOURCE } else { self.source() };
        let tag = if shape & 1 != 0 { MPI_ANY_TAG } else { self.tag() };
        Key::new(self.context, source, tag)
    }

    #[inline(always)]
    pub(crate) fn hash(&self) -> u64 {
        let low = self.envelope.bits().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.context ^ low).wrapping_mul(0xd6e8_feb8_6659_fd93);
        mixed ^ mixed >> 32
    }
}
