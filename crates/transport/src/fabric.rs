//! One process's view of the job's shared memory.

use crate::geometry::Geometry;
use crate::ring::{Consumer, Producer};
use heddle_bootstrap::{Job, Mapping, World};
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_sync::Bell;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// Why the transport could not start.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The segment could not be made large enough.
    #[error(
        "cannot grow the job's shared memory to {bytes} bytes: {source}; set HEDDLE_VNIS to a smaller number"
    )]
    Grow {
        /// Bytes wanted.
        bytes: usize,
        /// What the system said.
        source: std::io::Error,
    },
    /// The segment could not be mapped.
    #[error("cannot map {bytes} bytes of the job's shared memory: {source}")]
    Map {
        /// Bytes wanted.
        bytes: usize,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Agreement slots of the control block that the transport uses.
const AGREE_VNIS: usize = 0;

#[derive(Debug)]
struct Shared {
    mapping: Mapping,
    geometry: Geometry,
}

/// The attached segment. A world of one has none.
#[derive(Debug, Clone)]
pub struct Fabric {
    rank: usize,
    size: usize,
    vnis: usize,
    shared: Option<Arc<Shared>>,
    own_bell: Arc<Bell>,
    own_attendance: Arc<AtomicU32>,
}

impl Fabric {
    /// Attaches to the job's segment, agreeing with the other ranks on the number of VNIs: the first proposal wins.
    ///
    /// # Errors
    /// When the segment cannot be grown or mapped.
    pub fn attach(world: &World, vnis: usize) -> Result<Fabric, TransportError> {
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        let own_bell = Arc::new(Bell::default());
        let own_attendance = Arc::new(AtomicU32::new(0));
        let Some(job) = world.job() else {
            return Ok(Fabric { rank, size, vnis, shared: None, own_bell, own_attendance });
        };
        let vnis = job.agree(AGREE_VNIS, vnis as u64) as usize;
        let geometry = Geometry::for_job(size, vnis);
        let shared = Arc::new(Shared { mapping: map(job, &geometry)?, geometry });
        Ok(Fabric { rank, size, vnis, shared: Some(shared), own_bell, own_attendance })
    }

    /// This process's rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Ranks in the job.
    pub fn size(&self) -> usize {
        self.size
    }

    /// VNIs in each process.
    pub fn vnis(&self) -> usize {
        self.vnis
    }

    /// The bell that wakes this process's sleeping threads; a message from anywhere rings it.
    pub fn own_bell(&self) -> &Bell {
        match &self.shared {
            None => &self.own_bell,
            // SAFETY: the mapping lives as long as `self`; zeroed memory is a valid bell.
            Some(_) => unsafe { &*self.bell(self.rank) },
        }
    }

    /// How many threads of a rank wait in MPI now. Each rank counts its own.
    pub fn attendance(&self, rank: usize) -> &AtomicU32 {
        let Some(shared) = &self.shared else { return &self.own_attendance };
        // SAFETY: the mapping is live.
        let word = unsafe { shared.geometry.attendance(shared.mapping.as_ptr(), rank) };
        // SAFETY: as above; an atomic, made for sharing.
        unsafe { &*word }
    }

    pub(crate) fn bell(&self, rank: usize) -> *const Bell {
        match &self.shared {
            None => Arc::as_ptr(&self.own_bell),
            // SAFETY: the mapping is live.
            Some(shared) => unsafe { shared.geometry.bell(shared.mapping.as_ptr(), rank) },
        }
    }

    /// The producer towards a peer. The caller makes at most one for each (peer, VNI).
    pub(crate) fn connect(&self, peer: usize, vni: usize) -> Option<Producer> {
        let shared = self.shared.as_ref()?;
        let base = shared.mapping.as_ptr();
        // SAFETY: the mapping is live.
        let announced = unsafe { shared.geometry.connections(base, peer, vni) };
        // SAFETY: as above; atomics, made for sharing.
        let announced = unsafe { &*announced };
        // SAFETY: the mapping is live.
        let ring = unsafe { shared.geometry.ring(base, peer, vni, self.rank) };
        // SAFETY: one producer by the caller's promise.
        let producer = unsafe { Producer::new(ring) };
        // Release: the receiver that sees the bit may look into the ring.
        announced[self.rank / 64].fetch_or(1 << (self.rank % 64), Ordering::Release);
        Some(producer)
    }

    /// The words in which senders announce themselves to a VNI of this process.
    pub(crate) fn announced(&self, vni: usize) -> &[AtomicU64] {
        let Some(shared) = &self.shared else { return &[] };
        // SAFETY: the mapping is live.
        let words = unsafe { shared.geometry.connections(shared.mapping.as_ptr(), self.rank, vni) };
        // SAFETY: as above; atomics, made for sharing.
        unsafe { &*words }
    }

    /// The consumer of a sender's messages. The caller makes at most one for each (sender, VNI).
    pub(crate) fn accept(&self, sender: usize, vni: usize) -> Option<Consumer> {
        let shared = self.shared.as_ref()?;
        // SAFETY: the mapping is live.
        let ring = unsafe { shared.geometry.ring(shared.mapping.as_ptr(), self.rank, vni, sender) };
        // SAFETY: one consumer by the caller's promise.
        Some(unsafe { Consumer::new(ring) })
    }
}

fn map(job: &Job, geometry: &Geometry) -> Result<Mapping, TransportError> {
    let (offset, bytes) = (job.transport_offset(), geometry.segment_len());
    grow(job, offset + bytes as u64).map_err(|source| TransportError::Grow { bytes, source })?;
    Mapping::shared(job.fd(), offset, bytes).map_err(|source| TransportError::Map { bytes, source })
}

/// Makes the segment large enough. All ranks ask for the same length, so the order does not matter.
fn grow(job: &Job, bytes: u64) -> std::io::Result<()> {
    // SAFETY: the descriptor is open as long as the job.
    match unsafe { libc::ftruncate(job.fd().as_raw_fd(), bytes as libc::off_t) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}
