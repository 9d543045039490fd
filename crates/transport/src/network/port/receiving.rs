//! Receiving: packets that are complete, checked and put into the order of their senders, to their reader.

use super::state::{Arrival, Port, PortState};
use crate::failure::{Failure, Garbage, Peer};
use crate::network::buffers::{Buffers, PACKET_BYTES};
use crate::network::connection::BufferedPacket;
use crate::network::packet::{LABEL_BYTES, Label, Record, Refused};
use crate::ring::{Incoming, Offered};
use crate::slot::{EXTRA_BYTES, Header};
use heddle_libfabric::{Endpoint, Submission};

/// The number of messages after which a poll reads no further packet.
const READ_AT_ONCE: usize = 32;

impl Port {
    /// Puts a packet that is complete behind those of its sender that were sent before.
    pub(super) fn sort_in(&self, state: &mut PortState, packet: BufferedPacket) {
        let Some((sender, number)) = self.open(state, packet) else {
            return self.receive_again(state, packet.index);
        };
        let PortState { connections, arrived, .. } = state;
        let Some(connection) = connections.get_mut(&sender) else { unreachable!("it was opened") };
        let arrival = |packet| Arrival::Packet { sender, packet, at: LABEL_BYTES };
        connection.in_turn(number, packet, |packet| arrived.push_back(arrival(packet)));
    }

    /// Gives messages that have arrived to `read` (sender's world rank, message). Returns how many there
    /// were. One thread at a time calls this or [`offer`](Self::offer).
    pub(crate) fn read(&self, mut read: impl FnMut(usize, &Incoming)) -> usize {
        let mut state = self.state();
        if state.arrived.is_empty() {
            self.poll(&mut state);
        }
        let mut taken = 0;
        while taken < READ_AT_ONCE
            && let Some(arrival) = state.arrived.pop_front()
        {
            match arrival {
                Arrival::Packet { sender, packet, mut at } => {
                    let bytes = self.bytes(&state, packet);
                    drop(state);
                    while at < bytes.len() {
                        let (message, next) = self.message_at(bytes, at);
                        read(sender as usize, &message);
                        (at, taken) = (next, taken + 1);
                    }
                    state = self.state();
                    self.count_read(&mut state, sender, packet);
                }
                Arrival::FromHere { header, words } => {
                    drop(state);
                    read(self.process.rank as usize, &own_message(header, &words));
                    taken += 1;
                    state = self.state();
                }
            }
        }
        taken
    }

    /// Shows the next message to `read`, if there is one, and takes it out if `read` says so.
    pub(crate) fn offer(&self, read: impl FnOnce(&Incoming) -> bool) -> Offered {
        let mut state = self.state();
        if state.arrived.is_empty() {
            self.poll(&mut state);
        }
        let Some(&arrival) = state.arrived.front() else { return Offered::Nothing };
        let (message, next) = match &arrival {
            Arrival::Packet { packet, at, .. } => self.message_at(self.bytes(&state, *packet), *at),
            Arrival::FromHere { header, words } => (own_message(*header, words), 0),
        };
        drop(state);
        if !read(&message) {
            return Offered::Refused;
        }
        let mut state = self.state();
        match state.arrived.front_mut() {
            Some(Arrival::Packet { packet, at, .. }) if next < packet.len as usize => *at = next,
            _ => {
                state.arrived.pop_front();
                if let Arrival::Packet { sender, packet, .. } = arrival {
                    self.count_read(&mut state, sender, packet);
                }
            }
        }
        Offered::Taken
    }

    /// The bytes of a packet that has arrived.
    fn bytes<'a>(&self, state: &PortState, packet: BufferedPacket) -> &'a [u8] {
        let place = state.received.place(packet.index as usize);
        // SAFETY: a received packet, whose buffer nobody else uses until it receives again; no caller keeps
        // the bytes so long.
        unsafe { std::slice::from_raw_parts(place.packet(), packet.len as usize) }
    }

    /// Checks a packet, and reads what it says besides its messages. Returns the sender and the number of the
    /// packet, if there are messages in it.
    fn open(&self, state: &mut PortState, packet: BufferedPacket) -> Option<(u32, u32)> {
        let bytes = self.bytes(state, packet);
        let label = match Label::read(bytes, state.key, self.process.ranks) {
            Ok(label) if self.process.local.index_of(label.sender).is_none() => label,
            Ok(_) | Err(Refused::Stranger) => {
                state.strangers += 1;
                return None;
            }
            Err(Refused::Garbage(peer, what)) => self.refuse(peer, what),
        };
        if state.has_lost(label.sender) {
            // Its operations have ended here already.
            return None;
        }
        let connection = self.connection(state, label.sender);
        connection.throttled = label.throttled;
        connection.heartbeat.heard(label.leaves, label.number.is_some());
        if !connection.take_credit(label.credit) {
            self.refuse(label.sender, Garbage::Credit { credit: label.credit });
        }
        label.number.map(|number| (label.sender, number))
    }

    /// The message at `at` in a packet that was [opened](Self::open), and where the next one begins.
    fn message_at(&self, packet: &[u8], at: usize) -> (Incoming, usize) {
        let Ok(record) = Record::read(packet, at) else { unreachable!("it was opened") };
        let start = packet[record.payload_at(at)..].as_ptr();
        let extra = if record.has_extra { start.wrapping_sub(EXTRA_BYTES) } else { start };
        // SAFETY: the payload lies in the buffer, which receives again only after its messages were read; 24
        // bytes can be read behind `extra`, since a buffer has a tail.
        (unsafe { Incoming::new(record.header, (start, record.len), extra) }, record.end(at))
    }

    #[cold]
    fn refuse(&self, peer: u32, what: Garbage) -> ! {
        Peer { rank: peer as usize, fail: self.process.fail }.refuse(what)
    }

    /// Gives back the buffer of a packet that was read, and counts it for the sender's credit.
    fn count_read(&self, state: &mut PortState, sender: u32, packet: BufferedPacket) {
        self.receive_again(state, packet.index);
        self.connection(state, sender).count_read();
        self.return_credit(state, sender);
    }

    pub(super) fn receive_again(&self, state: &mut PortState, index: u32) {
        state.held -= 1;
        let PortState { endpoint, received, .. } = state;
        if let Err(why) = receive(endpoint, received, index as usize) {
            (self.process.fail)(&Failure::Network { why });
        }
    }
}

/// A message of this process to itself.
fn own_message(header: Header, words: &[u8; EXTRA_BYTES]) -> Incoming {
    let start = words.as_ptr();
    // SAFETY: the words stay untouched as long as the message is read.
    unsafe { Incoming::new(header, (start, words.len()), start) }
}

/// Lets a buffer receive.
pub(super) fn receive(endpoint: &mut Endpoint, buffers: &Buffers, index: usize) -> Result<(), String> {
    let place = buffers.place(index);
    // SAFETY: nobody uses the buffer until its completion.
    let outcome =
        unsafe { endpoint.receive(place.packet(), PACKET_BYTES, buffers.memory(), place.context()) };
    match outcome {
        Submission::Taken => Ok(()),
        Submission::Later => Err("the provider takes no more receives than it has room for".to_owned()),
        Submission::Lost(why) => Err(why),
    }
}
