//! The rings of one VNI: those to its peers, and those from them. Peers on other machines are reached through
//! the VNI's port instead.

use crate::fabric::Fabric;
use crate::network::{self, Outgoing, Pace, Port};
use crate::ring::{Consumer, Incoming, Offer, Producer};
use crate::shared::SharedProducer;
use crate::slot::{EXTRA_BYTES, Header, INLINE_BYTES};
use crate::throttle::Traffic;
use heddle_platform::atomic::{AtomicBool, AtomicU64, Ordering};
use heddle_sync::{Doorbell, Scope};
use std::sync::{Arc, OnceLock};

/// The sending side of a VNI towards one peer: a producer, made at the first message.
#[derive(Debug)]
pub struct Outbox {
    connection: Option<Connection<Producer>>,
    /// Present if the peer is on another machine; then there is never a connection.
    remote: Option<Remote>,
    fabric: Fabric,
    vni: usize,
    peer: usize,
}

/// The sending end of the ring to a peer, with the peer's doorbell.
#[derive(Debug)]
struct Connection<P> {
    producer: P,
    doorbell: *const Doorbell,
}

// SAFETY: the doorbell lies in the mapping that the outbox's fabric keeps alive; many threads may use it.
unsafe impl<P: Send> Send for Connection<P> {}
// SAFETY: the doorbell lies in the mapping that the outbox's fabric keeps alive; many threads may use it.
unsafe impl<P: Sync> Sync for Connection<P> {}

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

    fn send_inline(&self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        self.port.send(self.peer, Outgoing { traffic: Traffic::Eager, header, len, extra: None }, fill)
    }

    fn send_bulk(
        &self,
        traffic: Traffic,
        header: &Header,
        len: usize,
        extra: &[u8; EXTRA_BYTES],
        fill: impl FnOnce(*mut u8),
    ) -> bool {
        len <= network::LONGEST_PAYLOAD
            && self.port.send(self.peer, Outgoing { traffic, header, len, extra: Some(extra) }, fill)
    }

    fn send_control<const BYTES: usize>(&self, header: &Header, words: &[u8; BYTES]) -> bool {
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
    pub fn new(fabric: &Fabric, vni: usize, peer: usize) -> Outbox {
        let remote = Remote::of(fabric, vni, peer);
        Outbox { connection: None, remote, fabric: fabric.clone(), vni, peer }
    }

    /// The connection to the peer, if the peer has started.
    #[inline(always)]
    fn connection(&mut self) -> Option<&mut Connection<Producer>> {
        if self.connection.is_none() {
            self.connect();
        }
        self.connection.as_mut()
    }

    #[cold]
    fn connect(&mut self) {
        let ends = self.fabric.connect(self.peer, self.vni).zip(self.fabric.doorbell_of(self.peer));
        self.connection = ends.map(|(producer, doorbell)| Connection { producer, doorbell });
    }

    /// Sends a message of at most [`INLINE_BYTES`] bytes. Returns false and does nothing if the ring is full,
    /// the peer throttles its senders, or the peer has not started yet.
    #[inline(always)]
    pub fn send_inline(&mut self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        debug_assert!(len <= INLINE_BYTES);
        let Some(connection) = self.connection() else {
            return send_remote(self.remote.as_ref(), |remote| remote.send_inline(header, len, fill));
        };
        let sent = connection.producer.send_inline(header, len, fill);
        connection.ring_if(sent)
    }

    /// Does the same as [`send_inline`](Self::send_inline) if that needs neither a connection nor new
    /// credits; otherwise returns false and does nothing.
    #[inline(always)]
    pub fn send_promptly(&mut self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        let Some(connection) = &mut self.connection else { return false };
        let sent = connection.producer.send_promptly(header, len, fill);
        connection.ring_if(sent)
    }

    /// Sends a message with a bulk payload. Returns false and does nothing if there is no room, or the
    /// payload is longer than the peer [takes](Fabric::longest_payload), or the peer has not started yet, or
    /// throttles its senders and `traffic` is not of a protocol.
    #[inline]
    pub fn send_bulk(
        &mut self,
        traffic: Traffic,
        header: &Header,
        len: usize,
        extra: &[u8; EXTRA_BYTES],
        fill: impl FnOnce(*mut u8),
    ) -> bool {
        let Some(connection) = self.connection() else {
            let send = |remote: &Remote| remote.send_bulk(traffic, header, len, extra, fill);
            return send_remote(self.remote.as_ref(), send);
        };
        let sent = connection.producer.send_bulk(traffic, header, len, extra, fill);
        connection.ring_if(sent)
    }

    /// Sends a message of a protocol, also to a peer that throttles its senders. Returns false and does
    /// nothing if the ring is full or the peer has not started yet.
    #[inline]
    pub fn send_control<const BYTES: usize>(&mut self, header: &Header, words: &[u8; BYTES]) -> bool {
        let Some(connection) = self.connection() else {
            return send_remote(self.remote.as_ref(), |remote| remote.send_control(header, words));
        };
        let sent = connection.producer.send_control(header, words);
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

impl<P> Connection<P> {
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
    connection: OnceLock<Connection<SharedProducer>>,
    /// Present if the peer is on another machine; then there is never a connection, and it never opens.
    remote: Option<Remote>,
    /// True if it is open. Relaxed: a thread that reads an old value still loads the
    /// connection, and the flag is a hint.
    open: AtomicBool,
    fabric: Fabric,
    vni: usize,
    peer: usize,
}

impl SharedOutbox {
    /// The outbox of a VNI for a peer. Make one for each (VNI, peer) in a process, of either kind.
    pub fn new(fabric: &Fabric, vni: usize, peer: usize) -> SharedOutbox {
        let (connection, open) = (OnceLock::new(), AtomicBool::new(false));
        let remote = Remote::of(fabric, vni, peer);
        SharedOutbox { connection, remote, open, fabric: fabric.clone(), vni, peer }
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
            let _ = self.connection.set(Connection { producer, doorbell });
            self.open.store(true, Ordering::Relaxed);
        }
    }

    /// Sends a message of at most [`INLINE_BYTES`] bytes. Returns false and does nothing if the ring is
    /// full or not connected. It does not ask whether the peer throttles its senders; it closes the
    /// outbox if it notices that.
    #[inline(always)]
    pub fn send_inline(&self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        let Some(connection) = self.connection.get() else {
            return send_remote(self.remote.as_ref(), |remote| remote.send_inline(header, len, fill));
        };
        let sent = connection.producer.send_inline(header, len, fill, &self.open);
        connection.ring_if(sent)
    }

    /// Does the same as [`send_inline`](Self::send_inline), for a message with a bulk payload of any traffic.
    #[inline]
    pub fn send_bulk(
        &self,
        traffic: Traffic,
        header: &Header,
        len: usize,
        extra: &[u8; EXTRA_BYTES],
        fill: impl FnOnce(*mut u8),
    ) -> bool {
        let Some(connection) = self.connection.get() else {
            let send = |remote: &Remote| remote.send_bulk(traffic, header, len, extra, fill);
            return send_remote(self.remote.as_ref(), send);
        };
        let sent = connection.producer.send_bulk(header, len, extra, fill, &self.open);
        connection.ring_if(sent)
    }
}

impl SharedOutbox {
    /// Does the same as [`Outbox::send_control`].
    #[inline]
    pub fn send_control<const BYTES: usize>(&self, header: &Header, words: &[u8; BYTES]) -> bool {
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

/// The receiving side of a VNI: one consumer for each peer that has announced itself, and the port.
#[derive(Debug)]
pub struct Inbox {
    fabric: Fabric,
    vni: usize,
    announcements: Vec<Announcement>,
    consumers: Vec<(usize, Consumer)>,
    /// The consumer with which the next `offer` begins.
    next: usize,
    /// The port, if there are ranks on other machines, and how often it is looked at.
    remote: Option<(Arc<Port>, Pace)>,
}

/// A word in which 64 peers announce their rings.
#[derive(Debug)]
struct Announcement {
    word: *const AtomicU64,
    /// The peers whose rings the inbox reads.
    accepted: u64,
}

// SAFETY: the words lie in the mapping that `fabric` keeps alive, and are atomics.
unsafe impl Send for Inbox {}

impl Inbox {
    /// The inbox of a VNI. Make one per VNI and process.
    pub fn new(fabric: &Fabric, vni: usize) -> Inbox {
        let announced = fabric.announced(vni).iter();
        let announcements = announced.map(|word| Announcement { word, accepted: 0 }).collect();
        let remote = fabric.port(vni).map(|port| (Arc::clone(port), Pace::new()));
        Inbox { fabric: fabric.clone(), vni, announcements, consumers: Vec::new(), next: 0, remote }
    }

    /// Gives messages that have arrived to `read` (sender's world rank, message), at most `budget` a sender.
    /// Returns how many there were.
    #[inline(always)]
    pub fn poll(&mut self, budget: usize, mut read: impl FnMut(usize, &Incoming)) -> usize {
        self.accept_new();
        let mut taken = 0;
        for (peer, consumer) in &mut self.consumers {
            let mut left = budget;
            while left > 0
                && consumer.take(
                    #[inline(always)]
                    |message| read(*peer, message),
                )
            {
                left -= 1;
            }
            taken += budget - left;
        }
        if let Some((_, pace)) = &mut self.remote
            && pace.is_due(taken)
        {
            taken += self.poll_network(read);
        }
        taken
    }

    /// Gives messages from the network to `read`. Returns how many there were. Out of line, so that the path
    /// of the rings stays short.
    #[cold]
    #[inline(never)]
    fn poll_network(&mut self, read: impl FnMut(usize, &Incoming)) -> usize {
        let Some((port, pace)) = self.remote.as_mut() else { return 0 };
        let found = port.read(read);
        pace.looked(found != 0);
        found
    }

    /// Finds a sender with a message, shows the message to `read`, and frees its slot if `read` took it. Each
    /// call begins with another sender, so one that floods this process does not hide the others.
    #[inline(always)]
    pub fn offer(&mut self, read: impl Fn(&Incoming) -> bool) -> Offer {
        self.accept_new();
        let (later, first) = self.consumers.split_at_mut(self.next);
        for (turn, (_, consumer)) in (self.next..).zip(first).chain((0..).zip(later)) {
            let offered = consumer.offer(&read);
            if offered != Offer::Nothing {
                self.next = if turn + 1 < self.consumers.len() { turn + 1 } else { 0 };
                if let Some((_, pace)) = &mut self.remote
                    && pace.is_due(1)
                {
                    self.progress_network();
                }
                return offered;
            }
        }
        if let Some((_, pace)) = &mut self.remote
            && pace.is_due(0)
        {
            return self.offer_network(read);
        }
        Offer::Nothing
    }

    /// Makes progress in the network after a message from a ring. What has arrived there waits for the next
    /// look.
    #[cold]
    #[inline(never)]
    fn progress_network(&mut self) {
        let Some((port, pace)) = self.remote.as_mut() else { return };
        pace.looked(!port.is_empty());
    }

    /// Does the same as [`offer`](Self::offer) with a message from the network.
    #[cold]
    #[inline(never)]
    fn offer_network(&mut self, read: impl Fn(&Incoming) -> bool) -> Offer {
        let Some((port, pace)) = self.remote.as_mut() else { return Offer::Nothing };
        let offered = port.offer(read);
        pace.looked(offered != Offer::Nothing);
        offered
    }

    /// Returns true if no message has arrived, as far as the calling thread can see.
    #[inline(always)]
    pub fn is_empty(&mut self) -> bool {
        self.accept_new();
        self.consumers.iter().all(|(_, consumer)| consumer.is_empty())
            && self.remote.as_ref().is_none_or(|(port, _)| port.is_empty())
    }

    #[inline(always)]
    fn accept_new(&mut self) {
        for (index, announcement) in self.announcements.iter().enumerate() {
            // SAFETY: the word lies in the mapping that `fabric` keeps alive.
            let word = unsafe { &*announcement.word };
            // Acquire: pairs with the Release in `Fabric::connect`.
            let announced = word.load(Ordering::Acquire);
            if announced != announcement.accepted {
                return self.accept(index, announced);
            }
        }
    }

    #[cold]
    fn accept(&mut self, index: usize, announced: u64) {
        let accepted = std::mem::replace(&mut self.announcements[index].accepted, announced);
        let mut new = announced & !accepted;
        while new != 0 {
            let local = index * 64 + new.trailing_zeros() as usize;
            new &= new - 1;
            self.consumers.extend(self.fabric.accept(local, self.vni));
        }
    }
}
