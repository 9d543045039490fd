//! The modes of sends.

/// The condition under which a send may complete (MPI 5.0, section 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The send may complete at any time. Also used for ready mode.
    Standard,
    /// The send completes only when its receive has started.
    Synchronous,
    /// The send completes independently of the receiver, from the attached buffer.
    Buffered,
}
