//! The kinds of locks by name.

use std::ffi::CStr;

/// A kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The reader-writer lock of the paper, phase-fair.
    RmaRw,
    /// The tree of queues.
    RmaMcs,
    /// One queue.
    DMcs,
    /// foMPI's spin lock.
    Spin,
    /// foMPI's reader-writer lock.
    Rw,
    /// A reader-writer word with a queue for those that wait.
    QueueRw,
    /// The reader-writer lock of the paper, which tunes its parameters while it runs.
    Adaptive,
}

/// All names, separated by blanks.
pub(crate) const NAMES: &CStr = c"rma-rw rma-mcs d-mcs spin rw queue-rw adaptive";

impl Kind {
    const ALL: [(&'static str, Kind); 7] = [
        ("rma-rw", Kind::RmaRw),
        ("rma-mcs", Kind::RmaMcs),
        ("d-mcs", Kind::DMcs),
        ("spin", Kind::Spin),
        ("rw", Kind::Rw),
        ("queue-rw", Kind::QueueRw),
        ("adaptive", Kind::Adaptive),
    ];

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(_, known)| *known == self).map_or("?", |(name, _)| name)
    }

    /// True if several readers may have the lock at once. In the other kinds reading is writing.
    #[must_use]
    pub fn has_readers(self) -> bool {
        matches!(self, Kind::RmaRw | Kind::Rw | Kind::QueueRw | Kind::Adaptive)
    }

    /// True if the machine's levels matter.
    #[must_use]
    pub fn has_levels(self) -> bool {
        matches!(self, Kind::RmaRw | Kind::RmaMcs | Kind::Adaptive)
    }

    /// True if a process can wait for a time: by attempts. In the others a process that waits has a place in
    /// a queue or among the readers, which it cannot give up.
    #[must_use]
    pub fn is_timed(self) -> bool {
        matches!(self, Kind::Spin | Kind::Rw | Kind::QueueRw)
    }

    /// True if a reader that waits uses the words of its process, so that only one thread may.
    #[must_use]
    pub fn reads_by_node(self) -> bool {
        self == Kind::QueueRw
    }
}
