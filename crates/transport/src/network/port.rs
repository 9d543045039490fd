//! The port of a VNI: its endpoint in the network, and its connections to ranks on other machines.
//!
//! **Threads.** The endpoint wants one thread at a time, so the port has a mutex. It is free wherever the
//! VNI's critical section guards its rings; where several threads are in a VNI at once, they take turns here.
//! Messages that have arrived are given to their reader outside of it, since the reader may send.

use super::address::VniAddress;
use super::buffers::{Buffers, Owner, PACKET_BYTES, PacketBuffer, RECEIVED};
use super::connection::{BufferedPacket, Connection, SENDS};
use super::packet::{Form, Label, Packet, Refused, header_bytes, is_empty, payload_offset};
use crate::failure::{Fail, Failure, Garbage, Peer};
use crate::ring::{Incoming, Offer};
use crate::slot::{EXTRA_BYTES, Header};
use crate::throttle::Traffic;
use heddle_bootstrap::{LocalRanks, World};
use heddle_libfabric::{Depth, Endpoint, LostOperation, Outcome, Provider};
use heddle_platform::atomic::{AtomicU32, Ordering};
use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of packets that can arrive before the port is polled.
const RECEIVES: usize = 64;
/// The most messages that are read in one poll.
const READ_AT_ONCE: usize = 32;

/// The operations of an endpoint at once.
pub(super) const DEPTH: Depth = Depth { sends: 4 * SENDS, receives: RECEIVES };

/// An endpoint that is not used yet: made before the ranks meet, since they have to learn its name.
#[derive(Debug)]
pub(super) struct Opened {
    endpoint: Endpoint,
    key: u64,
    inject_bytes: usize,
}

impl Opened {
    pub(super) fn new(provider: &Arc<Provider>, key: u64) -> Result<Opened, heddle_libfabric::Error> {
        Ok(Opened { endpoint: Endpoint::open(provider)?, key, inject_bytes: provider.inject_bytes() })
    }

    /// The words by which others find the port.
    pub(super) fn address(&self, vnis: usize) -> Result<VniAddress, heddle_libfabric::Error> {
        Ok(VniAddress { vnis, key: self.key, name: self.endpoint.name()? })
    }
}

/// The process of a port, and how it finds others and ends.
#[derive(Debug, Clone)]
pub(crate) struct ProcessInfo {
    /// This process's rank in the job.
    pub(crate) rank: u32,
    /// The ranks in the job.
    pub(crate) ranks: u32,
    pub(crate) local: Arc<LocalRanks>,
    /// The VNIs of each process.
    pub(crate) vnis: usize,
    /// The word that a rank has left with a number: the address of its VNI.
    pub(crate) word_of: fn(u32, usize) -> Result<String, String>,
    /// How the process ends when a message cannot be sent or read.
    pub(crate) fail: Fail,
}

/// The port of a VNI.
#[derive(Debug)]
pub(crate) struct Port {
    vni: usize,
    process: ProcessInfo,
    /// The flag by which the VNI throttles its senders.
    throttle: *const AtomicU32,
    wait: Option<RawFd>,
    state: Mutex<State>,
}

// SAFETY: the flag is an atomic in the mapping of the fabric that has the port.
unsafe impl Send for Port {}
// SAFETY: the flag is an atomic in the mapping of the fabric that has the port.
unsafe impl Sync for Port {}

#[derive(Debug)]
struct State {
    /// Closed before the buffers go.
    endpoint: Endpoint,
    key: u64,
    inject_bytes: usize,
    received: Buffers,
    /// Packets that are complete, in any order.
    complete: VecDeque<BufferedPacket>,
    /// Messages that have arrived, in the order of their senders, which stand beside them.
    arrived: VecDeque<(u32, BufferedPacket)>,
    connections: HashMap<u32, Connection>,
    /// The connections that have packets which the provider has not taken.
    delayed: VecDeque<u32>,
    /// The ranks that are due credit.
    creditors: VecDeque<u32>,
    /// The packets that the provider has taken and not sent.
    under_way: usize,
    /// The packets of processes that do not know the key.
    strangers: u64,
}

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
    /// # Safety
    /// The flag lives longer than the port.
    pub(super) unsafe fn new(
        vni: usize,
        process: ProcessInfo,
        throttle: *const AtomicU32,
        opened: Opened,
    ) -> std::io::Result<Port> {
        let Opened { mut endpoint, key, inject_bytes } = opened;
        let received = Buffers::new(&endpoint, RECEIVED, RECEIVES)?;
        for index in 0..RECEIVES {
            receive(&mut endpoint, &received, index).map_err(std::io::Error::other)?;
        }
        let wait = endpoint.wait_descriptor();
        let state = Mutex::new(State {
            endpoint,
            key,
            inject_bytes,
            received,
            complete: VecDeque::new(),
            arrived: VecDeque::with_capacity(RECEIVES),
            connections: HashMap::new(),
            delayed: VecDeque::new(),
            creditors: VecDeque::new(),
            under_way: 0,
            strangers: 0,
        });
        Ok(Port { vni, process, throttle, wait, state })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

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

    /// Returns true if the peer throttles its senders, as far as it has said so.
    pub(crate) fn is_throttled(&self, peer: u32) -> bool {
        self.state().connections.get(&peer).is_some_and(|connection| connection.throttled)
    }

    /// Writes what is in front of a packet's message, and returns the peer's credit with it.
    fn write_header(&self, connection: &mut Connection, place: PacketBuffer, message: Option<&Form>) {
        let label = Label {
            key: connection.key,
            sender: self.process.rank,
            credit: connection.return_credit(),
            // SAFETY: the flag lives longer than the port. Relaxed: a hint.
            throttled: unsafe { &*self.throttle }.load(Ordering::Relaxed) != 0,
        };
        let bytes = header_bytes(&label, message);
        // SAFETY: inside of the buffer, which is this thread's.
        unsafe { place.packet().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    /// The connection to a rank, made when it is first needed.
    fn connection<'a>(&self, state: &'a mut State, peer: u32) -> &'a mut Connection {
        if !state.connections.contains_key(&peer) {
            let connection = self.connect(&mut state.endpoint, peer);
            state.connections.insert(peer, connection);
        }
        let Some(connection) = state.connections.get_mut(&peer) else { unreachable!("it was made") };
        connection
    }

    #[cold]
    fn connect(&self, endpoint: &mut Endpoint, peer: u32) -> Connection {
        let connected = (self.process.word_of)(peer, self.vni).and_then(|word| {
            let Some(address) = VniAddress::parse(&word) else {
                return Err(format!("its address is {word:?}, which no rank has left"));
            };
            if address.vnis != self.process.vnis {
                let (theirs, ours) = (address.vnis, self.process.vnis);
                return Err(format!(
                    "it has {theirs} VNIs and this process has {ours}: set HEDDLE_VNIS to the same number for \
                     all ranks"
                ));
            }
            Connection::new(endpoint, peer, &address)
        });
        connected.unwrap_or_else(|why| self.lose(peer, why))
    }

    /// Ends the process because a peer cannot be reached.
    #[cold]
    fn lose(&self, peer: u32, why: String) -> ! {
        (self.process.fail)(&Failure::Lost { peer: peer as usize, host: World::host_of(peer), why })
    }

    /// Gives a packet to the provider, behind those that wait for it.
    fn post(&self, state: &mut State, peer: u32, packet: BufferedPacket) {
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
    fn not_sent(&self, connection: &mut Connection, (peer, index): (u32, u32), why: String) {
        if !is_empty(connection.bytes(BufferedPacket { index, len: payload_offset(false) as u32 })) {
            self.lose(peer, why);
        }
        connection.is_lost = true;
        connection.free.push(index);
    }

    /// Makes progress: gives delayed packets to the provider, takes back buffers, and notes what has arrived.
    fn poll(&self, state: &mut State) -> bool {
        let State { endpoint, connections, complete, under_way, .. } = state;
        let mut lost = None;
        let happened = endpoint.poll(
            |done| {
                let owner = owner(done.context);
                if owner.peer == RECEIVED {
                    complete.push_back(BufferedPacket { index: owner.index, len: done.len as u32 });
                } else if let Some(connection) = connections.get_mut(&owner.peer) {
                    connection.free.push(owner.index);
                    *under_way -= 1;
                }
            },
            |operation| lost = Some(operation),
        );
        if let Some(operation) = lost {
            self.lost(state, operation);
        }
        while let Some(packet) = state.complete.pop_front() {
            self.sort_in(state, packet);
        }
        self.send_delayed(state) | (happened != 0)
    }

    /// Puts a message that is complete behind those of its sender that were sent before.
    fn sort_in(&self, state: &mut State, packet: BufferedPacket) {
        let Some((sender, number)) = self.open(state, packet) else {
            return self.receive_again(state, packet.index);
        };
        let State { connections, arrived, .. } = state;
        let Some(connection) = connections.get_mut(&sender) else { unreachable!("it was opened") };
        connection.in_turn(number, packet, |packet| arrived.push_back((sender, packet)));
    }

    /// Handles an operation that has failed.
    #[cold]
    fn lost(&self, state: &mut State, operation: LostOperation) {
        let owner = (!operation.context.is_null()).then(|| owner(operation.context));
        let connections = &mut state.connections;
        match owner.and_then(|owner| Some((owner, connections.get_mut(&owner.peer)?))) {
            Some((Owner { peer, index }, connection)) => {
                state.under_way -= 1;
                self.not_sent(connection, (peer, index), operation.reason);
            }
            None => (self.process.fail)(&Failure::Network { why: operation.reason }),
        }
    }

    /// Gives delayed packets to the provider, and sends credit that could not be sent before.
    fn send_delayed(&self, state: &mut State) -> bool {
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
    fn return_credit(&self, state: &mut State, peer: u32) {
        let connection = self.connection(state, peer);
        if !connection.owes_enough() || connection.is_lost {
            return;
        }
        let Some(index) = connection.free.pop() else {
            if !state.creditors.contains(&peer) {
                state.creditors.push_back(peer);
            }
            return;
        };
        let place = connection.buffers.place(index as usize);
        self.write_header(connection, place, None);
        self.post(state, peer, BufferedPacket { index, len: payload_offset(false) as u32 });
    }

    /// Sends an empty packet that is too long to be injected: its completion says that the provider has sent
    /// what was injected before. Does nothing if no buffer is free.
    fn flush(&self, state: &mut State, peer: u32) {
        let len = (state.inject_bytes + 1).clamp(payload_offset(false), PACKET_BYTES);
        let connection = self.connection(state, peer);
        if let Some(index) = connection.free.pop() {
            connection.injected = false;
            self.write_header(connection, connection.buffers.place(index as usize), None);
            self.post(state, peer, BufferedPacket { index, len: len as u32 });
        }
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
            && let Some((sender, packet)) = state.arrived.pop_front()
        {
            let message = self.message(&state, packet);
            drop(state);
            read(sender as usize, &message);
            taken += 1;
            state = self.state();
            self.count_read(&mut state, sender, packet);
        }
        taken
    }

    /// Shows the next message to `read`, if there is one, and takes it out if `read` says so.
    pub(crate) fn offer(&self, read: impl FnOnce(&Incoming) -> bool) -> Offer {
        let mut state = self.state();
        if state.arrived.is_empty() {
            self.poll(&mut state);
        }
        let Some(&(sender, packet)) = state.arrived.front() else { return Offer::Nothing };
        let message = self.message(&state, packet);
        drop(state);
        if !read(&message) {
            return Offer::Refused;
        }
        let mut state = self.state();
        state.arrived.pop_front();
        self.count_read(&mut state, sender, packet);
        Offer::Taken
    }

    /// Returns true if no message has arrived and nothing waits to be sent.
    pub(crate) fn is_empty(&self) -> bool {
        let mut state = self.state();
        !self.poll(&mut state) && state.arrived.is_empty()
    }

    /// Returns true if the network has taken everything that was sent.
    pub(crate) fn is_drained(&self) -> bool {
        let mut state = self.state();
        self.poll(&mut state);
        let injected: Vec<u32> = {
            let peers = state.connections.iter();
            peers.filter(|(_, peer)| peer.injected && !peer.is_lost).map(|(&peer, _)| peer).collect()
        };
        injected.into_iter().for_each(|peer| self.flush(&mut state, peer));
        state.under_way == 0 && state.connections.values().all(Connection::is_drained)
    }

    /// The descriptor that becomes readable when there is something to poll for.
    pub(crate) fn wait_descriptor(&self) -> Option<RawFd> {
        self.wait
    }

    /// Returns true if a thread may wait for the descriptor now.
    pub(crate) fn may_wait(&self) -> bool {
        let mut state = self.state();
        state.arrived.is_empty() && state.endpoint.may_wait()
    }

    /// The number of packets that came from processes which do not belong to the job.
    pub(crate) fn strangers(&self) -> u64 {
        self.state().strangers
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
        if !connection.take_credit(label.credit) {
            self.refuse(label.sender, Garbage::Credit { credit: label.credit });
        }
        message.map(|form| (label.sender, form.number))
    }

    /// The message of a packet that was [opened](Self::open).
    fn message(&self, state: &State, packet: BufferedPacket) -> Incoming {
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
    fn count_read(&self, state: &mut State, sender: u32, packet: BufferedPacket) {
        self.receive_again(state, packet.index);
        self.connection(state, sender).count_read();
        self.return_credit(state, sender);
    }

    fn receive_again(&self, state: &mut State, index: u32) {
        let State { endpoint, received, .. } = state;
        if let Err(why) = receive(endpoint, received, index as usize) {
            (self.process.fail)(&Failure::Network { why });
        }
    }
}

/// The owner of the buffer that an operation has returned.
fn owner(context: *mut u8) -> Owner {
    // SAFETY: the context of each operation is that of a buffer.
    unsafe { PacketBuffer::of_context(context).owner().read() }
}

/// Lets a buffer receive.
fn receive(endpoint: &mut Endpoint, buffers: &Buffers, index: usize) -> Result<(), String> {
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
