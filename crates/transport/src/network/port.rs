//! The port of a VNI: its endpoint in the network, and its connections to ranks on other machines.
//!
//! **Flow control.** A sender has at most [`WINDOW`] messages on their way to a receiver that the receiver has
//! not read; the receiver returns credit with its own packets, or with an empty one. So no sender floods a
//! receiver, or holds up the others. Of a connection at most [`SENDS`] packets wait for the provider, each in
//! a buffer of the connection's; a peer that does not read its network holds up nobody else.
//!
//! **Order.** The provider keeps the order of the packets of two endpoints. Packets that it cannot take yet
//! (its queue is full, or the connection is being made) wait in their buffers, first in, first out.
//!
//! **Threads.** The endpoint wants one thread at a time, so the port has a mutex. It is free wherever the
//! VNI's critical section guards its rings; where several threads are in a VNI at once, they take turns here.
//! Messages that have arrived are given to their reader outside of it, since the reader may send.

use super::address::VniAddress;
use super::buffers::{Buffers, Owner, PACKET_BYTES, Place, RECEIVED};
use super::packet::{Form, Label, Packet, Refused, header_bytes, payload_offset};
use crate::failure::{Fail, Failure, Garbage, Peer};
use crate::ring::Incoming;
use crate::slot::{EXTRA_BYTES, Header};
use crate::throttle::Traffic;
use heddle_bootstrap::{LocalRanks, World};
use heddle_libfabric::{Address, Depth, Endpoint, LostOperation, Outcome, Provider};
use heddle_platform::atomic::{AtomicU32, Ordering};
use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most messages to one receiver that it has not read.
const WINDOW: u32 = 128;
/// A receiver that has read that many messages returns credit for them.
const RETURNED_AT_ONCE: u32 = WINDOW / 4;
/// The most packets to one receiver that the provider has not sent.
const SENDS: usize = 32;
/// The number of packets that can arrive before the port is polled.
const RECEIVES: usize = 64;
/// The most messages that are read before their buffers are given back.
const READ_AT_ONCE: usize = 32;

/// An endpoint that is not used yet: made before the ranks meet, since they have to learn its name.
#[derive(Debug)]
pub(super) struct Opened {
    endpoint: Endpoint,
    key: u64,
    inject_bytes: usize,
}

impl Opened {
    pub(super) fn new(provider: &Arc<Provider>, key: u64) -> Result<Opened, heddle_libfabric::Error> {
        let depth = Depth { sends: 8 * SENDS, receives: RECEIVES };
        Ok(Opened { endpoint: Endpoint::open(provider, depth)?, key, inject_bytes: provider.inject_bytes() })
    }

    /// The words by which others find the port.
    pub(super) fn address(&self, vnis: usize) -> Result<VniAddress, heddle_libfabric::Error> {
        Ok(VniAddress { vnis, key: self.key, name: self.endpoint.name()? })
    }
}

/// What a port knows of its process.
#[derive(Debug, Clone)]
pub(crate) struct ProcessPlace {
    /// This process's rank in the job.
    pub(crate) rank: u32,
    /// The ranks in the job.
    pub(crate) ranks: u32,
    pub(crate) local: Arc<LocalRanks>,
    /// The VNIs of each process.
    pub(crate) vnis: usize,
    /// How the process ends when a message cannot be sent or read.
    pub(crate) fail: Fail,
}

/// The port of a VNI.
#[derive(Debug)]
pub(crate) struct Port {
    vni: usize,
    process: ProcessPlace,
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
    /// Packets that have arrived: their buffers, and their lengths.
    arrived: VecDeque<(u32, u32)>,
    connections: HashMap<u32, Connection>,
    /// The connections that have packets which the provider has not taken.
    delayed: Vec<u32>,
    /// The ranks that are due credit.
    creditors: Vec<u32>,
    /// The packets that the provider has taken and not sent.
    under_way: usize,
    /// The packets of processes that do not know the key.
    strangers: u64,
}

/// The connection to a rank.
#[derive(Debug)]
struct Connection {
    address: Address,
    /// The peer's key.
    key: u64,
    buffers: Buffers,
    /// The buffers that no packet is in.
    free: Vec<u32>,
    /// Packets that the provider has not taken: their buffers, and their lengths.
    delayed: VecDeque<(u32, u32)>,
    /// The number of messages that may be sent before the peer returns credit.
    window: u32,
    /// The number of messages of the peer that were read since credit was returned.
    owed: u32,
    /// True if the peer throttles its senders.
    throttled: bool,
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
        process: ProcessPlace,
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
            arrived: VecDeque::with_capacity(RECEIVES),
            connections: HashMap::new(),
            delayed: Vec::new(),
            creditors: Vec::new(),
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
        if refused || connection.window == 0 {
            return false;
        }
        if connection.free.is_empty() {
            self.poll(&mut state);
        }
        let connection = self.connection(&mut state, peer);
        let Some(index) = connection.free.pop() else { return false };
        connection.window -= 1;
        let place = connection.buffers.place(index as usize);
        let form = Form { header: *message.header, has_extra: message.extra.is_some() };
        let offset = payload_offset(form.has_extra);
        self.write_header(connection, place, Some(&form));
        if let Some(extra) = message.extra {
            let at = place.packet().wrapping_add(offset - EXTRA_BYTES);
            // SAFETY: inside of the buffer, which is this thread's.
            unsafe { at.copy_from_nonoverlapping(extra.as_ptr(), EXTRA_BYTES) };
        }
        fill(place.packet().wrapping_add(offset));
        self.post(&mut state, peer, index, (offset + message.len) as u32);
        true
    }

    /// Returns true if the peer throttles its senders, as far as it has said so.
    pub(crate) fn is_throttled(&self, peer: u32) -> bool {
        self.state().connections.get(&peer).is_some_and(|connection| connection.throttled)
    }

    /// Writes what is in front of a packet's message, and returns the peer's credit with it.
    fn write_header(&self, connection: &mut Connection, place: Place, message: Option<&Form>) {
        let label = Label {
            key: connection.key,
            sender: self.process.rank,
            credit: std::mem::take(&mut connection.owed),
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
        let connected = World::word_of(peer, self.vni).map_err(|error| error.to_string()).and_then(|word| {
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
            let buffers = Buffers::new(endpoint, peer, SENDS).map_err(|error| error.to_string())?;
            let at = endpoint.insert(&address.name).map_err(|error| error.to_string())?;
            Ok(Connection {
                address: at,
                key: address.key,
                buffers,
                free: (0..SENDS as u32).rev().collect(),
                delayed: VecDeque::new(),
                window: WINDOW,
                owed: 0,
                throttled: false,
            })
        });
        connected.unwrap_or_else(|why| self.lose(peer, why))
    }

    /// Ends the process because a peer cannot be reached.
    #[cold]
    fn lose(&self, peer: u32, why: String) -> ! {
        (self.process.fail)(&Failure::Lost { peer: peer as usize, host: World::host_of(peer), why })
    }

    /// Gives a packet to the provider, behind those that wait for it.
    fn post(&self, state: &mut State, peer: u32, index: u32, len: u32) {
        let State { connections, endpoint, inject_bytes, under_way, delayed, .. } = state;
        let Some(connection) = connections.get_mut(&peer) else { unreachable!("it has a packet") };
        if connection.delayed.is_empty() {
            if self.hand_over(endpoint, connection, peer, (index, len), *inject_bytes, under_way) {
                return;
            }
            delayed.push(peer);
        }
        connection.delayed.push_back((index, len));
    }

    /// Gives a packet to the provider. Returns false if that does not take it now.
    fn hand_over(
        &self,
        endpoint: &mut Endpoint,
        connection: &mut Connection,
        peer: u32,
        (index, len): (u32, u32),
        inject_bytes: usize,
        under_way: &mut usize,
    ) -> bool {
        let place = connection.buffers.place(index as usize);
        let len = len as usize;
        let injected = len <= inject_bytes;
        let outcome = if injected {
            // SAFETY: the packet lies in the buffer, which nobody else uses.
            let packet = unsafe { std::slice::from_raw_parts(place.packet(), len) };
            endpoint.inject(connection.address, packet)
        } else {
            let memory = connection.buffers.memory();
            // SAFETY: nobody uses the buffer until its completion returns it to the connection.
            unsafe { endpoint.send(connection.address, place.packet(), len, memory, place.context()) }
        };
        match outcome {
            Outcome::Taken if injected => connection.free.push(index),
            Outcome::Taken => *under_way += 1,
            Outcome::Later => return false,
            Outcome::Lost(why) => self.lose(peer, why),
        }
        true
    }

    /// Makes progress: gives delayed packets to the provider, takes back buffers, and notes what has arrived.
    fn poll(&self, state: &mut State) -> bool {
        let State { endpoint, connections, arrived, under_way, .. } = state;
        let mut lost = None;
        let happened = endpoint.poll(
            |done| {
                let owner = owner(done.context);
                if owner.peer == RECEIVED {
                    arrived.push_back((owner.index, done.len as u32));
                } else if let Some(connection) = connections.get_mut(&owner.peer) {
                    connection.free.push(owner.index);
                    *under_way -= 1;
                }
            },
            |operation| lost = Some(operation),
        );
        if let Some(operation) = lost {
            self.lost(operation);
        }
        self.send_delayed(state) | (happened != 0)
    }

    /// Ends the process because an operation has failed.
    #[cold]
    fn lost(&self, operation: LostOperation) -> ! {
        let peer = (!operation.context.is_null()).then(|| owner(operation.context).peer);
        match peer.filter(|&peer| peer != RECEIVED) {
            Some(peer) => self.lose(peer, operation.reason),
            None => (self.process.fail)(&Failure::Network { why: operation.reason }),
        }
    }

    /// Gives delayed packets to the provider, and sends credit that could not be sent before.
    fn send_delayed(&self, state: &mut State) -> bool {
        let mut happened = false;
        for peer in std::mem::take(&mut state.delayed) {
            let State { connections, endpoint, inject_bytes, under_way, delayed, .. } = &mut *state;
            let Some(connection) = connections.get_mut(&peer) else { continue };
            while let Some(packet) = connection.delayed.pop_front() {
                if !self.hand_over(endpoint, connection, peer, packet, *inject_bytes, under_way) {
                    connection.delayed.push_front(packet);
                    delayed.push(peer);
                    break;
                }
                happened = true;
            }
        }
        for peer in std::mem::take(&mut state.creditors) {
            self.return_credit(state, peer);
        }
        happened
    }

    /// Returns credit to a peer that is due enough, by an empty packet.
    fn return_credit(&self, state: &mut State, peer: u32) {
        let connection = self.connection(state, peer);
        if connection.owed < RETURNED_AT_ONCE {
            return;
        }
        let Some(index) = connection.free.pop() else { return state.creditors.push(peer) };
        let place = connection.buffers.place(index as usize);
        self.write_header(connection, place, None);
        self.post(state, peer, index, payload_offset(false) as u32);
    }

    /// Gives messages that have arrived to `read` (sender's world rank, message). Returns how many there were.
    /// One thread at a time calls this or [`offer`](Self::offer).
    pub(crate) fn read(&self, mut read: impl FnMut(usize, &Incoming)) -> usize {
        let mut batch = [(0, 0); READ_AT_ONCE];
        let mut state = self.state();
        if state.arrived.is_empty() {
            self.poll(&mut state);
        }
        let count = state.arrived.len().min(READ_AT_ONCE);
        for (slot, packet) in batch.iter_mut().zip(state.arrived.drain(..count)) {
            *slot = packet;
        }
        let mut taken = 0;
        for &(index, len) in &batch[..count] {
            let packet = self.open(&mut state, index, len);
            if let Some((sender, message)) = packet {
                drop(state);
                read(sender as usize, &message);
                taken += 1;
                state = self.state();
                self.count_read(&mut state, sender);
            }
            self.receive_again(&mut state, index);
        }
        taken
    }

    /// Shows the next message to `read`, if there is one, and takes it out if `read` says so.
    pub(crate) fn offer(&self, read: impl FnOnce(&Incoming) -> bool) -> crate::ring::Offer {
        use crate::ring::Offer;
        let mut state = self.state();
        if state.arrived.is_empty() {
            self.poll(&mut state);
        }
        while let Some(&(index, len)) = state.arrived.front() {
            let Some((sender, message)) = self.open(&mut state, index, len) else {
                state.arrived.pop_front();
                self.receive_again(&mut state, index);
                continue;
            };
            drop(state);
            if !read(&message) {
                return Offer::Refused;
            }
            state = self.state();
            state.arrived.pop_front();
            self.count_read(&mut state, sender);
            self.receive_again(&mut state, index);
            return Offer::Taken;
        }
        Offer::Nothing
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
        state.under_way == 0 && state.delayed.is_empty()
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

    /// Reads a packet. Returns the sender and the message, if there is one in it.
    fn open(&self, state: &mut State, index: u32, len: u32) -> Option<(u32, Incoming)> {
        let place = state.received.place(index as usize);
        // SAFETY: a received packet, whose buffer nobody else uses until it receives again.
        let bytes = unsafe { std::slice::from_raw_parts(place.packet(), len as usize) };
        let (label, message) = match Packet::read(bytes, state.key, self.process.ranks) {
            Ok(Packet { label, message }) => (label, message),
            Err(Refused::Stranger) => {
                state.strangers += 1;
                return None;
            }
            Err(Refused::Garbage(peer, what)) => self.refuse(peer, what),
        };
        if self.process.local.index_of(label.sender).is_some() {
            state.strangers += 1;
            return None;
        }
        // A packet that is offered again brings its credit once.
        self.take_credit(state, place, &label);
        let Form { header, has_extra } = message?;
        let offset = payload_offset(has_extra);
        let payload = place.packet().wrapping_add(offset);
        let extra = if has_extra { payload.wrapping_sub(EXTRA_BYTES) } else { payload };
        // SAFETY: the payload lies in the buffer, which receives again only after the message was read; 24
        // bytes can be read behind `extra`, since a buffer is longer than that.
        Some((label.sender, unsafe { Incoming::new(header, (payload, bytes.len() - offset), extra) }))
    }

    fn take_credit(&self, state: &mut State, place: Place, label: &Label) {
        let connection = self.connection(state, label.sender);
        connection.throttled = label.throttled;
        if label.credit == 0 {
            return;
        }
        if label.credit > WINDOW - connection.window {
            self.refuse(label.sender, Garbage::Credit { credit: label.credit });
        }
        connection.window += label.credit;
        // SAFETY: the place of the credit in the header of a received packet.
        unsafe { place.packet().wrapping_add(12).cast::<[u8; 4]>().write([0; 4]) };
    }

    #[cold]
    fn refuse(&self, peer: u32, what: Garbage) -> ! {
        Peer { rank: peer as usize, fail: self.process.fail }.refuse(what)
    }

    fn count_read(&self, state: &mut State, sender: u32) {
        self.connection(state, sender).owed += 1;
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
    unsafe { Place::of_context(context).owner().read() }
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
