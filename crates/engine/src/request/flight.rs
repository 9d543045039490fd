//! What an operation under way consists of: what the protocols need of it, and what its owner does.

use super::missing::Missing;
use super::{Attachment, RequestId};
use crate::buffer::Buffer;
use std::any::Any;

/// An operation in flight: what the protocols need to know of it. For who has it see [`request`](super). What all need is at its
/// beginning.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Flight {
    pub(crate) buffer: Buffer,
    pub(crate) stage: Stage,
    /// World rank of the other side (for a receive once it is matched).
    pub(crate) peer: usize,
    pub(crate) context: u64,
    /// Own rank in the communicator for a send, the wanted source for a receive.
    pub(crate) source: i32,
    pub(crate) tag: i32,
    /// For a send: whether it must wait for its match.
    pub(crate) synchronous: bool,
    /// For a send: whether its receiver was told to fetch the data, and has not yet.
    pub(crate) offered: bool,
    /// Bytes that have arrived in a streamed rendezvous, and how many are wanted.
    pub(crate) arrived: usize,
    pub(crate) wanted: usize,
    /// Whether they are stored past the caches.
    pub(crate) past_caches: bool,
    /// For a joint request: the parts that are missing.
    pub(crate) missing: Missing,
    /// When the receiver asked for them.
    pub(crate) asked_ns: u64,
    /// Memory that the library keeps for the operation (buffered sends).
    pub(crate) keep: Option<Box<dyn Any + Send>>,
}

/// How far an operation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A receive in the set of posted ones, at this place; or it was there.
    Posted(u32),
    /// One that has never been.
    UnderWay,
}

impl Flight {
    pub(super) fn none() -> Flight {
        Flight {
            buffer: Buffer::empty(),
            peer: 0,
            context: 0,
            source: 0,
            tag: 0,
            synchronous: false,
            offered: false,
            stage: Stage::UnderWay,
            arrived: 0,
            wanted: 0,
            past_caches: false,
            missing: Missing::new(0),
            asked_ns: 0,
            keep: None,
        }
    }
}

/// What the request's owner knows of it, fixed between issue and completion.
#[derive(Debug, Default)]
pub(crate) struct Ownership {
    pub(crate) kind: RequestKind,
    pub(crate) detached: bool,
    /// For a detached part of a joint operation: the request that completes when all parts have.
    pub(crate) joint: Option<RequestId>,
    /// Something to be run when the request is completed towards the user, or kept until then.
    pub(crate) attachment: Option<Box<dyn Attachment>>,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RequestKind {
    #[default]
    Send,
    Receive,
    /// Completed by the user or by the library (`MPI_Grequest_complete`).
    Generalized,
}
