//! All rings of one VNI: what it sends and what it receives.

use crate::fabric::Fabric;
use crate::ring::{Consumer, Incoming, Offer, Producer};
use crate::slot::{EXTRA_BYTES, Header, INLINE_BYTES};
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_sync::{Bell, Scope};

/// The sending side of a VNI: one producer a peer, made at the first message.
#[derive(Debug)]
pub struct Outbox {
    fabric: Fabric,
    vni: usize,
    producers: Vec<Option<Lane>>,
}

#[derive(Debug)]
struct Lane {
    producer: Producer,
    bell: *const Bell,
}

// SAFETY: the bell lies in the mapping that `fabric` keeps alive, and is made for use by many threads.
unsafe impl Send for Outbox {}

impl Outbox {
    /// The outbox of a VNI. Make one a VNI and process.
    pub fn new(fabric: &Fabric, vni: usize) -> Outbox {
        Outbox { fabric: fabric.clone(), vni, producers: (0..fabric.size()).map(|_| None).collect() }
    }

    /// The way to a peer, if the peer is there.
    #[inline(always)]
    fn lane(&mut self, peer: usize) -> Option<&mut Lane> {
        if self.producers[peer].is_none() {
            self.connect(peer);
        }
        self.producers[peer].as_mut()
    }

    #[cold]
    fn connect(&mut self, peer: usize) {
        let bell = self.fabric.bell(peer);
        self.producers[peer] = self.fabric.connect(peer, self.vni).map(|producer| Lane { producer, bell });
    }

    /// Sends a message of at most [`INLINE_BYTES`] bytes. False, and nothing done, if the ring is full or the peer is
    /// not there yet.
    #[inline(always)]
    pub fn send_inline(
        &mut self,
        peer: usize,
        header: &Header,
        len: usize,
        fill: impl FnOnce(*mut u8),
    ) -> bool {
        debug_assert!(len <= INLINE_BYTES);
        let Some(lane) = self.lane(peer) else { return false };
        let sent = lane.producer.send_inline(header, len, fill);
        lane.ring_if(sent)
    }

    /// Sends a message with a bulk payload. False, and nothing done, if there is no room or the peer is not there yet.
    #[inline]
    pub fn send_bulk(
        &mut self,
        peer: usize,
        header: &Header,
        len: usize,
        extra: &[u8; EXTRA_BYTES],
        fill: impl FnOnce(*mut u8),
    ) -> bool {
        let Some(lane) = self.lane(peer) else { return false };
        let sent = lane.producer.send_bulk(header, len, extra, fill);
        lane.ring_if(sent)
    }
}

impl Lane {
    /// Wakes the peer's sleepers, if there are any: a plain load of a line that is written only around sleeps.
    #[inline(always)]
    fn ring_if(&self, sent: bool) -> bool {
        if sent {
            // SAFETY: the bell lies in the mapping that the outbox's fabric keeps alive.
            unsafe { &*self.bell }.ring(Scope::Machine);
        }
        sent
    }
}

/// The receiving side of a VNI: one consumer for each peer that has announced itself.
#[derive(Debug)]
pub struct Inbox {
    fabric: Fabric,
    vni: usize,
    announced: *const [AtomicU64],
    accepted: Vec<u64>,
    consumers: Vec<(usize, Consumer)>,
}

// SAFETY: the words lie in the mapping that `fabric` keeps alive, and are atomics.
unsafe impl Send for Inbox {}

impl Inbox {
    /// The inbox of a VNI. Make one a VNI and process.
    pub fn new(fabric: &Fabric, vni: usize) -> Inbox {
        let announced = fabric.announced(vni);
        let accepted = vec![0; announced.len()];
        Inbox { fabric: fabric.clone(), vni, announced, accepted, consumers: Vec::new() }
    }

    /// Gives messages that have arrived to `read` (sender's world rank, message), at most `budget` a sender.
    /// Returns how many there were.
    #[inline(always)]
    pub fn poll(&mut self, budget: usize, mut read: impl FnMut(usize, &Incoming)) -> usize {
        self.accept_new();
        let mut taken = 0;
        for (peer, consumer) in &mut self.consumers {
            let mut left = budget;
            while left > 0 && consumer.take(|message| read(*peer, message)) {
                left -= 1;
            }
            taken += budget - left;
        }
        taken
    }

    /// Shows the next message of each sender to `read`, until there is one; frees its place if `read` has taken it.
    #[inline(always)]
    pub fn offer(&mut self, read: impl Fn(&Incoming) -> bool) -> Offer {
        self.accept_new();
        for (_, consumer) in &mut self.consumers {
            let offered = consumer.offer(&read);
            if offered != Offer::Nothing {
                return offered;
            }
        }
        Offer::Nothing
    }

    #[inline(always)]
    fn accept_new(&mut self) {
        // SAFETY: the words lie in the mapping that `fabric` keeps alive.
        let announced = unsafe { &*self.announced };
        for (index, (announced, accepted)) in announced.iter().zip(&self.accepted).enumerate() {
            // Acquire: pairs with the Release in `Fabric::connect`.
            let now = announced.load(Ordering::Acquire);
            if now != *accepted {
                return self.accept(index, now);
            }
        }
    }

    #[cold]
    fn accept(&mut self, index: usize, announced: u64) {
        let mut new = announced & !self.accepted[index];
        self.accepted[index] = announced;
        while new != 0 {
            let peer = index * 64 + new.trailing_zeros() as usize;
            new &= new - 1;
            if let Some(consumer) = self.fabric.accept(peer, self.vni) {
                self.consumers.push((peer, consumer));
            }
        }
    }
}
