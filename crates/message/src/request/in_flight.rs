//! The state of an active operation: the in-flight state, for the protocols, and the ownership,
//! for the request's owner.

use super::attachment::Attachment;
use super::kind::{RequestId, RequestKind};
use crate::buffer::Buffer;
use crate::transfer_method::TransferMethod;
use heddle_objects::request::Missing;
use std::any::Any;

/// The in-flight state of an operation, for the protocols. One thread has it at a time, by the table in
/// [`request`](super). The fields of the hot path come first.
#[derive(Debug)]
#[repr(C)]
pub struct InFlight {
    /// The user's memory.
    pub buffer: Buffer,
    /// The stage of the operation.
    pub stage: Stage,
    /// World rank of the other process. A receive has it once it is matched.
    pub peer: usize,
    /// The context id.
    pub context: u64,
    /// For a send, this process's rank in the communicator; for a receive, the wanted source.
    pub source: i32,
    /// For a send, the tag; for a receive, the wanted tag.
    pub tag: i32,
    /// For a send: true if it must wait for its match.
    pub synchronous: bool,
    /// For a send: true while its receiver was told to fetch the data, and has not fetched it yet.
    pub offered: bool,
    /// For a send: true while this process sends pieces of the data, or copies the rear half. The
    /// receiver has nothing to say until then, and the end of the send would take the data away.
    pub(crate) being_read: bool,
    /// For a receive: true while the sender is asked for pieces.
    pub(crate) pieces_wanted: bool,
    /// The number of bytes that have arrived in a streamed rendezvous.
    pub arrived: usize,
    /// The number of bytes that are wanted.
    pub wanted: usize,
    /// For a receive: the method by which the data is fetched, if there was a choice.
    pub(crate) method: Option<TransferMethod>,
    /// For a joint request, or a send to be withdrawn: the parts that are missing.
    pub missing: Missing,
    /// The time when the receiver asked for the pieces.
    pub asked_ns: u64,
    /// Memory that the library keeps for the operation (buffered sends).
    pub keep: Option<Box<dyn Any + Send>>,
}

/// The stage of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A receive that is posted, at this position among the posted receives; or it was there before.
    Posted(u32),
    /// A send that its receiver was told of and has not answered.
    Offered,
    /// A send whose receiver was asked to forget the message. If the receiver forgets it, the send
    /// completes with that answer. Otherwise the send completes after the answer and the end of the
    /// transfer, which `missing` counts.
    Withdrawing,
    /// Any other stage.
    UnderWay,
}

impl InFlight {
    /// Notes that the receiver of a send has answered: it fetches the data, or has all of it.
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
            being_read: false,
            pieces_wanted: false,
            stage: Stage::UnderWay,
            arrived: 0,
            wanted: 0,
            method: None,
            missing: Missing::new(0),
            asked_ns: 0,
            keep: None,
        }
    }
}

/// The part of a request that belongs to its owner; it does not change between issue and completion.
#[derive(Debug, Default)]
pub struct Ownership {
    /// The purpose of the request.
    pub kind: RequestKind,
    /// True if no thread waits for the request: the thread that completes it frees it.
    pub detached: bool,
    /// For a detached part of a joint operation: the request that completes when all parts have.
    pub joint: Option<RequestId>,
    /// True if the request becomes inactive at completion, instead of being freed.
    pub persistent: bool,
    /// An attachment that acts when the request is completed towards the user, or is kept until then.
    pub attachment: Option<Box<dyn Attachment>>,
}
