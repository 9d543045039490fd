//! The receiving side of one VNI: the rings from its peers, and its port, which brings what peers on other
//! machines have sent.

use crate::fabric::Fabric;
use crate::network::{Pace, Port};
use crate::ring::{Consumer, Incoming, Offered};
use heddle_platform::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

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
    pub fn offer(&mut self, read: impl Fn(&Incoming) -> bool) -> Offered {
        self.accept_new();
        let count = self.consumers.len();
        let mut turn = self.next;
        for _ in 0..count {
            let offered = self.consumers[turn].1.offer(
                #[inline(always)]
                |message| read(message),
            );
            turn = if turn + 1 < count { turn + 1 } else { 0 };
            if offered != Offered::Nothing {
                self.next = turn;
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
        Offered::Nothing
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
    fn offer_network(&mut self, read: impl Fn(&Incoming) -> bool) -> Offered {
        let Some((port, pace)) = self.remote.as_mut() else { return Offered::Nothing };
        let offered = port.offer(read);
        pace.looked(offered != Offered::Nothing);
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
