//! The largest machine, and the numbers that mean nobody and never.

/// The most threads that live at a time.
pub const SLOTS: usize = 1024;
/// The most cores of a machine.
pub const CORES: usize = crate::machine::MOST_CORES;
/// Nobody, nothing: of slots and cores.
pub const NONE: u32 = u32::MAX;
/// The clock of a thread that waits for others, not for a time.
pub const NEVER: u64 = u64::MAX;
/// The most objects that processes share.
pub(super) const OBJECTS: usize = 4096;
/// The most lines whose moves are counted in an interval.
pub(super) const MOVED: usize = 1 << 17;
