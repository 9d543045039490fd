//! Sending: packets into buffers, and from there to the provider.

use super::state::{Port, PortState};
use crate::network::buffers::{PACKET_BYTES, PacketBuffer};
use crate::network::connection::{BufferedPacket, Connection};
use crate::network::packet::{LABEL_BYTES, Label, RECORD_BYTES, Record, is_empty};
use crate::slot::{EXTRA_BYTES, Header};
use crate::throttle::Traffic;
use heddle_libfabric::{Endpoint, Submission};
use heddle_platform::atomic::Ordering;

/// A packet of that length leaves at once: the receiver reads it while others are written.
const FULL: usize = 8 << 10;

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
    /// Sends a message whose payload `fill` writes. Returns false and does nothing if there is no room, if
    /// the peer throttles its senders and the message is not of a protocol, or if the peer is lost.
    ///
    /// The first message to a peer after a poll leaves at once. Others that follow share a packet, which
    /// leaves when it is full, with the next poll, or by the listener: one call of the provider for all of
    /// them.
    pub(crate) fn send(&self, peer: u32, message: Outgoing<'_>, fill: impl FnOnce(*mut u8)) -> bool {
        let mut state = self.state();
        if state.has_lost(peer) {
            return false;
        }
        let connection = self.connection(&mut state, peer);
        if connection.throttled && message.traffic != Traffic::Protocol {
            return false;
        }
        let Outgoing { header, len, extra, .. } = message;
        let record = Record { header: *header, has_extra: extra.is_some(), len };
        let has_room = connection.open.is_some_and(|open| record.end(open.len as usize) <= PACKET_BYTES);
        if !has_room && !self.open_packet(&mut state, peer) {
            return false;
        }
        let polls = state.polls;
        let connection = self.connection(&mut state, peer);
        let Some(open) = connection.open.as_mut() else { unreachable!("it was opened") };
        let at = open.len as usize;
        let packet = connection.buffers.place(open.index as usize).packet();
        open.len = record.end(at) as u32;
        let is_full = open.len as usize >= FULL;
        let bytes = record.to_bytes();
        // SAFETY: inside of the buffer, which is this thread's.
        unsafe { packet.wrapping_add(at).copy_from_nonoverlapping(bytes.as_ptr(), RECORD_BYTES) };
        let payload = packet.wrapping_add(record.payload_at(at));
        if let Some(extra) = extra {
            let at = payload.wrapping_sub(EXTRA_BYTES);
            // SAFETY: inside of the buffer, which is this thread's.
            unsafe { at.copy_from_nonoverlapping(extra.as_ptr(), EXTRA_BYTES) };
        }
        fill(payload);
        let is_first = std::mem::replace(&mut connection.sent_at, polls) != polls;
        if is_first || is_full || !self.signal.leave_open() {
            self.close(&mut state, peer);
        }
        true
    }

    /// Opens a packet to a peer, after an open one was sent. Returns false if there is no room.
    fn open_packet(&self, state: &mut PortState, peer: u32) -> bool {
        self.close(state, peer);
        if self.connection(state, peer).free.is_empty() {
            self.poll(state);
        }
        let connection = self.connection(state, peer);
        if !connection.has_window() || connection.is_forgotten {
            return false;
        }
        let Some(index) = connection.free.pop() else { return false };
        connection.open = Some(BufferedPacket { index, len: LABEL_BYTES as u32 });
        state.open.push(peer);
        true
    }

    /// Sends the open packet to a peer, if there is one.
    fn close(&self, state: &mut PortState, peer: u32) {
        let connection = self.connection(state, peer);
        let Some(packet) = connection.open.take() else { return };
        let number = connection.number_next();
        self.write_label(connection, connection.buffers.place(packet.index as usize), Some(number));
        state.open.retain(|other| *other != peer);
        self.post(state, peer, packet);
    }

    /// Sends all open packets. Returns true if there were some.
    pub(super) fn close_all(&self, state: &mut PortState) -> bool {
        let mut happened = false;
        while let Some(&peer) = state.open.last() {
            self.close(state, peer);
            happened = true;
        }
        happened
    }

    /// Does the same, for a thread that is not in the port.
    pub(in crate::network) fn send_open(&self) -> bool {
        let mut state = self.state();
        self.close_all(&mut state)
    }

    /// Does the same, unless another thread is in the port: waiting for it would cost that thread a call of
    /// the kernel.
    pub(in crate::network) fn send_open_if_free(&self) -> bool {
        self.state_if_free().is_some_and(|mut state| self.close_all(&mut state))
    }

    /// Writes what is in front of a packet's messages, and returns the peer's credit with it. The packet has
    /// a number if it has messages.
    pub(super) fn write_label(&self, connection: &mut Connection, place: PacketBuffer, number: Option<u32>) {
        let label = Label {
            key: connection.key,
            sender: self.process.rank,
            credit: connection.return_credit(),
            number,
            // SAFETY: the flag lives longer than the port. Relaxed: a hint.
            throttled: unsafe { &*self.throttle }.load(Ordering::Relaxed) != 0,
            leaves: self.leaves.load(Ordering::Relaxed),
        };
        connection.heartbeat.sent();
        let bytes = label.to_bytes();
        // SAFETY: inside of the buffer, which is this thread's.
        unsafe { place.packet().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    /// Gives a packet to the provider, behind those that wait for it.
    pub(super) fn post(&self, state: &mut PortState, peer: u32, packet: BufferedPacket) {
        let PortState { connections, endpoint, inject_bytes, under_way, delayed, .. } = state;
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
            Submission::Taken if injected => {
                connection.injected = true;
                connection.free.push(index);
            }
            Submission::Taken => *under_way += 1,
            Submission::Later => return false,
            Submission::Lost(why) => self.not_sent(connection, (peer, index), why),
        }
        true
    }

    /// Takes back the buffer of a packet that could not be sent. The peer is missed if there was a message in
    /// it.
    #[cold]
    pub(super) fn not_sent(&self, connection: &mut Connection, (peer, index): (u32, u32), why: String) {
        if !is_empty(connection.bytes(BufferedPacket { index, len: LABEL_BYTES as u32 })) {
            self.miss(peer, Some(&connection.host), why);
        }
        connection.is_lost = true;
        connection.free.push(index);
    }

    /// Gives delayed packets to the provider, and sends credit that could not be sent before.
    pub(super) fn send_delayed(&self, state: &mut PortState) -> bool {
        let mut happened = false;
        for _ in 0..state.delayed.len() {
            let Some(peer) = state.delayed.pop_front() else { break };
            let PortState { connections, endpoint, inject_bytes, under_way, delayed, .. } = &mut *state;
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
    pub(super) fn return_credit(&self, state: &mut PortState, peer: u32) {
        let connection = self.connection(state, peer);
        if !connection.owes_enough() || connection.is_lost || connection.is_forgotten {
            return;
        }
        if !self.send_empty(state, peer) && !state.creditors.contains(&peer) {
            state.creditors.push_back(peer);
        }
    }

    /// Sends an empty packet that is too long to be injected: its completion says that the provider has sent
    /// what was injected before. Does nothing if no buffer is free.
    pub(super) fn flush(&self, state: &mut PortState, peer: u32) {
        let len = (state.inject_bytes + 1).clamp(LABEL_BYTES, PACKET_BYTES);
        let connection = self.connection(state, peer);
        if let Some(index) = connection.free.pop() {
            connection.injected = false;
            self.write_label(connection, connection.buffers.place(index as usize), None);
            self.post(state, peer, BufferedPacket { index, len: len as u32 });
        }
    }
}
