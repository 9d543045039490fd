//! The port of a VNI: its endpoint in the network, and its connections to ranks on other machines.
//!
//! **Threads.** The endpoint wants one thread at a time, so the port has a mutex. It is free wherever the
//! VNI's critical section guards its rings; where several threads are in a VNI at once, they take turns here.
//! Messages that have arrived are given to their reader outside of it, since the reader may send.
//!
//! | file | idea |
//! |---|---|
//! | `state.rs` | the parts of a port, and its connections |
//! | `sending.rs` | packets into buffers, and from there to the provider |
//! | `receiving.rs` | packets that are complete, checked and in order, to their reader |
//! | `copying.rs`, `copies.rs` | remote copies: the data of long messages, puts and gets |
//! | `reader.rs`, `stopping.rs` | remote reads that can be stopped, by an endpoint of their own |
//! | `beating.rs` | signs of life to peers and from them |
//! | `losing.rs` | ranks that are lost |

mod beating;
mod copies;
mod copying;
mod losing;
mod reader;
mod receiving;
mod sending;
mod state;
mod stopping;

use super::address::VniAddress;
use super::alike::Alike;
use super::buffers::{Buffers, COPIED, Owner, RECEIVED, RECEIVES};
use super::connection::{BufferedPacket, Connection, SENDS};
use super::signal::Signal;
use super::strangers;
use crate::failure::Failure;
use copies::RemoteCopies;
pub use copies::{CopyDirection, RemoteCopy};
pub use copying::Exposed;
pub(crate) use copying::Lasts;
use heddle_libfabric::{Depth, Endpoint, LostOperation, Provider};
use heddle_platform::atomic::{AtomicBool, AtomicU32};
use receiving::receive;
pub(crate) use sending::Outgoing;
use state::{AWAKE, PortState, TRY_AGAIN};
pub(crate) use state::{Port, ProcessInfo};
use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The operations of an endpoint at once.
pub(super) const DEPTH: Depth = Depth { sends: 4 * SENDS, receives: RECEIVES };

/// An endpoint that is not used yet: made before the ranks meet, since they have to learn its name.
#[derive(Debug)]
pub(super) struct Opened {
    endpoint: Endpoint,
    key: u64,
    provider: Arc<Provider>,
}

impl Opened {
    pub(super) fn new(provider: &Arc<Provider>, key: u64) -> Result<Opened, heddle_libfabric::Error> {
        Ok(Opened { endpoint: Endpoint::open(provider)?, key, provider: Arc::clone(provider) })
    }

    /// The provider that it was made with.
    pub(super) fn provider(&self) -> Arc<Provider> {
        Arc::clone(&self.provider)
    }

    /// The words by which others find the port.
    pub(super) fn address(&self, alike: Alike) -> Result<VniAddress, heddle_libfabric::Error> {
        let (name, provider) = (self.endpoint.name()?, self.provider.name());
        let door = self.endpoint.key();
        Ok(VniAddress { alike, key: self.key, door, name, host: heddle_bootstrap::host(), provider })
    }
}

impl Port {
    /// # Safety
    /// The flag lives longer than the port.
    pub(super) unsafe fn new(
        vni: usize,
        process: ProcessInfo,
        throttle: *const AtomicU32,
        signal: Arc<Signal>,
        opened: Opened,
    ) -> std::io::Result<Port> {
        let Opened { mut endpoint, key, provider } = opened;
        let received = Buffers::new(&endpoint, RECEIVED, RECEIVES)?;
        for index in 0..RECEIVES {
            receive(&mut endpoint, &received, index).map_err(std::io::Error::other)?;
        }
        let wait = endpoint.wait_descriptor();
        let state = Mutex::new(PortState {
            endpoint,
            reader: None,
            key,
            inject_bytes: provider.inject_bytes(),
            received,
            complete: VecDeque::new(),
            arrived: VecDeque::with_capacity(RECEIVES),
            connections: HashMap::new(),
            known: HashMap::new(),
            open: Vec::new(),
            polls: 1,
            delayed: VecDeque::new(),
            creditors: VecDeque::new(),
            copies: RemoteCopies::default(),
            exposed: 0,
            last_progress: Instant::now(),
            lost: Vec::new(),
            held: 0,
            under_way: 0,
            strangers: 0,
        });
        let has_remote_memory = provider.has_remote_memory();
        let longest_copy = copies::longest_copy(provider.longest());
        let leaves = AtomicBool::new(false);
        Ok(Port {
            vni,
            process,
            throttle,
            wait,
            signal,
            leaves,
            has_remote_memory,
            longest_copy,
            awake: AWAKE,
            state,
        })
    }

    /// Returns true if the peer throttles its senders, as far as it has said so.
    pub(crate) fn is_throttled(&self, peer: u32) -> bool {
        self.state()
            .connections
            .get(&peer)
            .is_some_and(|connection| connection.throttled && !connection.is_forgotten)
    }

    /// Makes progress: sends open packets, gives delayed ones to the provider, takes back buffers, and notes
    /// what has arrived.
    fn poll(&self, state: &mut PortState) -> bool {
        let has_lost = self.note_losses(state);
        self.close_all(state);
        state.polls += 1;
        let PortState { endpoint, connections, complete, under_way, .. } = state;
        let (mut lost, mut read) = (None, Vec::new());
        let happened = endpoint.poll(
            |done| {
                let Owner { peer, index } = Owner::of(done.context);
                if peer == RECEIVED {
                    complete.push_back(BufferedPacket { index, len: done.len as u32 });
                } else if peer == COPIED {
                    read.push(index);
                } else if let Some(connection) = connections.get_mut(&peer) {
                    connection.free.push(index);
                    *under_way -= 1;
                }
            },
            |operation| lost = Some(operation),
        );
        let happened = happened + self.poll_reader(state);
        if happened != 0 && state.has_data_under_way() {
            state.last_progress = Instant::now();
        }
        if let Some(operation) = lost {
            self.lost(state, operation);
        }
        read.into_iter().for_each(|index| self.part_has_ended(state, index, None));
        while let Some(packet) = state.complete.pop_front() {
            state.held += 1;
            self.sort_in(state, packet);
        }
        self.send_delayed(state) | self.copy_delayed(state) | (happened != 0) | has_lost
    }

    /// Handles an operation that has failed.
    #[cold]
    fn lost(&self, state: &mut PortState, operation: LostOperation) {
        let owner = (!operation.context.is_null()).then(|| Owner::of(operation.context));
        if let Some(Owner { peer: COPIED, index }) = owner {
            return self.part_has_ended(state, index, Some(operation.reason));
        }
        let connections = &mut state.connections;
        match owner.and_then(|owner| Some((owner, connections.get_mut(&owner.peer)?))) {
            Some((Owner { peer, index }, connection)) => {
                state.under_way -= 1;
                self.not_sent(connection, (peer, index), operation.reason);
            }
            None => self.failed_without_peer(state, owner, operation.reason),
        }
    }

    /// Handles a failure that the provider ascribes to no peer. Where [nobody else](heddle_libfabric::guard)
    /// can connect, it is that of a rank whose message is gone. Otherwise a stranger may have begun a message
    /// that no receive fits, and signs of life tell whether a rank is lost.
    #[cold]
    fn failed_without_peer(&self, state: &mut PortState, owner: Option<Owner>, why: String) {
        if state.endpoint.key().is_some() {
            (self.process.fail)(&Failure::Network { why });
        }
        state.strangers += 1;
        strangers::report_broken(&why, state.strangers);
        if let Some(Owner { peer: RECEIVED, index }) = owner {
            state.held += 1;
            self.receive_again(state, index);
        }
    }

    /// Misses a peer whose memory cannot be read.
    #[cold]
    fn not_copied(&self, state: &PortState, peer: u32, why: String) {
        self.miss(peer, state.connections.get(&peer).map(|connection| &*connection.host), why);
    }

    /// Returns true if no message has arrived and nothing waits to be sent.
    pub(crate) fn is_empty(&self) -> bool {
        let mut state = self.state();
        !self.poll(&mut state) && state.arrived.is_empty()
    }

    /// Returns true if no message has arrived, nothing waits to be sent, and the descriptor will be readable
    /// if that changes. A provider wants to be asked before each wait.
    pub(crate) fn is_at_rest(&self) -> bool {
        let mut state = self.state();
        !self.poll(&mut state) && state.arrived.is_empty() && self.endpoints_may_wait(&mut state)
    }

    /// Returns true if the network has taken everything that was sent, except to lost ranks.
    pub(crate) fn is_drained(&self) -> bool {
        let mut state = self.state();
        self.poll(&mut state);
        let injected: Vec<u32> = {
            let peers = state.connections.iter();
            let waits = |peer: &Connection| peer.injected && !peer.is_lost && !peer.is_forgotten;
            peers.filter(|(_, peer)| waits(peer)).map(|(&peer, _)| peer).collect()
        };
        injected.into_iter().for_each(|peer| self.flush(&mut state, peer));
        let forgotten = state.connections.values().filter(|connection| connection.is_forgotten);
        state.under_way == forgotten.map(Connection::under_way).sum::<usize>()
            && state.copies.is_empty()
            && state.connections.values().all(Connection::is_drained)
    }

    /// The descriptor that becomes readable when there is something to poll for.
    pub(crate) fn wait_descriptor(&self) -> Option<RawFd> {
        self.wait
    }

    /// Returns true if a thread may wait for the descriptor now.
    pub(crate) fn may_wait(&self) -> bool {
        let mut state = self.state();
        let knows_losses = self.process.losses.count() == state.lost.len();
        knows_losses
            && state.arrived.is_empty()
            && state.may_sleep(self.awake)
            && self.endpoints_may_wait(&mut state)
    }

    /// Returns true if the descriptors will be readable when there is something to poll for. Some providers
    /// make progress when they are asked; what was put off until a connection was made is sent then.
    fn endpoints_may_wait(&self, state: &mut PortState) -> bool {
        let may_wait = state.endpoint.may_wait()
            && state.reader.as_mut().is_none_or(|reader| reader.endpoint.may_wait());
        may_wait && !self.send_delayed(state) && !self.copy_delayed(state)
    }

    /// The longest that a thread waits for the descriptor before it polls; none if it is told in time.
    pub(in crate::network) fn longest_wait(&self) -> Option<Duration> {
        let state = self.state();
        (!state.delayed.is_empty() || state.copies.delayed() != 0).then_some(TRY_AGAIN)
    }

    /// The same port, which reads at most so many bytes at once.
    #[cfg(test)]
    pub(super) fn copying_at_most(self, longest_copy: usize) -> Port {
        Port { longest_copy, ..self }
    }

    /// The same port, whose threads stay awake for so long.
    #[cfg(test)]
    pub(super) fn staying_awake(self, awake: Duration) -> Port {
        Port { awake, ..self }
    }

    /// Calls `body` while no buffer for packets to a peer is free.
    #[cfg(test)]
    pub(super) fn without_buffers<R>(&self, peer: u32, body: impl FnOnce() -> R) -> R {
        let taken = std::mem::take(&mut self.connection(&mut self.state(), peer).free);
        let result = body();
        self.connection(&mut self.state(), peer).free.extend(taken);
        result
    }

    /// Returns true if the peer is due so much credit that it gets an empty packet for it.
    #[cfg(test)]
    pub(super) fn owes_enough(&self, peer: u32) -> bool {
        self.connection(&mut self.state(), peer).owes_enough()
    }

    /// The word by which threads call the listener.
    #[cfg(test)]
    pub(super) fn signal(&self) -> &Signal {
        &self.signal
    }

    /// The number of packets that came from processes which do not belong to the job.
    pub(crate) fn strangers(&self) -> u64 {
        self.state().strangers
    }
}
