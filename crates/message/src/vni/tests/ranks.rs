//! For tests of the protocols: one thread plays all ranks of a job.

use crate::buffer::Buffer;
use crate::matching::Key;
use crate::request::{self, RequestId, RequestKind};
use crate::vni::{SendArgs, Vni};
use heddle_bootstrap::JobControl;
use heddle_model::{Granularity, Model};
use heddle_transport::Fabric;
use std::sync::Arc;

/// One model for each kind of guard of the objects in a VNI.
pub(crate) fn models() -> [Model; 4] {
    [Granularity::PerVni, Granularity::PerChannel, Granularity::PerObject, Granularity::LockFree]
        .map(|granularity| Model { granularity, ..Model::default() })
}

/// The ranks of a new job under a model.
pub(crate) fn ranks<const N: usize>(model: &Model) -> [(Fabric, Vni); N] {
    bounded_ranks(model, usize::MAX)
}

/// The ranks of a new job under a model, with a bound on the bytes of unexpected messages.
pub(crate) fn bounded_ranks<const N: usize>(model: &Model, unexpected_bytes: usize) -> [(Fabric, Vni); N] {
    let job = JobControl::create(N as u32).expect("the memory of a job");
    std::array::from_fn(|rank| {
        let world = job.world_of(rank as u32).expect("the job is there");
        let fabric = Fabric::attach(&world, 1).expect("a segment");
        let vni = Vni::new(&fabric, 0, &Arc::new(model.sections(true)), unexpected_bytes);
        (fabric, vni)
    })
}

/// The context of all messages.
pub(crate) const CONTEXT: u64 = 8;

/// The arguments of a send to `peer`.
pub(crate) fn send_args(peer: usize, source: i32, tag: i32, buffer: Buffer) -> SendArgs {
    let (synchronous, keep) = (false, None);
    SendArgs { buffer, peer, context: CONTEXT, source, tag, synchronous, keep }
}

/// Sends `bytes` to a peer. `None` if the send is complete; otherwise its request.
///
/// # Safety
/// The bytes outlive the operation.
pub(crate) unsafe fn send(
    from: &Vni,
    peer: usize,
    source: i32,
    tag: i32,
    bytes: &mut [u8],
) -> Option<RequestId> {
    // SAFETY: the caller's promise.
    let buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) };
    from.send(send_args(peer, source, tag, buffer), || request::take(0, 0, RequestKind::Send))
        .expect("a request")
}

/// Issues a receive of a message of rank 0 into `bytes`.
///
/// # Safety
/// The bytes outlive the operation.
pub(crate) unsafe fn receive(to: &Vni, tag: i32, bytes: &mut [u8]) -> RequestId {
    let id = request::take(0, 0, RequestKind::Receive).expect("a request");
    // SAFETY: new, and not issued yet.
    let in_flight = unsafe { request::in_flight(id) };
    // SAFETY: the caller's promise.
    in_flight.buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) };
    in_flight.context = CONTEXT;
    to.receive(id, Key::new(CONTEXT, 0, tag));
    id
}
