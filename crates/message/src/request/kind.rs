//! Which request, and what it is for.

/// The index of a request's slot.
pub type RequestId = u32;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RequestKind {
    /// A send.
    #[default]
    Send,
    /// A receive.
    Receive,
    /// Completed by the user or by the library (`MPI_Grequest_complete`).
    Generalized,
}
