//! The identity of a request, and its purpose.

/// The index of a request's slot.
pub type RequestId = u32;

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RequestKind {
    /// A send.
    #[default]
    Send,
    /// A receive.
    Receive,
    /// A request that the user or the library completes (`MPI_Grequest_complete`).
    Generalized,
    /// A nonblocking or persistent collective operation, which a [task](crate::vni::Task) completes.
    Collective,
    /// A partitioned send, likewise.
    PartitionedSend,
    /// A partitioned receive, likewise.
    PartitionedReceive,
}
