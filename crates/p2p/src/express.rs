//! The express path: the most frequent calls, with the fewest instructions.
//!
//! It serves standard sends of at most [`INLINE_BYTES`] bytes, receives without wildcards and probes, of
//! predefined datatypes, on a communicator that the calling thread used last or that is predefined, if the
//! critical section of the VNI can be entered without waiting. It checks all arguments. If it cannot serve a
//! call, or finds an error, it changes nothing and returns a [`Refusal`]; the caller then attempts to enter
//! by the lock, or takes the general path, which reports the error.

use super::state::running_without_lock;
use super::tag::is_tag;
use heddle_comm::{Comm, CommRef, Plane};
use heddle_message::buffer::{Buffer, can_hold_data, is_countable};
use heddle_message::context::Context;
use heddle_message::domain;
use heddle_message::matching::Key;
use heddle_message::progress::{Awaited, count_short_test, ended_promptly, is_test_short};
use heddle_message::request::Outcome;
use heddle_message::vni::{INLINE_BYTES, Probed, eager_header};
use heddle_model::{Attempt, Refusal};
use heddle_objects::resharding::Route;
use heddle_spec::constants::MPI_PROC_NULL;
use std::hint::cold_path;

/// A small standard send, as the program gives it.
#[derive(Debug, Clone, Copy)]
pub struct SmallSend {
    /// Where the data lies.
    pub address: *const u8,
    /// Elements.
    pub count: i64,
    /// Handle of their datatype.
    pub datatype: usize,
    /// Rank of the receiver.
    pub dest: i32,
    /// Its tag.
    pub tag: i32,
    /// Handle of the communicator.
    pub comm: usize,
}

/// A receive of a predefined datatype without wildcards, as the program gives it.
#[derive(Debug, Clone, Copy)]
pub struct PlainReceive {
    /// Where the data goes.
    pub address: *mut u8,
    /// Elements.
    pub count: i64,
    /// Handle of their datatype.
    pub datatype: usize,
    /// Rank of the sender.
    pub source: i32,
    /// Its tag.
    pub tag: i32,
    /// Handle of the communicator.
    pub comm: usize,
}

/// Where a message comes from that is not on the default VNI of its communicator.
enum Origin {
    /// A peer, by its rank in the world: the message is on a lane.
    Peer(usize),
    /// This process: its self messages are sharded.
    This,
}

/// The result of the express path.
type Express<R> = Result<R, Refusal>;

/// Passes the communicator of a handle to `operation`, if [`CommRef::peek`] finds it.
#[inline(always)]
fn with_comm<R>(handle: usize, operation: impl FnOnce(&Comm) -> Express<R>) -> Express<R> {
    CommRef::peek(handle, operation).unwrap_or(Err(Refusal::Unfit))
}

impl SmallSend {
    /// Sends, if the express path can.
    ///
    /// # Errors
    /// A refusal; then it has not sent.
    ///
    /// # Safety
    /// The memory that the arguments describe is valid for reads, if they are valid at all.
    #[inline(always)]
    pub unsafe fn send(self, attempt: Attempt) -> Express<()> {
        with_comm(
            self.comm,
            #[inline(always)]
            // SAFETY: the caller's promise.
            |comm| unsafe { self.send_on(comm, attempt) },
        )
    }

    /// Sends to this process what `receive` receives, in the same call, if no other receive and no
    /// other message is on the VNI.
    ///
    /// # Errors
    /// A refusal; then it has not sent.
    ///
    /// # Safety
    /// The memory that the arguments describe is valid, if they are valid at all, and does not overlap.
    #[inline(always)]
    pub unsafe fn exchange(self, receive: PlainReceive, attempt: Attempt) -> Express<Outcome> {
        let (source, tag) = (self.dest, self.tag);
        if source != receive.source || tag != receive.tag {
            return Err(Refusal::Unfit);
        }
        let (vni, bytes) = with_comm(
            self.comm,
            #[inline(always)]
            |comm| {
                let context = comm.context();
                if attempt == Attempt::Lane {
                    // SAFETY: the caller's promise.
                    return unsafe { self.exchange_sharded(receive, comm) };
                }
                let route = receive.key(comm)?.1.ok_or(Refusal::Unfit)?;
                // SAFETY: the caller's promise.
                let (len, buffer) = (self.len()?, unsafe { receive.buffer() }?);
                let vni = context.default_vni();
                // SAFETY: the caller's promise.
                unsafe { vni.exchange_express(attempt, self.address, len, buffer, route) }?;
                shard_if_contended(context, route);
                Ok((context.vni(), len as u64))
            },
        )?;
        ended_promptly(vni, Awaited::Message);
        Ok(Outcome { source, tag, bytes, cancelled: false, error: None })
    }

    /// Does the same as [`exchange`](Self::exchange) where self messages are sharded; returns the number of
    /// the VNI and that of the bytes.
    ///
    /// # Safety
    /// The same.
    #[inline(always)]
    unsafe fn exchange_sharded(self, receive: PlainReceive, comm: &Comm) -> Express<(u32, u64)> {
        let key = receive.checked_key(comm)?;
        let Origin::This = receive.origin(comm)? else { return Err(Refusal::Unfit) };
        // SAFETY: the caller's promise.
        let (len, buffer) = (self.len()?, unsafe { receive.buffer() }?);
        // SAFETY: the caller's promise.
        let vni = unsafe { comm.context().exchange_sharded(&key, self.address, len, buffer) }?;
        Ok((vni, len as u64))
    }

    /// The length of the data in bytes.
    #[inline(always)]
    fn len(self) -> Express<usize> {
        let size = heddle_datatype::plain_bytes(self.datatype) as i64;
        let len = self.count.checked_mul(size).ok_or(Refusal::Unfit)?;
        let is_small = (1..=INLINE_BYTES as i64).contains(&len);
        if is_small && can_hold_data(self.address) { Ok(len as usize) } else { Err(Refusal::Unfit) }
    }

    /// # Safety
    /// The same as for [`send`](Self::send).
    #[inline(always)]
    unsafe fn send_on(self, comm: &Comm, attempt: Attempt) -> Express<()> {
        let len = self.len()?;
        let context = comm.context();
        let id = context.id(Plane::PointToPoint);
        if !is_tag(self.tag) || !Context::is_plain(id) {
            return Err(Refusal::Unfit);
        }
        let rank = context.rank() as i32;
        if self.dest == context.self_rank() {
            let (vni, key) = (context.default_vni(), Key::new(id, rank, self.tag));
            let Some(route) = context.route_to_default() else {
                return match attempt {
                    // SAFETY: the caller's promise.
                    Attempt::Lane => unsafe { context.send_sharded(&key, self.address, len) },
                    _ => Err(Refusal::OnLane),
                };
            };
            // SAFETY: the caller's promise.
            unsafe { vni.send_to_self_express(attempt, &key, self.address, len, route) }?;
            shard_if_contended(context, route);
            return Ok(());
        }
        let Some(peer) = comm.peers.world_rank(self.dest as usize) else {
            // Under granularity `global` this call, too, enters the critical section.
            let is_done = self.dest == MPI_PROC_NULL && running_without_lock().is_some();
            return if is_done { Ok(()) } else { Err(Refusal::Unfit) };
        };
        let header = eager_header(id, rank, self.tag);
        // SAFETY: the caller's promise; ranks of one communicator are of different processes.
        unsafe { context.default_vni().send_express(attempt, peer, &header, self.address, len) }
    }
}

/// Is called after a self message: shards them if several threads send them.
#[inline(always)]
fn shard_if_contended(context: &Context, route: Route<'_>) {
    if route.should_shard() {
        shard(context, route);
    }
}

#[cold]
fn shard(context: &Context, route: Route<'_>) {
    if let Some(domain) = domain::running() {
        context.shard_if_contended(domain, route);
    }
}

impl PlainReceive {
    /// Issues the receive as a request; returns its handle.
    ///
    /// # Errors
    /// A refusal; then nothing is issued.
    ///
    /// # Safety
    /// The memory that the arguments describe is valid for writes until the request is complete,
    /// if they are valid at all.
    #[inline(always)]
    pub unsafe fn post(self, attempt: Attempt) -> Express<usize> {
        with_comm(
            self.comm,
            #[inline(always)]
            |comm| {
                let (context, vni) = (comm.context(), comm.context().default_vni());
                if attempt == Attempt::Lane {
                    // SAFETY: the caller's promise.
                    let (key, buffer) = (self.checked_key(comm)?, unsafe { self.buffer() }?);
                    return match self.origin(comm)? {
                        Origin::Peer(peer) => vni.receive_express_on_lane(peer, &key, buffer, self.comm),
                        Origin::This => context.receive_sharded(&key, buffer, self.comm),
                    };
                }
                let (key, route) = self.key(comm)?;
                // SAFETY: the caller's promise.
                let buffer = unsafe { self.buffer() }?;
                vni.receive_express(attempt, &key, buffer, self.comm, route)
            },
        )
    }

    /// Receives the message if it is small, and has arrived or comes next from the ring.
    ///
    /// # Errors
    /// A refusal; then nothing is received.
    ///
    /// # Safety
    /// The memory that the arguments describe is valid for writes, if they are valid at all.
    #[inline(always)]
    pub unsafe fn take(self, attempt: Attempt) -> Express<Outcome> {
        let (vni, (envelope, bytes)) = with_comm(
            self.comm,
            #[inline(always)]
            |comm| {
                let (context, vni) = (comm.context(), comm.context().default_vni());
                if attempt == Attempt::Lane {
                    // SAFETY: the caller's promise.
                    let (key, buffer) = (self.checked_key(comm)?, unsafe { self.buffer() }?);
                    return match self.origin(comm)? {
                        Origin::Peer(peer) => {
                            Ok((context.vni(), vni.take_express_on_lane(peer, &key, buffer)?))
                        }
                        Origin::This => context.take_sharded(&key, buffer),
                    };
                }
                let (key, route) = self.key(comm)?;
                // SAFETY: the caller's promise.
                let buffer = unsafe { self.buffer() }?;
                Ok((context.vni(), vni.take_express(attempt, &key, buffer, route)?))
            },
        )?;
        ended_promptly(vni, Awaited::Message);
        let (source, tag) = (envelope.source(), envelope.tag());
        Ok(Outcome { source, tag, bytes: bytes as u64, cancelled: false, error: None })
    }

    /// Where a message comes from that is not on the default VNI.
    #[inline(always)]
    fn origin(self, comm: &Comm) -> Express<Origin> {
        if self.source == comm.context().self_rank() {
            return Ok(Origin::This);
        }
        comm.peers.world_rank(self.source as usize).map(Origin::Peer).ok_or(Refusal::Unfit)
    }

    /// Returns true if the arguments are valid and of the kind that the express path serves.
    #[inline(always)]
    #[must_use]
    pub fn is_valid(self) -> bool {
        CommRef::peek(
            self.comm,
            #[inline(always)]
            |comm| self.checked_key(comm).is_ok() && self.len().is_ok(),
        ) == Some(true)
    }

    /// The key of the wanted message, and the route if it is a self message. Sharded ones are for the third
    /// attempt.
    #[inline(always)]
    fn key(self, comm: &Comm) -> Express<(Key, Option<Route<'_>>)> {
        let (key, context) = (self.checked_key(comm)?, comm.context());
        let is_self = self.source == context.self_rank();
        let route = if is_self { Some(context.route_to_default().ok_or(Refusal::OnLane)?) } else { None };
        Ok((key, route))
    }

    /// The key of the wanted message.
    #[inline(always)]
    fn checked_key(self, comm: &Comm) -> Express<Key> {
        let id = comm.context().id(Plane::PointToPoint);
        if !comm.peers.has(self.source) || !is_tag(self.tag) || !Context::is_plain(id) {
            return Err(Refusal::Unfit);
        }
        Ok(Key::new(id, self.source, self.tag))
    }

    /// The buffer's length in bytes.
    #[inline(always)]
    fn len(self) -> Express<usize> {
        let size = heddle_datatype::plain_bytes(self.datatype);
        if size == 0 || !is_countable(self.count) || !can_hold_data(self.address) {
            // Without this the compiler computes the tests and joins them, instead of three branches.
            cold_path();
            return Err(Refusal::Unfit);
        }
        Ok(size * self.count as usize)
    }

    /// # Safety
    /// The same as for [`post`](Self::post).
    #[inline(always)]
    unsafe fn buffer(self) -> Express<Buffer> {
        // SAFETY: the caller's promise.
        Ok(unsafe { Buffer::bytes(self.address, self.len()?) })
    }
}

/// Probes for a message without wildcards, and polls the VNI if none has arrived.
///
/// # Errors
/// A refusal, also if other messages have arrived or work waits: the general path handles these.
#[inline(always)]
pub fn iprobe_express(attempt: Attempt, source: i32, tag: i32, comm: usize) -> Express<Option<Outcome>> {
    let probed = with_comm(
        comm,
        #[inline(always)]
        |comm| {
            let context = comm.context();
            let id = context.id(Plane::PointToPoint);
            let is_fit = comm.peers.has(source)
                && is_tag(tag)
                && Context::is_plain(id)
                && !(context.moves_self_messages() && source as usize == context.rank())
                && is_test_short();
            if !is_fit {
                return Err(Refusal::Unfit);
            }
            context.default_vni().probe_express(attempt, &Key::new(id, source, tag))
        },
    )?;
    match probed {
        Probed::Nothing => {
            count_short_test();
            Ok(None)
        }
        Probed::Found(bytes) => Ok(Some(Outcome { source, tag, bytes, cancelled: false, error: None })),
    }
}
