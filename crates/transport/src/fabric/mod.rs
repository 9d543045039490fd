//! One process's view of the job: the memory that it shares with the ranks of its machine, and the network
//! to those of others (`fabric/ports.rs`).

mod ports;

use crate::error::TransportError;
use crate::failure::{Fail, Failure, Garbage, Peer};
use crate::geometry::Geometry;
use crate::losses::{Losses, Survives};
use crate::network::{Alike, Network, Ports, ProcessInfo};
use crate::presence::{Need, Presence};
use crate::ring::{Consumer, Producer, RingMemory};
use crate::shared::SharedProducer;
use crate::single_copy::{self, Identity, Proofs};
use crate::throttle::Throttle;
use heddle_bootstrap::mapping::{lengthen, reserve};
use heddle_bootstrap::{Job, LocalRanks, Mapping, MemoryFile, World};
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_sync::{CachePadded, Doorbell, Scope};
use std::io;
use std::sync::Arc;

/// Agreement slots of the control block that the transport uses.
const AGREE_VNIS: usize = 0;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) mapping: Mapping,
    pub(crate) geometry: Geometry,
    /// The job's file.
    pub(crate) file: Arc<MemoryFile>,
    /// The offset in the file at which the segment begins.
    pub(crate) offset: u64,
}

/// The attached segment, and the ports to other machines. A world of one has neither.
#[derive(Debug, Clone)]
pub struct Fabric {
    rank: usize,
    size: usize,
    local: Arc<LocalRanks>,
    /// This process's number among the local ranks.
    local_rank: usize,
    vnis: usize,
    pub(crate) shared: Option<Arc<Shared>>,
    ports: Option<Arc<Ports>>,
    own_doorbell: Arc<Doorbell>,
    own_presence: Arc<Presence>,
    own_attendance: Arc<[CachePadded<AtomicU32>]>,
    own_throttles: Arc<[CachePadded<AtomicU32>]>,
    proofs: Arc<Proofs>,
    fail: Fail,
    survives: Survives,
    losses: Arc<Losses>,
}

impl Fabric {
    /// Attaches to the job's segment, agreeing with the other ranks of the machine on the number of VNIs: the
    /// first proposal wins. From then on they may send to this process.
    ///
    /// # Errors
    /// When the segment cannot be grown or mapped.
    pub fn attach(world: &World, vnis: usize) -> Result<Fabric, TransportError> {
        Fabric::attach_with(world, vnis, Need::of_this_process())
    }

    /// The same fabric, which calls `fail` to end the process if a message cannot be sent or
    /// read. Without this it panics.
    #[must_use]
    pub fn failing_by(self, fail: Fail) -> Fabric {
        Fabric { fail, ..self }
    }

    /// The same fabric, which asks `survives` whether the process goes on when a rank on another machine is
    /// lost. Without this the process fails.
    #[must_use]
    pub fn surviving_if(self, survives: Survives) -> Fabric {
        Fabric { survives, ..self }
    }

    /// The same fabric, with the network to ranks on other machines, if there are any; otherwise the network
    /// is closed.
    ///
    /// # Errors
    /// When there are such ranks and no network.
    pub fn with_network(self, network: Option<Network>) -> Result<Fabric, TransportError> {
        if !self.spans_machines() {
            return Ok(self);
        }
        let network = network.ok_or(TransportError::NoNetwork { rank: self.rank })?;
        let ports = Arc::new(self.open_ports(network)?);
        let fabric = Fabric { ports: Some(Arc::clone(&ports)), ..self };
        let process = fabric.clone();
        ports.start_listener(move || _ = process.own_doorbell().ring(Scope::Machine));
        Ok(fabric)
    }

    fn open_ports(&self, network: Network) -> Result<Ports, TransportError> {
        let process = ProcessInfo {
            rank: self.rank as u32,
            ranks: self.size as u32,
            local: Arc::clone(&self.local),
            alike: Alike { vnis: self.vnis, ..network.alike },
            word_of: |rank, vni| World::word_of(rank, vni).map_err(|error| error.to_string()),
            fail: self.fail,
            survives: self.survives,
            losses: Arc::clone(&self.losses),
            late: None,
        };
        // SAFETY: the flags lie in the mapping, which the fabric and its clones keep with the ports.
        unsafe { Ports::new(network, &process, |vni| self.throttle_flag(vni)) }
    }

    fn attach_with(world: &World, vnis: usize, need: Need) -> Result<Fabric, TransportError> {
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        let local = Arc::new(world.local_ranks().clone());
        let local_rank = local.index_of(rank as u32).unwrap_or_default();
        let own_doorbell = Arc::new(Doorbell::default());
        let own_presence = Arc::new(Presence::default());
        let proofs = Arc::new(Proofs::new(local.len()));
        let fail: Fail = |failure| panic!("{failure}");
        let (survives, losses): (Survives, _) = (|| false, Arc::default());
        let Some(job) = world.job() else {
            let words = || (0..vnis).map(|_| CachePadded::default()).collect();
            let (own_attendance, own_throttles) = (words(), words());
            let shared = None;
            return Ok(Fabric {
                rank,
                size,
                local,
                local_rank,
                vnis,
                shared,
                ports: None,
                own_doorbell,
                own_presence,
                own_attendance,
                own_throttles,
                proofs,
                fail,
                survives,
                losses,
            });
        };
        let vnis = job.agree(AGREE_VNIS, vnis as u64) as usize;
        let geometry = Geometry::for_job(local.len(), vnis);
        let mapping = map(job, &geometry)?;
        let file = Arc::clone(job.memory_file());
        let shared = Arc::new(Shared { mapping, geometry, file, offset: job.transport_offset() });
        let fabric = Fabric {
            rank,
            size,
            local,
            local_rank,
            vnis,
            shared: Some(shared),
            ports: None,
            own_doorbell,
            own_presence,
            own_attendance: Arc::default(),
            own_throttles: Arc::default(),
            proofs,
            fail,
            survives,
            losses,
        };
        fabric.reserve_areas().map_err(|source| TransportError::Reserve { source })?;
        fabric.presence(local_rank).enter(need, Identity::of_this_process());
        let awaits = |index: usize| index != local_rank && fabric.presence(index).awaits(local_rank);
        for index in (0..fabric.local.len()).filter(|&index| awaits(index)) {
            // SAFETY: the doorbell lies in the mapping, which lives as long as `fabric`.
            unsafe { &*fabric.doorbell(index) }.ring(Scope::Machine);
        }
        Ok(fabric)
    }

    /// Gets memory for the areas that all processes read, and for those by which peers reach this one. The
    /// sender of a ring gets memory for the ring.
    fn reserve_areas(&self) -> io::Result<()> {
        let Some(shared) = &self.shared else { return Ok(()) };
        let (base, geometry) = (shared.mapping.as_ptr(), &shared.geometry);
        geometry.areas_of(self.local_rank).into_iter().try_for_each(|(offset, len)| {
            // SAFETY: the area lies inside the mapping.
            reserve(unsafe { base.add(offset) }, len)
        })
    }

    /// This process's rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Ranks in the job.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The ranks of this machine: those that share memory with this process.
    pub fn local_ranks(&self) -> &LocalRanks {
        &self.local
    }

    /// Returns true if there are ranks on other machines.
    pub fn spans_machines(&self) -> bool {
        self.local.len() < self.size
    }

    /// The node of each of these ranks, as the launcher numbers its nodes: the same in all processes. `None`
    /// if it does not say.
    pub fn nodes_of(&self, ranks: &[u32]) -> Option<Vec<u32>> {
        World::nodes_of(ranks)
    }

    /// Returns true if a rank shares memory with this process.
    #[inline]
    pub fn is_local(&self, rank: usize) -> bool {
        self.local.index_of(rank as u32).is_some()
    }

    /// The number of a rank among those that share memory with this process.
    ///
    /// # Panics
    /// If it does not.
    #[inline]
    fn index_of(&self, rank: usize) -> usize {
        match self.local.index_of(rank as u32) {
            Some(index) => index,
            None => panic!("rank {rank} shares no memory with rank {}", self.rank),
        }
    }

    /// VNIs in each process.
    pub fn vnis(&self) -> usize {
        self.vnis
    }

    /// How many messages a ring from a process of this machine holds at most.
    pub fn ring_cells(&self) -> usize {
        self.shared.as_ref().map_or(0, |shared| 2 * shared.geometry.slots)
    }

    /// The doorbell that wakes this process's sleeping threads; every message to this process rings it.
    pub fn own_doorbell(&self) -> &Doorbell {
        match &self.shared {
            None => &self.own_doorbell,
            // SAFETY: the mapping lives as long as `self`; zeroed memory is a valid doorbell.
            Some(_) => unsafe { &*self.doorbell(self.local_rank) },
        }
    }

    /// How many threads of this process wait on a VNI now.
    #[inline]
    pub fn own_attendance(&self, vni: usize) -> &AtomicU32 {
        self.attendance_at(self.local_rank, vni)
    }

    /// How many threads of a rank of this machine wait on a VNI now. Each rank counts its own.
    pub fn attendance(&self, rank: usize, vni: usize) -> &AtomicU32 {
        self.attendance_at(self.index_of(rank), vni)
    }

    #[inline]
    fn attendance_at(&self, index: usize, vni: usize) -> &AtomicU32 {
        let Some(shared) = &self.shared else { return &self.own_attendance[vni] };
        // SAFETY: the mapping is live.
        let attendance = unsafe { shared.geometry.attendance(shared.mapping.as_ptr(), index, vni) };
        // SAFETY: the mapping is live; this is an atomic.
        unsafe { &*attendance }
    }

    /// The flag by which a VNI of this process throttles its senders, raised when unexpected messages take
    /// more than `bound` bytes. Make one for each VNI in a process.
    pub fn throttle(&self, vni: usize, bound: usize) -> Throttle {
        // SAFETY: the flag lies in memory that the clone of the fabric keeps.
        unsafe { Throttle::new(self.throttle_flag(vni), bound, Box::new(self.clone())) }
    }

    fn throttle_flag(&self, vni: usize) -> *const AtomicU32 {
        match &self.shared {
            None => &raw const *self.own_throttles[vni],
            // SAFETY: the mapping is live.
            Some(shared) => unsafe {
                shared.geometry.throttle(shared.mapping.as_ptr(), self.local_rank, vni)
            },
        }
    }

    /// The process id by which a peer's memory can be copied; `None` if messages from and to this peer must
    /// be streamed. To be called once a message of the peer has arrived, since the peer has started then.
    pub fn copy_partner(&self, peer: usize) -> Option<u32> {
        let index = self.local.index_of(peer as u32)?;
        self.proofs.pid(index, self.presence(index).identity())
    }

    /// Notes that the kernel has refused a single copy from or to the peer. If that was because of the memory
    /// of this copy, others are made as before.
    pub fn note_refusal(&self, peer: usize, error: &io::Error) {
        if !single_copy::concerns_memory(error) {
            self.proofs.refuse(self.index_of(peer));
        }
    }

    /// Says that this process takes messages of one VNI that are spread over others.
    pub fn take_spread_messages(&self) {
        self.presence(self.index_of(self.rank())).take_spread();
    }

    /// Returns true if a rank is on this machine and has said so.
    pub fn takes_spread_messages(&self, rank: usize) -> bool {
        let index = self.local.index_of(rank as u32);
        index.is_some_and(|index| self.presence(index).takes_spread())
    }

    /// Says how many threads of this process call MPI, on the cores with this digest. Returns how many
    /// threads of other processes do so there, as far as they have said so.
    pub fn share_cores(&self, digest: u64, threads: u32) -> u32 {
        let own = self.index_of(self.rank());
        self.presence(own).set_cores(digest);
        self.presence(own).set_threads(threads);
        let others = (0..self.local.len()).filter(|index| *index != own);
        others.map(|index| self.presence(index).threads_on(digest)).sum()
    }

    /// The number of processes, this one among them, that may run on the cores with this digest, as far as
    /// they have said so, and whether all of this machine have.
    pub fn processes_on(&self, digest: u64) -> (u32, bool) {
        let all = || (0..self.local.len()).map(|index| self.presence(index));
        let there = all().filter(|presence| presence.threads_on(digest) != 0).count();
        (there as u32, all().all(Presence::has_said_cores))
    }

    /// No single copy is made at all (`HEDDLE_SINGLE_COPY=off`).
    pub fn forbid_single_copies(&self) {
        (0..self.local.len()).for_each(|index| self.proofs.forbid(index));
    }

    fn presence(&self, index: usize) -> &Presence {
        let Some(shared) = &self.shared else { return &self.own_presence };
        // SAFETY: the mapping is live.
        let presence = unsafe { shared.geometry.presence(shared.mapping.as_ptr(), index) };
        // SAFETY: the mapping is live; a presence consists of atomics.
        unsafe { &*presence }
    }

    /// Wakes the threads of a rank of this machine that sleep, after a store to memory that they wait for.
    #[inline]
    pub fn wake(&self, rank: usize) {
        // SAFETY: the doorbell lies in memory that lives as long as `self`.
        unsafe { &*self.doorbell(self.index_of(rank)) }.ring(Scope::Machine);
    }

    /// The doorbell of the local rank with this number.
    pub(crate) fn doorbell(&self, index: usize) -> *const Doorbell {
        match &self.shared {
            None => Arc::as_ptr(&self.own_doorbell),
            // SAFETY: the mapping is live.
            Some(shared) => unsafe { shared.geometry.doorbell(shared.mapping.as_ptr(), index) },
        }
    }

    /// The doorbell of a rank of the job, if it shares memory with this process.
    pub(crate) fn doorbell_of(&self, rank: usize) -> Option<*const Doorbell> {
        self.local.index_of(rank as u32).map(|index| self.doorbell(index))
    }

    /// The producer towards a peer of this machine; `None` until the peer has started. The caller makes at
    /// most one for each (peer, VNI).
    pub(crate) fn connect(&self, peer: usize, vni: usize) -> Option<Producer> {
        // SAFETY: one producer by the caller's promise.
        self.open(peer, vni).map(|ring| unsafe { Producer::new(ring, self.peer(peer)) })
    }

    /// Does the same as [`connect`](Self::connect), for many threads.
    pub(crate) fn connect_many(&self, peer: usize, vni: usize) -> Option<SharedProducer> {
        // SAFETY: one producer by the caller's promise.
        self.open(peer, vni).map(|ring| unsafe { SharedProducer::new(ring, self.peer(peer)) })
    }

    /// Ends the process because a message breaks the protocols' rules.
    #[cold]
    pub fn refuse(&self, peer: usize, what: Garbage) -> ! {
        self.peer(peer).refuse(what)
    }

    fn peer(&self, rank: usize) -> Peer {
        Peer { rank, fail: self.fail }
    }

    /// Returns true if a message may be sent to the local rank with this number. If that has not started, it
    /// wakes this process when it does.
    fn meet(&self, index: usize) -> bool {
        self.presence(index).meet() || {
            self.presence(self.local_rank).await_other(index);
            self.presence(index).meet()
        }
    }

    /// The ring to a peer. Announces this process to the peer.
    fn open(&self, peer: usize, vni: usize) -> Option<RingMemory> {
        let index = self.local.index_of(peer as u32)?;
        let shared = self.shared.as_ref().filter(|_| self.meet(index))?;
        let base = shared.mapping.as_ptr();
        // SAFETY: the mapping is live.
        let announced = unsafe { shared.geometry.connections(base, index, vni) };
        // SAFETY: the mapping is live; these are atomics.
        let announced = unsafe { &*announced };
        // SAFETY: the mapping is live.
        let ring = unsafe { shared.geometry.ring(base, index, vni, self.local_rank) };
        self.peer(peer).reserve(ring.credits.cast_mut().cast(), ring.bulk.addr() - ring.credits.addr());
        // Release: a receiver that sees the bit may read the ring.
        announced[self.local_rank / 64].fetch_or(1 << (self.local_rank % 64), Ordering::Release);
        Some(ring)
    }

    /// The words in which senders announce themselves to a VNI of this process.
    pub(crate) fn announced(&self, vni: usize) -> &[AtomicU64] {
        let Some(shared) = &self.shared else { return &[] };
        // SAFETY: the mapping is live.
        let words = unsafe { shared.geometry.connections(shared.mapping.as_ptr(), self.local_rank, vni) };
        // SAFETY: the mapping is live; these are atomics.
        unsafe { &*words }
    }

    /// The consumer of the messages of the local rank with this number, and its rank in the job. The caller
    /// makes at most one for each (sender, VNI).
    pub(crate) fn accept(&self, index: usize, vni: usize) -> Option<(usize, Consumer)> {
        // A sender that has announced itself has started.
        let shared = self.shared.as_ref().filter(|_| self.presence(index).meet())?;
        let sender = self.local.rank(index) as usize;
        // SAFETY: the mapping is live.
        let ring = unsafe { shared.geometry.ring(shared.mapping.as_ptr(), self.local_rank, vni, index) };
        // SAFETY: one consumer by the caller's promise; the doorbell lies in the mapping, too.
        Some((sender, unsafe { Consumer::new(ring, self.doorbell(index), self.peer(sender)) }))
    }

    pub(crate) fn end(&self, failure: &Failure) -> ! {
        (self.fail)(failure)
    }

    pub(crate) fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Ends the process because a rank is lost, or notes the loss.
    pub(crate) fn lose(&self, failure: &Failure) {
        match failure {
            Failure::Lost { peer, .. } if (self.survives)() => self.losses.note(*peer, failure.to_string()),
            _ => (self.fail)(failure),
        }
    }
}

/// The doorbell that wakes this process's sleeping threads.
impl AsRef<Doorbell> for Fabric {
    fn as_ref(&self) -> &Doorbell {
        self.own_doorbell()
    }
}

fn map(job: &Job, geometry: &Geometry) -> Result<Mapping, TransportError> {
    let (offset, bytes) = (job.transport_offset(), geometry.segment_len());
    // All ranks ask for the same length, so the order does not matter.
    let file = job.memory_file();
    let grown = file.with(|file| lengthen(file, offset + bytes as u64));
    grown.map_err(|source| TransportError::Grow { bytes, source })?;
    let mapping = file.with(|file| Mapping::shared(file, offset, bytes));
    mapping.map_err(|source| TransportError::Map { bytes, source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::Envelope;
    use crate::{Header, Inbox, Outbox, RingAccess};
    use heddle_bootstrap::JobControl;
    use heddle_platform::barrier;
    use std::process::Command;
    use std::time::Duration;

    /// Longer than any test: a thread that sleeps until then was not woken.
    const FOR_EVER: Option<Duration> = Some(Duration::from_secs(20));

    fn job(size: u32) -> JobControl {
        JobControl::create(size).expect("the memory of a job")
    }

    fn attach(job: &JobControl, rank: u32, need: Need) -> Arc<Fabric> {
        let world = job.world_of(rank).expect("the job is there");
        Arc::new(Fabric::attach_with(&world, 1, need).expect("a segment"))
    }

    fn send(outbox: &mut Outbox, tag: i32) -> bool {
        let header = Header { kind: 0, aux: 0, context: 0, envelope: Envelope::new(0, tag) };
        outbox.send_inline(&header, 0, |_| {})
    }

    #[test]
    fn messages_wait_for_their_receiver_whose_start_wakes_their_sender() {
        let job = job(2);
        let first = attach(&job, 0, Need::Nothing);
        let mut outbox = Outbox::new(&first, 0, 1);
        let ticket = first.own_doorbell().prepare(Scope::Machine);
        assert!(!send(&mut outbox, 0), "no process reads the ring");
        let second = attach(&job, 1, Need::Nothing);
        assert!(ticket.park(FOR_EVER), "the newcomer has rung");
        assert!(send(&mut outbox, 7));
        let mut tags = Vec::new();
        let mut inbox = Inbox::new(&second, 0);
        inbox.poll(9, |peer, message| tags.push((peer, message.header.envelope.tag())));
        assert_eq!(tags, [(0, 7)]);
    }

    /// Runs `body` in another process, which runs this test alone: other tests do not see what it
    /// changes for its process.
    fn in_its_own_process(test: &str, body: fn()) {
        const ALONE: &str = "HEDDLE_TEST_ALONE";
        if std::env::var_os(ALONE).is_some() {
            return body();
        }
        let output = Command::new(std::env::current_exe().expect("this test's own path"))
            .args(["--exact", &format!("fabric::tests::{test}"), "--nocapture"])
            .env(ALONE, "1")
            .output()
            .expect("this test can be run again");
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && said.contains("1 passed"), "{test}:\n{said}");
    }

    #[test]
    fn a_start_wakes_nobody_who_does_not_wait_for_it() {
        let job = job(3);
        let first = attach(&job, 0, Need::Nothing);
        assert!(!send(&mut Outbox::new(&first, 0, 1), 0));
        let ticket = first.own_doorbell().prepare(Scope::Machine);
        let _third = attach(&job, 2, Need::Nothing);
        assert!(!ticket.park(Some(Duration::ZERO)), "the third has rung");
    }

    #[test]
    fn a_sender_to_a_process_without_membarrier_fences() {
        in_its_own_process("a_sender_to_a_process_without_membarrier_fences", || {
            let job = job(2);
            let first = attach(&job, 0, Need::Nothing);
            let _second = attach(&job, 1, Need::Fences);
            assert!(send(&mut Outbox::new(&first, 0, 1), 0));
            assert!(!barrier::is_asymmetric());
        });
    }

    #[test]
    fn a_receiver_from_a_process_without_membarrier_fences() {
        in_its_own_process("a_receiver_from_a_process_without_membarrier_fences", || {
            let job = job(2);
            let first = attach(&job, 0, Need::Nothing);
            let second = attach(&job, 1, Need::Fences);
            // The sender met no such process, so the receiver has to notice.
            assert!(send(&mut Outbox::new(&second, 0, 0), 0));
            assert_eq!(Inbox::new(&first, 0).poll(1, |_, _| {}), 1);
            assert!(!barrier::is_asymmetric());
        });
    }

    #[test]
    fn a_peer_whose_id_means_another_process_is_no_copy_partner() {
        let job = job(3);
        let first = attach(&job, 0, Need::Nothing);
        let _others = [1, 2].map(|rank| attach(&job, rank, Need::Nothing));
        let own = Identity::of_this_process();
        // Rank 1 has this process's id in another PID namespace, and its cookie at the same address.
        first.presence(1).enter(Need::Nothing, Identity { cookie: own.cookie ^ 1, ..own });
        assert_eq!(first.copy_partner(1), None);
        assert_eq!(first.copy_partner(2), Proofs::new(1).pid(0, own));
        first.forbid_single_copies();
        assert_eq!(first.copy_partner(2), None);
    }

    #[test]
    fn a_sender_that_sleeps_for_want_of_room_is_woken_when_there_is_some() {
        let job = job(2);
        let (first, second) = (attach(&job, 0, Need::Nothing), attach(&job, 1, Need::Nothing));
        let (mut outbox, mut inbox) = (Outbox::new(&first, 0, 1), Inbox::new(&second, 0));
        while send(&mut outbox, 0) {}
        let ticket = first.own_doorbell().prepare(Scope::Machine);
        assert!(!send(&mut outbox, 0));
        while inbox.poll(32, |_, _| {}) != 0 {}
        assert!(ticket.park(FOR_EVER), "the receiver has rung");
        assert!(send(&mut outbox, 0));
    }
}
