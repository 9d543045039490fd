//! The state of an active operation: the in-flight state, for the protocols, and the ownership, for the request's owner.

use super::attachment::Attachment;
use super::kind::{RequestId, RequestKind};
use crate::buffer::Buffer;
use heddle_objects::request::Missing;
use std::any::Any;

/// The in-flight state of an operation, for the protocols. One thread has it at a time, by the table in [`request`](super). The
/// fields of the hot path come first.
#[derive(Debug)]
#[repr(C)]
pub struct InFlight {
    /// The user's memory.
    pub buffer: Buffer,
    /// How far it has come.
    pub stage: Stage,
    /// World rank of the other side (for a receive once it is matched).
    pub peer: usize,
    /// The context id.
    pub context: u64,
    /// Own rank in the communicator for a send, the wanted source for a receive.
    pub source: i32,
    /// The tag, or the wanted one.
    pub tag: i32,
    /// For a send: whether it must wait for its match.
    pub synchronous: bool,
    /// For a send: whether its receiver was told to fetch the data, and has not yet.
    pub offered: bool,
    /// Bytes that have arrived in a streamed rendezvous, and how many are wanted.
    pub arrived: usize,
    /// Bytes that are wanted.
    pub wanted: usize,
    /// Whether they are stored past the caches.
    pub past_caches: bool,
    /// For a joint request, or a send to be withdrawn: the parts that are missing.
    pub missing: Missing,
    /// When the receiver asked for them.
    pub asked_ns: u64,
    /// Memory that the library keeps for the operation (buffered sends).
    pub keep: Option<Box<dyn Any + Send>>,
}

/// How far an operation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A receive in the set of posted ones, at this place; or it was there.
    Posted(u32),
    /// A send whose receiver was told of it and has not answered.
    Offered,
    /// A send whose receiver was asked to forget the message. It completes when the receiver says that it has; or when the
    /// receiver says that it has not and the transfer is over, which `missing` counts.
    Withdrawing,
    /// Any other.
    UnderWay,
}

impl InFlight {
    /// The receiver of a send has answered: it fetches the data, or it has all.
    pub(crate) fn answered(&mut self) {
        if self.stage == Stage::Offered {
            self.stage = Stage::UnderWay;
        }
    }

    pub(super) fn none() -> InFlight {
        InFlight {
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
pub struct Ownership {
    /// What it is for.
    pub kind: RequestKind,
    /// Whether nobody waits for it.
    pub detached: bool,
    /// For a detached part of a joint operation: the request that completes when all parts have.
    pub joint: Option<RequestId>,
    /// Something to be run when the request is completed towards the user, or kept until then.
    pub attachment: Option<Box<dyn Attachment>>,
}
