//! The sending side of one VNI: the rings to its peers. Peers on other machines are reached through the VNI's
//! port instead.

use crate::fabric::Fabric;
use crate::network::{self, Outgoing, Port};
use crate::ring::Producer;
use crate::shared::SharedProducer;
use crate::slot::{EXTRA_BYTES, Header, INLINE_BYTES};
use crate::stores::Stores;
use crate::throttle::Traffic;
use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_sync::{Doorbell, Scope};
use std::sync::{Arc, OnceLock};

/// Access to a peer's ring, or to its port, for one message.
pub trait RingAccess {
    /// Sends a message of at most [`INLINE_BYTES`] bytes. Returns false and does nothing if the ring is full,
    /// the peer throttles its senders, or the peer has not started yet. A [`SharedOutbox`] does not ask
    /// whether the peer throttles its senders; it closes if it notices that.
    fn send_inline(self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool;

    /// Sends a message with a bulk payload. Returns false and does nothing if there is no room, or the
    /// payload is longer than the peer [takes](Fabric::longest_payload), or the peer has not started yet, or
    /// throttles its senders and `traffic` is not of a protocol. `fill` learns how to store the payload.
    fn send_bulk(
        self,
        traffic: Traffic,
        header: &Header,
        len: usize,
        extra: &[u8; EXTRA_BYTES],
        fill: impl FnOnce(*mut u8, Stores),
    ) -> bool;

    /// Sends a message of a protocol, also to a peer that throttles its senders. Returns false and does
    /// nothing if the ring is full or the peer has not started yet.
    fn send_control<const BYTES: usize>(self, header: &Header, words: &[u8; BYTES]) -> bool;
}

/// The sending side of a VNI towards one peer: a producer, made at the first message.
#[derive(Debug)]
pub struct Outbox {
    connection: Option<RingConnection<Producer>>,
    /// Present if the peer is on another machine; then there is never a connection.
    remote: Option<Remote>,
    fabric: Arc<Fabric>,
    vni: usize,
    peer: usize,
}

/// The sending end of the ring to a peer, with the peer's doorbell.
#[derive(Debug)]
struct RingConnection<P> {
    producer: P,
    doorbell: *const Doorbell,
}

// SAFETY: the doorbell lies in the mapping that the outbox's fabric keeps alive; many threads may use it.
unsafe impl<P: Send> Send for RingConnection<P> {}
// SAFETY: the doorbell lies in the mapping that the outbox's fabric keeps alive; many threads may use it.
unsafe impl<P: Sync> Sync for RingConnection<P> {}

/// A peer on another machine.
#[derive(Debug)]
struct Remote {
    port: Arc<Port>,
    peer: u32,
}

impl Remote {
    /// Returns the peer of a VNI, if it is on another machine.
    fn of(fabric: &Fabric, vni: usize, peer: usize) -> Option<Remote> {
        let port = fabric.port(vni).filter(|_| !fabric.is_local(peer))?;
        Some(Remote { port: Arc::clone(port), peer: peer as u32 })
    }
}

impl RingAccess for &Remote {
    fn send_inline(self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        self.port.send(self.peer, Outgoing { traffic: Traffic::Eager, header, len, extra: None }, fill)
    }

    fn send_bulk(
        self,
        traffic: Traffic,
        header: &Header,
        len: usize,
        extra: &[u8; EXTRA_BYTES],
        fill: impl FnOnce(*mut u8, Stores),
    ) -> bool {
        let message = Outgoing { traffic, header, len, extra: Some(extra) };
        len <= network::LONGEST_PAYLOAD && self.port.send(self.peer, message, |to| fill(to, Stores::Cached))
    }

    fn send_control<const BYTES: usize>(self, header: &Header, words: &[u8; BYTES]) -> bool {
        let message = Outgoing { traffic: Traffic::Protocol, header, len: BYTES, extra: None };
        self.port.send(self.peer, message, |to| {
            // SAFETY: a packet has room for the words.
            unsafe { to.copy_from_nonoverlapping(words.as_ptr(), BYTES) };
        })
    }
}

/// Sends to another machine by `send`, if the peer is there; out of line, so that the path of the rings stays
/// short.
#[cold]
#[inline(never)]
fn send_remote(remote: Option<&Remote>, send: impl FnOnce(&Remote) -> bool) -> bool {
    remote.is_some_and(send)
}

impl Outbox {
    /// The outbox of a VNI for a peer. Make one for each (VNI, peer) in a process.
    pub fn new(fabric: &Arc<Fabric>, vni: usize, peer: usize) -> Outbox {
        let remote = Remote::of(fabric, vni, peer);
        Outbox { connection: None, remote, fabric: Arc::clone(fabric), vni, peer }
    }

    /// The connection to the peer, if the peer has started.
    #[inline(always)]
    fn connection(&mut self) -> Option<&mut RingConnection<Producer>> {
        if self.connection.is_none() {
            self.connect();
        }
        self.connection.as_mut()
    }

    #[cold]
    fn connect(&mut self) {
        let ends = self.fabric.connect(self.peer, self.vni).zip(self.fabric.doorbell_of(self.peer));
        self.connection = ends.map(|(producer, doorbell)| RingConnection { producer, doorbell });
    }

    /// Does the same as [`send_inline`](RingAccess::send_inline) if that needs neither a connection nor new
    /// credits; otherwise returns false and does nothing.
    #[inline(always)]
    pub fn send_promptly(&mut self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        let Some(connection) = &mut self.connection else { return false };
        let sent = connection.producer.send_promptly(header, len, fill);
        connection.ring_if(sent)
    }

    /// Returns true if the last eager message was refused because the peer throttles its senders.
    #[inline]
    pub fn is_throttled(&self) -> bool {
        match &self.remote {
            None => self.connection.as_ref().is_some_and(|connection| connection.producer.is_throttled()),
            Some(remote) => remote.port.is_throttled(remote.peer),
        }
    }
}

impl RingAccess for &mut Outbox {
    #[inline(always)]
    fn send_inline(self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        debug_assert!(len <= INLINE_BYTES);
        let Some(connection) = self.connection() else {
            return send_remote(self.remote.as_ref(), |remote| remote.send_inline(header, len, fill));
        };
        let sent = connection.producer.send_inline(header, len, fill);
        connection.ring_if(sent)
    }

    #[inline]
    fn send_bulk(
        self,
        traffic: Traffic,
        header: &Header,
        len: usize,
        extra: &[u8; EXTRA_BYTES],
        fill: impl FnOnce(*mut u8, Stores),
    ) -> bool {
        let Some(connection) = self.connection() else {
            let send = |remote: &Remote| remote.send_bulk(traffic, header, len, extra, fill);
            return send_remote(self.remote.as_ref(), send);
        };
        let sent = connection.producer.send_bulk(traffic, header, len, extra, fill);
        connection.ring_if(sent)
    }

    #[inline]
    fn send_control<const BYTES: usize>(self, header: &Header, words: &[u8; BYTES]) -> bool {
        let Some(connection) = self.connection() else {
            return send_remote(self.remote.as_ref(), |remote| remote.send_control(header, words));
        };
        let sent = connection.producer.send_control(header, words);
        connection.ring_if(sent)
    }
}

impl<P> RingConnection<P> {
    /// Wakes the peer's sleepers, if there are any: a plain load of a line that is
    /// written only around sleeps.
    #[inline(always)]
    fn ring_if(&self, sent: bool) -> bool {
        if sent {
            // SAFETY: the doorbell lies in the mapping that the outbox's fabric keeps alive.
            unsafe { &*self.doorbell }.ring(Scope::Machine);
        }
        sent
    }
}

/// An [`Outbox`] for many threads at once; none of them waits for another (see `shared.rs`). It sends nothing
/// before it is [connected](Self::connect).
///
/// It is *open* while every thread may send without asking first. It closes when a thread notices that
/// the peer throttles its senders; from then on threads call [`is_throttled`](Self::is_throttled)
/// before an eager message.
#[derive(Debug)]
pub struct SharedOutbox {
    connection: OnceLock<RingConnection<SharedProducer>>,
    /// Present if the peer is on another machine; then there is never a connection, and it never opens.
    remote: Option<Remote>,
    /// True if it is open. Relaxed: a thread that reads an old value still loads the
    /// connection, and the flag is a hint.
    open: AtomicBool,
    fabric: Arc<Fabric>,
    vni: usize,
    peer: usize,
}

impl SharedOutbox {
    /// The outbox of a VNI for a peer. Make one for each (VNI, peer) in a process, of either kind.
    pub fn new(fabric: &Arc<Fabric>, vni: usize, peer: usize) -> SharedOutbox {
        let (connection, open) = (OnceLock::new(), AtomicBool::new(false));
        let remote = Remote::of(fabric, vni, peer);
        SharedOutbox { connection, remote, open, fabric: Arc::clone(fabric), vni, peer }
    }

    /// Returns true if it is open.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// Returns true if the peer throttles its senders now. If it does not, the outbox is open afterwards.
    pub fn is_throttled(&self) -> bool {
        if let Some(remote) = &self.remote {
            return remote.port.is_throttled(remote.peer);
        }
        let Some(connection) = self.connection.get() else { return false };
        let throttled = connection.producer.is_throttled();
        self.open.store(!throttled, Ordering::Relaxed);
        throttled
    }

    /// Connects to the peer, if the peer has started and the outbox is not connected yet.
    pub fn connect(&self) {
        if self.connection.get().is_none()
            && let Some(producer) = self.fabric.connect_many(self.peer, self.vni)
            && let Some(doorbell) = self.fabric.doorbell_of(self.peer)
        {
            // If two threads do this at the same time, the first one wins; the other's
            // producer has sent nothing.
            let _ = self.connection.set(RingConnection { producer, doorbell });
            self.open.store(true, Ordering::Relaxed);
        }
    }
}

impl RingAccess for &SharedOutbox {
    #[inline(always)]
    fn send_inline(self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        let Some(connection) = self.connection.get() else {
            return send_remote(self.remote.as_ref(), |remote| remote.send_inline(header, len, fill));
        };
        let sent = connection.producer.send_inline(header, len, fill, &self.open);
        connection.ring_if(sent)
    }

    #[inline]
    fn send_bulk(
        self,
        traffic: Traffic,
        header: &Header,
        len: usize,
        extra: &[u8; EXTRA_BYTES],
        fill: impl FnOnce(*mut u8, Stores),
    ) -> bool {
        let Some(connection) = self.connection.get() else {
            let send = |remote: &Remote| remote.send_bulk(traffic, header, len, extra, fill);
            return send_remote(self.remote.as_ref(), send);
        };
        let sent = connection.producer.send_bulk(header, len, extra, fill, &self.open);
        connection.ring_if(sent)
    }

    #[inline]
    fn send_control<const BYTES: usize>(self, header: &Header, words: &[u8; BYTES]) -> bool {
        if let Some(remote) = &self.remote {
            return remote.send_control(header, words);
        }
        const { assert!(BYTES <= INLINE_BYTES) }
        self.send_inline(header, BYTES, |to| {
            // SAFETY: a slot's payload has room for the words.
            unsafe { to.copy_from_nonoverlapping(words.as_ptr(), BYTES) };
        })
    }
}
