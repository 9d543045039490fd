//! What values are made of, and the loads on which they depend.

/// Registers, a bit each: sixteen general ones, the flags, and the vectors, of which the last two share a
/// bit.
pub type Registers = u32;

/// What a value of a block is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Registers as they are when the block begins.
    pub registers: Registers,
    /// Loads of the block, a bit each.
    pub loads: u64,
}

impl Sources {
    /// What is made of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { registers: self.registers | other.registers, loads: self.loads | other.loads }
    }
}

/// What a block makes of what it has when it begins.
#[derive(Debug, Default)]
pub struct Flow {
    /// The registers that it changes, and what it makes them of.
    pub changed: Vec<(Registers, Sources)>,
    /// What the way out of it depends on.
    pub branch: Sources,
}

/// A load whose line is on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// When its line comes.
    pub(super) comes: u64,
    /// When the window is full behind it.
    pub(super) fills: u64,
    /// The registers that are made of it.
    pub(super) registers: Registers,
    /// Its bit, in the block that it belongs to.
    pub(super) load: u64,
}

/// The loads of a thread that are under way.
#[derive(Debug, Default)]
pub(super) struct Loads {
    pub(super) loads: Vec<Load>,
}
