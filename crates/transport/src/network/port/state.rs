//! The parts of a port, and its connections to ranks.

use super::copies::RemoteCopies;
use super::reader::Reader;
use crate::failure::{Fail, Failure};
use crate::losses::{Losses, Survives};
use crate::network::address::VniAddress;
use crate::network::alike::Alike;
use crate::network::buffers::Buffers;
use crate::network::connection::{BufferedPacket, Connection};
use crate::network::late::Latecomers;
use crate::network::signal::Signal;
use crate::slot::{EXTRA_BYTES, Header};
use heddle_bootstrap::LocalRanks;
use heddle_libfabric::Endpoint;
use heddle_platform::atomic::{AtomicBool, AtomicU32};
use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The process of a port, and how it finds others and ends.
#[derive(Debug, Clone)]
pub(crate) struct ProcessInfo {
    /// This process's rank in the job.
    pub(crate) rank: u32,
    /// The ranks in the job.
    pub(crate) ranks: u32,
    pub(crate) local: Arc<LocalRanks>,
    pub(crate) alike: Alike,
    /// The word that a rank has left with a number: the address of its VNI.
    pub(crate) word_of: fn(u32, usize) -> Result<String, String>,
    /// How the process ends when a message cannot be sent or read.
    pub(crate) fail: Fail,
    /// Says whether the process goes on without a lost rank.
    pub(crate) survives: Survives,
    pub(crate) losses: Arc<Losses>,
    /// Where descriptors go that the listener is to wait for, too.
    pub(crate) late: Option<Arc<Latecomers>>,
}

/// The port of a VNI.
#[derive(Debug)]
pub(crate) struct Port {
    pub(super) vni: usize,
    pub(super) process: ProcessInfo,
    /// The flag by which the VNI throttles its senders.
    pub(super) throttle: *const AtomicU32,
    pub(super) wait: Option<RawFd>,
    pub(super) signal: Arc<Signal>,
    /// True if the process leaves the network. Relaxed: a peer that learns of it late expects it to be there
    /// for so long.
    pub(super) leaves: AtomicBool,
    pub(super) has_remote_memory: bool,
    /// The most bytes of one operation on a peer's memory.
    pub(super) longest_copy: usize,
    /// [`AWAKE`].
    pub(super) awake: Duration,
    pub(super) state: Mutex<PortState>,
}

// SAFETY: the flag is an atomic in the mapping of the fabric that has the port.
unsafe impl Send for Port {}
// SAFETY: the flag is an atomic in the mapping of the fabric that has the port.
unsafe impl Sync for Port {}

/// The part of a port that one thread at a time uses.
#[derive(Debug)]
pub(super) struct PortState {
    /// Closed before the buffers go.
    pub(super) endpoint: Endpoint,
    /// The endpoint for reads that can be stopped, once there were some.
    pub(super) reader: Option<Reader>,
    pub(super) key: u64,
    pub(super) inject_bytes: usize,
    pub(super) received: Buffers,
    /// Packets that are complete, in any order.
    pub(super) complete: VecDeque<BufferedPacket>,
    /// Arrivals, in the order of the senders.
    pub(super) arrived: VecDeque<Arrival>,
    pub(super) connections: HashMap<u32, Connection>,
    /// The addresses of peers that need not be asked of the launcher.
    pub(super) known: HashMap<u32, String>,
    /// The connections that have an open packet.
    pub(super) open: Vec<u32>,
    /// The number of polls so far.
    pub(super) polls: u64,
    /// The connections that have packets which the provider has not taken.
    pub(super) delayed: VecDeque<u32>,
    /// The ranks that are due credit.
    pub(super) creditors: VecDeque<u32>,
    pub(super) copies: RemoteCopies,
    /// The messages whose data peers may read.
    pub(super) exposed: usize,
    /// The time of the last completion while long data was under way.
    pub(super) last_progress: Instant,
    /// The lost ranks that the port has noted, in the order of `Losses`.
    pub(super) lost: Vec<u32>,
    /// The received packets that are not read.
    pub(super) held: usize,
    /// The packets that the provider has taken and not sent.
    pub(super) under_way: usize,
    /// The packets of processes that do not know the key.
    pub(super) strangers: u64,
}

/// Something for the reader.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arrival {
    /// A packet of a rank on another machine, of which the records from `at` on are not read.
    Packet { sender: u32, packet: BufferedPacket, at: usize },
    /// A message of this port: data was copied, or a rank is lost.
    FromHere { header: Header, words: [u8; EXTRA_BYTES] },
}

/// While long data is under way, a thread that waits sleeps only if nothing was complete for so long. On two
/// cores, one that sends and one that receives, 4 MiB took twice the time with a wake-up for each part.
pub(super) const AWAKE: Duration = Duration::from_millis(2);

/// After so long a thread that waits gives the provider again what was put off. The provider may have made
/// the connection inside of the call that put it off, and then no descriptor tells.
pub(super) const TRY_AGAIN: Duration = Duration::from_millis(1);

impl PortState {
    /// Returns true if long data is under way, to this process or from it.
    pub(super) fn has_data_under_way(&self) -> bool {
        self.exposed != 0 || !self.copies.is_empty()
    }

    /// Returns true if no long data is under way, or nothing was complete for so long.
    pub(super) fn may_sleep(&self, awake: Duration) -> bool {
        !self.has_data_under_way() || self.last_progress.elapsed() >= awake
    }
}

impl Port {
    pub(super) fn state(&self) -> MutexGuard<'_, PortState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, unless another thread has it.
    pub(super) fn state_if_free(&self) -> Option<MutexGuard<'_, PortState>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The connection to a rank, made when it is first needed.
    pub(super) fn connection<'a>(&self, state: &'a mut PortState, peer: u32) -> &'a mut Connection {
        if !state.connections.contains_key(&peer) {
            let connection = self.connect(state, peer);
            state.connections.insert(peer, connection);
        }
        let Some(connection) = state.connections.get_mut(&peer) else { unreachable!("it was made") };
        connection
    }

    /// Says where a peer is found that it has no connection to yet.
    pub(in crate::network) fn know(&self, peer: u32, address: &str) {
        let mut state = self.state();
        if !state.connections.contains_key(&peer) {
            state.known.insert(peer, address.to_owned());
        }
    }

    #[cold]
    fn connect(&self, state: &mut PortState, peer: u32) -> Connection {
        self.try_connect(state, peer).unwrap_or_else(|why| self.lose(peer, None, why))
    }

    pub(super) fn try_connect(&self, state: &mut PortState, peer: u32) -> Result<Connection, String> {
        let word = match state.known.remove(&peer) {
            Some(word) => Ok(word),
            None => (self.process.word_of)(peer, self.vni),
        };
        word.and_then(|word| {
            let Some(address) = VniAddress::parse(&word) else {
                return Err(format!("its address is {word:?}, which no rank has left"));
            };
            if let Some(difference) = self.process.alike.difference(&address.alike) {
                return Err(difference);
            }
            let ours = state.endpoint.provider().name();
            if address.provider != ours {
                let theirs = &address.provider;
                return Err(format!(
                    "its network is {theirs} of libfabric and this process's is {ours}: set HEDDLE_FABRIC to the \
                     same provider for all ranks, which libfabric must have on all machines"
                ));
            }
            Connection::new(&mut state.endpoint, peer, &address)
        })
    }

    /// Ends the process because a peer cannot be reached.
    #[cold]
    pub(super) fn lose(&self, peer: u32, host: Option<&str>, why: String) -> ! {
        let host = host.map(str::to_owned);
        (self.process.fail)(&Failure::Lost { peer: peer as usize, host, why })
    }
}
