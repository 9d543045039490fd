//! Receiving: packets that are complete, checked and put into the order of their senders, to their reader.

use super::state::{Arrival, Port, State};
use crate::failure::{Failure, Garbage, Peer};
use crate::network::buffers::{Buffers, PACKET_BYTES};
use crate::network::connection::BufferedPacket;
use crate::network::packet::{Form, Packet, Refused, payload_offset};
use crate::ring::{Incoming, Offer};
use crate::slot::EXTRA_BYTES;
use heddle_libfabric::{Endpoint, Outcome};

/// The most messages that are read in one poll.
const READ_AT_ONCE: usize = 32;

impl Port {
    /// Puts a message that is complete behind those of its sender that were sent before.
    pub(super) fn sort_in(&self, state: &mut State, packet: BufferedPacket) {
        let Some((sender, number)) = self.open(state, packet) else {
            return self.receive_again(state, packet.index);
        };
        let State { connections, arrived, .. } = state;
        let Some(connection) = connections.get_mut(&sender) else { unreachable!("it was opened") };
        connection.in_turn(number, packet, |packet| arrived.push_back(Arrival::Message { sender, packet }));
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
            let (sender, message) = self.message(&state, &arrival);
            drop(state);
            read(sender as usize, &message);
            taken += 1;
            state = self.state();
            self.count_read(&mut state, arrival);
        }
        taken
    }

    /// Shows the next message to `read`, if there is one, and takes it out if `read` says so.
    pub(crate) fn offer(&self, read: impl FnOnce(&Incoming) -> bool) -> Offer {
        let mut state = self.state();
        if state.arrived.is_empty() {
            self.poll(&mut state);
        }
        let Some(&arrival) = state.arrived.front() else { return Offer::Nothing };
        let (_, message) = self.message(&state, &arrival);
        drop(state);
        if !read(&message) {
            return Offer::Refused;
        }
        let mut state = self.state();
        state.arrived.pop_front();
        self.count_read(&mut state, arrival);
        Offer::Taken
    }

    /// The bytes of a packet that has arrived.
    fn bytes<'a>(&self, state: &State, packet: BufferedPacket) -> &'a [u8] {
        let place = state.received.place(packet.index as usize);
        // SAFETY: a received packet, whose buffer nobody else uses until it receives again; no caller keeps
        // the bytes so long.
        unsafe { std::slice::from_raw_parts(place.packet(), packet.len as usize) }
    }

    /// Reads what a packet says besides its message. Returns the sender and the number of the message, if
    /// there is one in it.
    fn open(&self, state: &mut State, packet: BufferedPacket) -> Option<(u32, u32)> {
        let bytes = self.bytes(state, packet);
        let Packet { label, message } = match Packet::read(bytes, state.key, self.process.ranks) {
            Ok(packet) if self.process.local.index_of(packet.label.sender).is_none() => packet,
            Ok(_) | Err(Refused::Stranger) => {
                state.strangers += 1;
                return None;
            }
            Err(Refused::Garbage(peer, what)) => self.refuse(peer, what),
        };
        let connection = self.connection(state, label.sender);
        connection.throttled = label.throttled;
        connection.heartbeat.heard(label.leaves, message.is_some());
        if !connection.take_credit(label.credit) {
            self.refuse(label.sender, Garbage::Credit { credit: label.credit });
        }
        message.map(|form| (label.sender, form.number))
    }

    /// The message that has arrived, and its sender; it is not read any more when the arrival is gone.
    fn message(&self, state: &State, arrival: &Arrival) -> (u32, Incoming) {
        match arrival {
            Arrival::Message { sender, packet } => (*sender, self.message_in(state, *packet)),
            Arrival::Fetched { header, words } => {
                let start = words.as_ptr();
                // SAFETY: the words stay untouched as long as the arrival is there.
                (self.process.rank, unsafe { Incoming::new(*header, (start, words.len()), start) })
            }
        }
    }

    /// The message of a packet that was [opened](Self::open).
    fn message_in(&self, state: &State, packet: BufferedPacket) -> Incoming {
        let bytes = self.bytes(state, packet);
        let read = Packet::read(bytes, state.key, self.process.ranks);
        let Ok(Packet { message: Some(Form { header, has_extra, .. }), .. }) = read else {
            unreachable!("it was opened")
        };
        let payload = &bytes[payload_offset(has_extra)..];
        let start = payload.as_ptr();
        let extra = if has_extra { start.wrapping_sub(EXTRA_BYTES) } else { start };
        // SAFETY: the payload lies in the buffer, which receives again only after the message was read; 24
        // bytes can be read behind `extra`, since a buffer is longer than that.
        unsafe { Incoming::new(header, (start, payload.len()), extra) }
    }

    #[cold]
    fn refuse(&self, peer: u32, what: Garbage) -> ! {
        Peer { rank: peer as usize, fail: self.process.fail }.refuse(what)
    }

    /// Gives back the buffer of a message that was read, and counts it for the sender's credit.
    fn count_read(&self, state: &mut State, arrival: Arrival) {
        let Arrival::Message { sender, packet } = arrival else { return };
        self.receive_again(state, packet.index);
        self.connection(state, sender).count_read();
        self.return_credit(state, sender);
    }

    fn receive_again(&self, state: &mut State, index: u32) {
        state.held -= 1;
        let State { endpoint, received, .. } = state;
        if let Err(why) = receive(endpoint, received, index as usize) {
            (self.process.fail)(&Failure::Network { why });
        }
    }
}

/// Lets a buffer receive.
pub(super) fn receive(endpoint: &mut Endpoint, buffers: &Buffers, index: usize) -> Result<(), String> {
    let place = buffers.place(index);
    // SAFETY: nobody uses the buffer until its completion.
    let outcome =
        unsafe { endpoint.receive(place.packet(), PACKET_BYTES, buffers.memory(), place.context()) };
    match outcome {
        Outcome::Taken => Ok(()),
        Outcome::Later => Err("the provider takes no more receives than it has room for".to_owned()),
        Outcome::Lost(why) => Err(why),
    }
}
