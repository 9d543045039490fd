//! Sending: packets into buffers, and from there to the provider.

use super::state::{Port, State};
use crate::network::buffers::{PACKET_BYTES, PacketBuffer};
use crate::network::connection::{BufferedPacket, Connection};
use crate::network::packet::{Form, Label, header_bytes, is_empty, payload_offset};
use crate::slot::{EXTRA_BYTES, Header};
use crate::throttle::Traffic;
use heddle_libfabric::{Endpoint, Outcome};
use heddle_platform::atomic::Ordering;

/// A message to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing<'a> {
    pub(crate) traffic: Traffic,
    pub(crate) header: &'a Header,
    pub(crate) len: usize,
    /// The bytes beside a bulk payload.
    pub(crate) extra: Option<&'a [u8; EXTRA_BYTES]>,
}

impl Port {
    /// Sends a message whose payload `fill` writes. Returns false and does nothing if there is no room, or if
    /// the peer throttles its senders and the message is not of a protocol.
    pub(crate) fn send(&self, peer: u32, message: Outgoing<'_>, fill: impl FnOnce(*mut u8)) -> bool {
        let mut state = self.state();
        let connection = self.connection(&mut state, peer);
        let refused = connection.throttled && message.traffic != Traffic::Protocol;
        if refused || !connection.has_window() {
            return false;
        }
        if connection.free.is_empty() {
            self.poll(&mut state);
        }
        let connection = self.connection(&mut state, peer);
        let Some(index) = connection.free.pop() else { return false };
        let place = connection.buffers.place(index as usize);
        let number = connection.number_next();
        let form = Form { header: *message.header, has_extra: message.extra.is_some(), number };
        let offset = payload_offset(form.has_extra);
        self.write_header(connection, place, Some(&form));
        if let Some(extra) = message.extra {
            let at = place.packet().wrapping_add(offset - EXTRA_BYTES);
            // SAFETY: inside of the buffer, which is this thread's.
            unsafe { at.copy_from_nonoverlapping(extra.as_ptr(), EXTRA_BYTES) };
        }
        fill(place.packet().wrapping_add(offset));
        self.post(&mut state, peer, BufferedPacket { index, len: (offset + message.len) as u32 });
        true
    }

    /// Writes what is in front of a packet's message, and returns the peer's credit with it.
    pub(super) fn write_header(
        &self,
        connection: &mut Connection,
        place: PacketBuffer,
        message: Option<&Form>,
    ) {
        let label = Label {
            key: connection.key,
            sender: self.process.rank,
            credit: connection.return_credit(),
            // SAFETY: the flag lives longer than the port. Relaxed: a hint.
            throttled: unsafe { &*self.throttle }.load(Ordering::Relaxed) != 0,
            leaves: self.leaves.load(Ordering::Relaxed),
        };
        connection.heartbeat.sent();
        let bytes = header_bytes(&label, message);
        // SAFETY: inside of the buffer, which is this thread's.
        unsafe { place.packet().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    /// Gives a packet to the provider, behind those that wait for it.
    pub(super) fn post(&self, state: &mut State, peer: u32, packet: BufferedPacket) {
        let State { connections, endpoint, inject_bytes, under_way, delayed, .. } = state;
        let Some(connection) = connections.get_mut(&peer) else { unreachable!("it has a packet") };
        if connection.delayed.is_empty() {
            if self.hand_over(endpoint, connection, peer, packet, *inject_bytes, under_way) {
                return;
            }
            delayed.push_back(peer);
        }
        connection.delayed.push_back(packet);
    }

    /// Gives a packet to the provider. Returns false if that does not take it now.
    fn hand_over(
        &self,
        endpoint: &mut Endpoint,
        connection: &mut Connection,
        peer: u32,
        packet: BufferedPacket,
        inject_bytes: usize,
        under_way: &mut usize,
    ) -> bool {
        let BufferedPacket { index, len } = packet;
        let len = len as usize;
        let injected = len <= inject_bytes;
        let outcome = if injected {
            endpoint.inject(connection.address, connection.bytes(packet))
        } else {
            let (memory, place) = (connection.buffers.memory(), connection.buffers.place(index as usize));
            // SAFETY: nobody uses the buffer until its completion returns it to the connection.
            unsafe { endpoint.send(connection.address, place.packet(), len, memory, place.context()) }
        };
        match outcome {
            Outcome::Taken if injected => {
                connection.injected = true;
                connection.free.push(index);
            }
            Outcome::Taken => *under_way += 1,
            Outcome::Later => return false,
            Outcome::Lost(why) => self.not_sent(connection, (peer, index), why),
        }
        true
    }

    /// Takes back the buffer of a packet that could not be sent. Ends the process if there was a message in
    /// it.
    #[cold]
    pub(super) fn not_sent(&self, connection: &mut Connection, (peer, index): (u32, u32), why: String) {
        if !is_empty(connection.bytes(BufferedPacket { index, len: payload_offset(false) as u32 })) {
            self.lose(peer, Some(&connection.host), why);
        }
        connection.is_lost = true;
        connection.free.push(index);
    }

    /// Gives delayed packets to the provider, and sends credit that could not be sent before.
    pub(super) fn send_delayed(&self, state: &mut State) -> bool {
        let mut happened = false;
        for _ in 0..state.delayed.len() {
            let Some(peer) = state.delayed.pop_front() else { break };
            let State { connections, endpoint, inject_bytes, under_way, delayed, .. } = &mut *state;
            let Some(connection) = connections.get_mut(&peer) else { continue };
            while let Some(packet) = connection.delayed.pop_front() {
                if !self.hand_over(endpoint, connection, peer, packet, *inject_bytes, under_way) {
                    connection.delayed.push_front(packet);
                    delayed.push_back(peer);
                    break;
                }
                happened = true;
            }
        }
        for _ in 0..state.creditors.len() {
            let Some(peer) = state.creditors.pop_front() else { break };
            self.return_credit(state, peer);
        }
        happened
    }

    /// Returns credit to a peer that is due enough, by an empty packet.
    pub(super) fn return_credit(&self, state: &mut State, peer: u32) {
        let connection = self.connection(state, peer);
        if !connection.owes_enough() || connection.is_lost {
            return;
        }
        if !self.send_empty(state, peer) && !state.creditors.contains(&peer) {
            state.creditors.push_back(peer);
        }
    }

    /// Sends an empty packet that is too long to be injected: its completion says that the provider has sent
    /// what was injected before. Does nothing if no buffer is free.
    pub(super) fn flush(&self, state: &mut State, peer: u32) {
        let len = (state.inject_bytes + 1).clamp(payload_offset(false), PACKET_BYTES);
        let connection = self.connection(state, peer);
        if let Some(index) = connection.free.pop() {
            connection.injected = false;
            self.write_header(connection, connection.buffers.place(index as usize), None);
            self.post(state, peer, BufferedPacket { index, len: len as u32 });
        }
    }
}
