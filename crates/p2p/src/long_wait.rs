//! Long waits inside of collective operations, for which the ranks' histories are compared
//! ([`heddle_message::history`]).

use super::awaited::Completion;
use super::cancel;
use heddle_comm::error::{Error, Result};
use heddle_comm::{CommRef, Plane};
use heddle_message::domain::{self, Domain};
use heddle_message::history::COMPARES_AFTER;
use heddle_message::progress::{Awaited, AwaitedEvent};
use heddle_message::request::{self, Found, Outcome, RequestId};
use heddle_platform::clock;
use heddle_spec::constants as mpi;
use heddle_sync::Watcher;
use heddle_sync::watched_state::Watch;

/// The pause between two questions grows to this many times the first one, and so does the number of
/// processes that are asked.
const MOST_AT_ONCE: u32 = 16;

/// How often a process must say that it has completed the operation: a message that it has sent on another
/// VNI may be read after its first answer.
const CONFIRMATIONS: u32 = 3;

/// A wait for other ranks in a collective operation.
#[derive(Debug, Default)]
pub struct LongWait {
    /// When to ask next, in ticks; 0 before the wait has begun.
    due: u64,
    /// How many ranks were asked, and how many will be next.
    asked: u32,
    at_once: u32,
    /// The number of the operation; 0 for the latest.
    number: u32,
}

impl LongWait {
    /// A wait in the operation with a number, which need not be the latest.
    pub fn in_operation(number: u32) -> LongWait {
        LongWait { number, ..LongWait::default() }
    }

    /// To be called by a thread that waits in an operation of the communicator, at each look in vain. Returns
    /// true if what it waits for does not come, since the ranks disagree. `source` is the rank for which it
    /// waits on the VNI `vni`, if it waits for one in a blocking operation.
    #[inline(never)]
    pub fn is_in_vain(&mut self, comm: &CommRef, vni: u32, source: Option<usize>) -> bool {
        let (history, now) = (comm.context().history(), clock::ticks());
        if self.due == 0 {
            (self.due, self.at_once) = (after(now, 1), 1);
        } else if now.wrapping_sub(self.due).cast_signed() >= 0
            && let Some(domain) = domain::running()
        {
            self.ask(domain, comm, vni, source);
            self.due = after(now, self.at_once);
        }
        if history.is_disagreed() {
            tell_all(comm);
            return true;
        }
        false
    }

    #[cold]
    fn ask(&mut self, domain: &Domain, comm: &CommRef, vni: u32, source: Option<usize>) {
        let (history, size) = (comm.context().history(), comm.peers.size());
        let number = if self.number == 0 { history.number() } else { self.number };
        let Some(question) = history.question(number) else { return };
        let awaited = source.and_then(|rank| comm.peers.world_rank(rank));
        if let Some(process) = awaited {
            if history.completions_of(process) >= CONFIRMATIONS {
                return history.disagree();
            }
            history.begin_awaiting(process);
            domain.vni(vni).ask_history(process, question);
        }
        for _ in 0..(self.at_once as usize).min(size - 1) {
            // All others in turn, from the next rank on.
            let distance = 1 + self.asked as usize % (size - 1);
            let process = comm.peers.world_rank((comm.rank() + distance) % size);
            if let Some(process) = process.filter(|_| process != awaited) {
                domain.vni(comm.vni()).ask_history(process, question);
            }
            self.asked = self.asked.wrapping_add(1);
        }
        self.at_once = (2 * self.at_once).min(MOST_AT_ONCE);
    }

    /// Lets the time pass once more in which a process does not ask. Returns true when it has passed.
    pub fn is_exhausted(&mut self) -> bool {
        let now = clock::ticks();
        if self.at_once != 0 {
            (self.due, self.at_once) = (after(now, 1), 0);
        }
        now.wrapping_sub(self.due).cast_signed() >= 0
    }
}

/// The time so many times the first pause after another.
fn after(now: u64, pauses: u32) -> u64 {
    let pause = COMPARES_AFTER * pauses;
    now.wrapping_add(clock::ns_to_ticks(pause.as_nanos() as u64)).max(1)
}

/// Tells all ranks once that they disagree.
#[inline]
fn tell_all(comm: &CommRef) {
    let history = comm.context().history();
    if !history.is_to_be_told() {
        return;
    }
    let (Some(domain), Some(identity)) = (domain::running(), history.identity()) else { return };
    for rank in (0..comm.peers.size()).filter(|rank| *rank != comm.rank()) {
        if let Some(process) = comm.peers.world_rank(rank) {
            domain.vni(comm.vni()).tell_of_disagreement(process, identity);
        }
    }
}

/// The error of an operation on a communicator whose ranks disagree.
#[cold]
#[inline(never)]
pub fn ranks_disagree() -> Error {
    let message = "the ranks of the communicator have called different collective operations, or the same with \
                   different amounts of data, now or earlier: all ranks must call them in the same order, and \
                   their counts and datatypes must describe the same amount of data";
    Error::new(mpi::MPI_ERR_COUNT, message)
}

/// The completion of a message inside of a collective operation.
struct InOperation<'a> {
    completion: Completion,
    comm: &'a CommRef,
    /// The rank that has to do its part.
    peer: usize,
    long_wait: LongWait,
    is_cancelled: bool,
}

impl AwaitedEvent for InOperation<'_> {
    fn is_over(&mut self) -> bool {
        if self.completion.is_over() {
            return true;
        }
        let id = self.completion.0;
        if !self.is_cancelled && self.long_wait.is_in_vain(self.comm, request::vni_of(id), Some(self.peer)) {
            self.is_cancelled = true;
            // What was matched completes as usual.
            let _ = cancel(request::handle(id));
        }
        self.completion.is_over()
    }

    fn awaited(&self) -> Awaited {
        self.completion.awaited()
    }

    unsafe fn watch(&mut self, watcher: &Watcher) -> Watch {
        // SAFETY: the caller's promise.
        unsafe { self.completion.watch(watcher) }
    }

    fn unwatch(&mut self, watcher: &Watcher) {
        self.completion.unwatch(watcher);
    }
}

/// Waits for a message to or from the rank `peer` that only the caller knows.
#[inline(always)]
pub(super) fn wait_for(domain: &Domain, (comm, plane): (&CommRef, Plane), peer: i32, id: RequestId) {
    let (vni, completion) = (request::vni_of(id), Completion(id));
    if plane == Plane::Collective && peer >= 0 {
        let peer = peer as usize;
        let mut event =
            InOperation { completion, comm, peer, long_wait: LongWait::default(), is_cancelled: false };
        domain.wait_for(vni, &mut event);
    } else {
        domain.wait_for(vni, &mut Completion(id));
    }
}

/// The outcome of a message inside of a collective operation: an error if it was cancelled.
#[must_use]
pub fn unless_in_vain(mut outcome: Outcome) -> Outcome {
    if outcome.cancelled {
        outcome.error.get_or_insert_with(ranks_disagree);
    }
    outcome
}

/// Waits for a message inside of a collective operation, to or from the rank `peer`.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
pub fn wait_in_operation(handle: &mut usize, comm: &CommRef, peer: usize) -> Result<Outcome> {
    if let Found::Slot(id) = request::find(*handle)?
        && !request::is_complete(id)
    {
        wait_for(domain::current()?, (comm, Plane::Collective), peer as i32, id);
    }
    super::wait(handle).map(unless_in_vain)
}
