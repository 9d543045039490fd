//! The modes of sends.

/// How a send may complete (MPI 5.0, section 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Whenever the library likes. Also used for ready mode.
    Standard,
    /// Only when the receive has started.
    Synchronous,
    /// Without regard to the receiver, from the attached buffer.
    Buffered,
}
