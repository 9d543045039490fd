//! The connection of a VNI to the same VNI of a rank on another machine.
//!
//! **Flow control.** A sender has at most [`WINDOW`] packets on their way to a receiver that the receiver
//! has not read; the receiver returns credit with its own packets, or with an empty one. So no sender floods
//! a receiver, or holds up the others. Of a connection at most [`SENDS`] packets wait for the provider, each
//! in a buffer of the connection's; a peer that does not read its network holds up nobody else.
//!
//! **Order.** Packets that the provider cannot take yet (its queue is full, or the connection is being made)
//! wait in their buffers, first in, first out. Packets that are complete before others of their sender's wait
//! until their number has its turn.
//!
//! **The end.** A peer that needs nothing more may be gone before it is told of the last credit; so an empty
//! packet that cannot be delivered is no failure, and a message is.

use super::address::VniAddress;
use super::buffers::Buffers;
use super::heartbeat::Heartbeat;
use super::packet::is_empty;
use heddle_libfabric::guard::introduce;
use heddle_libfabric::{Address, Endpoint};
use std::collections::VecDeque;

/// The most packets to one receiver that it has not read.
const WINDOW: u32 = 128;
/// A receiver that has read that many packets returns credit for them.
const RETURNED_AT_ONCE: u32 = WINDOW / 4;
/// The most packets to one receiver that the provider has not sent.
pub(super) const SENDS: usize = 32;

/// A packet in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BufferedPacket {
    /// The number of the buffer.
    pub(super) index: u32,
    /// Bytes.
    pub(super) len: u32,
}

/// The connection to a rank.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) address: Address,
    /// The name of the peer's endpoint.
    pub(super) name: Box<[u8]>,
    /// The peer's key.
    pub(super) key: u64,
    pub(super) buffers: Buffers,
    /// The buffers that no packet is in.
    pub(super) free: Vec<u32>,
    /// A packet whose messages are not sent yet, since others may follow.
    pub(super) open: Option<BufferedPacket>,
    /// The port's poll after which a packet was last sent.
    pub(super) sent_at: u64,
    /// Packets that the provider has not taken.
    pub(super) delayed: VecDeque<BufferedPacket>,
    /// True if the peer throttles its senders.
    pub(super) throttled: bool,
    /// True if the provider may still have a packet of which it gives no notice: one that was injected.
    pub(super) injected: bool,
    /// True if an empty packet could not be delivered.
    pub(super) is_lost: bool,
    /// True if the rank is lost: nothing is sent to it or read of it any more.
    pub(super) is_forgotten: bool,
    pub(super) heartbeat: Heartbeat,
    /// True if the peer was told that this process leaves the network.
    pub(super) knows_departure: bool,
    /// The peer's host.
    pub(super) host: Box<str>,
    flow: Flow,
    order: Order,
}

/// The packets between two ranks that have not been read.
#[derive(Debug)]
struct Flow {
    /// The number of packets that may be sent before the peer returns credit.
    window: u32,
    /// The number of packets of the peer that were read since credit was returned.
    owed: u32,
}

/// The numbers of packets.
#[derive(Debug, Default)]
struct Order {
    /// The number of the next packet that is sent.
    next_sent: u32,
    /// The number of the next packet of the peer's.
    next_read: u32,
    /// Packets of the peer's that were complete before others, by their numbers.
    early: Vec<(u32, BufferedPacket)>,
}

impl Connection {
    /// Connects to a rank, whose port has this address.
    ///
    /// # Errors
    /// Why that cannot be done.
    pub(super) fn new(
        endpoint: &mut Endpoint,
        peer: u32,
        address: &VniAddress,
    ) -> Result<Connection, String> {
        introduce(&address.name, address.door);
        let buffers = Buffers::new(endpoint, peer, SENDS).map_err(|error| error.to_string())?;
        Ok(Connection {
            address: endpoint.insert(&address.name).map_err(|error| error.to_string())?,
            name: address.name.as_slice().into(),
            key: address.key,
            buffers,
            free: (0..SENDS as u32).rev().collect(),
            open: None,
            sent_at: 0,
            delayed: VecDeque::new(),
            throttled: false,
            injected: false,
            is_lost: false,
            is_forgotten: false,
            heartbeat: Heartbeat::default(),
            knows_departure: false,
            host: address.host.as_str().into(),
            flow: Flow { window: WINDOW, owed: 0 },
            order: Order::default(),
        })
    }

    /// The bytes of a packet in one of the buffers.
    pub(super) fn bytes(&self, packet: BufferedPacket) -> &[u8] {
        let place = self.buffers.place(packet.index as usize);
        // SAFETY: the packet lies in the buffer, which is not written to before it is free.
        unsafe { std::slice::from_raw_parts(place.packet(), packet.len as usize) }
    }

    /// Returns true if the provider has all messages, and none that it does not give notice of.
    pub(super) fn is_drained(&self) -> bool {
        self.is_forgotten
            || self.open.is_none()
                && (!self.injected || self.is_lost)
                && self.delayed.iter().all(|packet| is_empty(self.bytes(*packet)))
    }

    /// Drops the packets for a lost rank that the provider does not have, and those of the rank that have not
    /// had their turn; returns the buffers of these.
    pub(super) fn forget(&mut self) -> Vec<u32> {
        self.is_forgotten = true;
        self.free.extend(self.open.take().map(|packet| packet.index));
        self.free.extend(self.delayed.drain(..).map(|packet| packet.index));
        self.order.early.drain(..).map(|(_, packet)| packet.index).collect()
    }

    /// The number of packets that the provider has.
    pub(super) fn under_way(&self) -> usize {
        SENDS - self.free.len() - self.delayed.len() - usize::from(self.open.is_some())
    }

    /// Returns true if a packet with messages may be sent.
    pub(super) fn has_window(&self) -> bool {
        self.flow.window != 0
    }

    /// The number of the packet that is sent next. It counts against the window.
    pub(super) fn number_next(&mut self) -> u32 {
        self.flow.window -= 1;
        let number = self.order.next_sent;
        self.order.next_sent = number.wrapping_add(1);
        number
    }

    /// Takes credit that the peer returns. Returns false if it is for more packets than are on their way.
    pub(super) fn take_credit(&mut self, credit: u32) -> bool {
        let is_right = credit <= WINDOW - self.flow.window;
        if is_right {
            self.flow.window += credit;
        }
        is_right
    }

    /// Counts a packet of the peer's that was read.
    pub(super) fn count_read(&mut self) {
        self.flow.owed += 1;
    }

    /// Returns true if the peer is due so much credit that it gets an empty packet for it.
    pub(super) fn owes_enough(&self) -> bool {
        self.flow.owed >= RETURNED_AT_ONCE
    }

    /// The credit that goes with a packet.
    pub(super) fn return_credit(&mut self) -> u32 {
        std::mem::take(&mut self.flow.owed)
    }

    /// Gives a packet that is complete to `next` when its number has its turn, and then those that were
    /// complete before it and follow it.
    pub(super) fn in_turn(&mut self, number: u32, packet: BufferedPacket, next: impl FnMut(BufferedPacket)) {
        self.order.in_turn(number, packet, next);
    }
}

impl Order {
    fn in_turn(&mut self, number: u32, packet: BufferedPacket, mut next: impl FnMut(BufferedPacket)) {
        self.early.push((number, packet));
        while let Some(turn) = self.early.iter().position(|(number, _)| *number == self.next_read) {
            self.next_read = self.next_read.wrapping_add(1);
            next(self.early.swap_remove(turn).1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packets_come_in_the_order_of_their_numbers(
            order in Just((0..50u32).collect::<Vec<_>>()).prop_shuffle(),
            first: u32,
        ) {
            let mut numbers = Order { next_read: first, ..Order::default() };
            let mut seen = Vec::new();
            for index in order {
                let packet = BufferedPacket { index, len: 0 };
                numbers.in_turn(first.wrapping_add(index), packet, |packet| seen.push(packet.index));
            }
            prop_assert_eq!(seen, (0..50).collect::<Vec<_>>());
        }
    }
}
