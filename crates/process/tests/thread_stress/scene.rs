//! The state that the threads share, and their calls of the crates that move data.

use heddle_comm::CommRef;
use heddle_comm::domain;
use heddle_comm::error::Result;
use heddle_p2p::AttachTo;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_spec::constants as mpi;
use std::any::Any;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Barrier, Mutex, PoisonError};

/// The task that comes with a parcel.
type Open = Box<dyn FnOnce(&[usize]) + Send>;

/// Something for another thread: requests, and the memory that they use.
pub(crate) struct Parcel {
    pub(crate) requests: Vec<usize>,
    pub(crate) open: Open,
}

/// The state that all threads share.
pub(crate) struct Scene {
    pub(crate) threads: usize,
    pub(crate) rank: i32,
    pub(crate) size: i32,
    /// The neighbours in the ring of processes.
    pub(crate) to: i32,
    pub(crate) from: i32,
    /// The communicator of all threads, and one for each thread.
    pub(crate) shared: CommRef,
    own_comms: Vec<CommRef>,
    /// The sums of all numbers sent to, and received from, any thread.
    pub(crate) sent: AtomicU64,
    pub(crate) received: AtomicU64,
    meet: Barrier,
    mail: Vec<Mailbox>,
}

/// The two ends of the queue by which other threads give parcels to one thread.
type Mailbox = (Mutex<Sender<Parcel>>, Mutex<Receiver<Parcel>>);

/// One of the threads.
pub(crate) struct Thread<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) number: usize,
    /// The thread that gets this thread's parcels: the next one, or itself if the
    /// threads do different things.
    pub(crate) partner: usize,
    /// The communicator that only this thread uses, on every rank.
    pub(crate) own_comm: &'a CommRef,
    /// The memory of operations that no thread waits for; it lives until the thread has ended.
    pub(crate) attic: Vec<Box<dyn Any>>,
}

/// Calls a crate as an MPI function does: inside the model's call section.
pub(crate) fn call<R>(body: impl FnOnce() -> Result<R>) -> R {
    let domain = domain::current().expect("MPI is running");
    domain.calls().inside(body).expect("a correct call succeeds")
}

/// A duplicate of a communicator.
pub(crate) fn dup(comm: &CommRef) -> CommRef {
    call(|| CommRef::from_handle(heddle_comm_management::dup(comm)?))
}

/// Frees a communicator; operations in flight there go on.
pub(crate) fn free(comm: CommRef) {
    call(|| heddle_comm_management::free(comm.handle()));
    call(|| {
        drop(comm);
        Ok(())
    });
}

impl Scene {
    pub(crate) fn new(threads: usize) -> Scene {
        let world = CommRef::world().expect("MPI is running");
        let (rank, size) = (world.rank() as i32, world.size() as i32);
        call(|| heddle_p2p::attach_buffer(AttachTo::Process, 0, None));
        Scene {
            threads,
            rank,
            size,
            to: (rank + 1) % size,
            from: (rank + size - 1) % size,
            shared: dup(&world),
            own_comms: (0..threads).map(|_| dup(&world)).collect(),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            meet: Barrier::new(threads),
            mail: (0..threads).map(|_| channel()).map(|(tx, rx)| (Mutex::new(tx), Mutex::new(rx))).collect(),
        }
    }

    /// Runs all threads to their ends; `together` says that they do the same in the same order. Then new
    /// threads begin, with what the old ones left in caches.
    pub(crate) fn run(&self, together: bool, work: impl Fn(&mut Thread<'_>) + Sync) {
        std::thread::scope(|scope| {
            for (number, own_comm) in self.own_comms.iter().enumerate() {
                let work = &work;
                scope.spawn(move || {
                    self.meet.wait();
                    let partner = (number + usize::from(together)) % self.threads;
                    let mut thread = Thread { scene: self, number, partner, own_comm, attic: Vec::new() };
                    work(&mut thread);
                    // The operations that use the attic are complete when all ranks
                    // have reached this barrier.
                    call(|| heddle_collective::run(own_comm, heddle_collective::barrier));
                });
            }
        });
        let sums = (self.sent.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed));
        if self.size == 1 {
            assert_eq!(sums.0, sums.1, "messages for whoever comes first were lost, or came twice");
        }
    }

    pub(crate) fn report(&self, what: &str) {
        if self.rank == 0 {
            println!("{what}");
        }
    }

    /// Gives a parcel to another thread.
    pub(crate) fn post(&self, thread: usize, parcel: Parcel) {
        let outbox = self.mail[thread].0.lock().unwrap_or_else(PoisonError::into_inner);
        outbox.send(parcel).expect("the mail lives as long as the scene");
    }

    /// Waits for a parcel of another thread and takes it.
    pub(crate) fn fetch(&self, thread: usize) -> Parcel {
        let inbox = self.mail[thread].1.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.recv().expect("the mail lives as long as the scene")
    }

    /// Frees everything, so that a leak checker finds only true leaks.
    pub(crate) fn end(self) {
        call(|| heddle_p2p::detach_buffer(AttachTo::Process));
        for comm in self.own_comms {
            free(comm);
        }
        free(self.shared);
    }
}

impl Thread<'_> {
    /// The seed of the data that `rank` sends; it differs between ranks, threads and rounds.
    pub(crate) fn seed(&self, rank: i32, round: usize, what: usize) -> u64 {
        ((rank as u64 * 64 + self.number as u64) * 1000 + round as u64) * 1000 + what as u64
    }
}

/// Any tag or source.
pub(crate) const ANY_TAG: i32 = mpi::MPI_ANY_TAG;
pub(crate) const ANY_SOURCE: i32 = mpi::MPI_ANY_SOURCE;
