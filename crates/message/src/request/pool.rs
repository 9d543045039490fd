//! Taking a slot for an operation, and returning it.

use super::cache;
use super::counts;
use super::in_flight::{InFlight, Ownership};
use super::kind::{RequestId, RequestKind};
use super::region::OutOfRequests;
use super::slot::{Request, at};
use heddle_model::counters::{self, CountedEvent};
use heddle_objects::table::{HandleParts, ObjectKind, encode};
use heddle_platform::atomic::Ordering;

/// Takes a slot, ACTIVE, for an operation on a VNI.
///
/// # Errors
/// If all slots are in use and there can be no more. Nothing has happened then.
#[inline(always)]
pub fn take(vni: u32, comm: usize, kind: RequestKind) -> Result<RequestId, OutOfRequests> {
    let (id, request) = cache::pop()?;
    if let Some(counts) = counts::counts() {
        counts.keep_comm(comm);
    }
    begin(request, vni, comm, kind);
    Ok(id)
}

/// A request that was just taken, and is not issued yet.
#[derive(Debug)]
pub struct Fresh {
    /// The request.
    pub id: RequestId,
    /// Its handle.
    pub handle: usize,
    /// Its in-flight state, which belongs to the caller until it issues the request.
    pub in_flight: &'static mut InFlight,
}

/// Takes a slot for a receive, if requests count no references and the calling thread has
/// a free slot in its cache.
#[inline(always)]
pub fn take_express(vni: u32, comm: usize) -> Option<Fresh> {
    if counts::requests_count() {
        return None;
    }
    let (id, request) = cache::pop_cached()?;
    let generation = begin(request, vni, comm, RequestKind::Receive);
    let handle = encode(ObjectKind::Request, HandleParts { index: id, generation });
    // SAFETY: a free slot belongs to the thread that took it.
    Some(Fresh { id, handle, in_flight: unsafe { &mut *request.in_flight.get() } })
}

/// Makes a slot that was taken an ACTIVE request; returns its generation.
#[inline(always)]
fn begin(request: &Request, vni: u32, comm: usize, kind: RequestKind) -> u32 {
    // SAFETY: a free slot belongs to the thread that took it.
    let owner = unsafe { &mut *request.owner.get() };
    owner.kind = kind;
    owner.detached = false;
    request.vni.store(vni, Ordering::Relaxed);
    request.names().take(comm);
    request.state.activate();
    let generation = request.names().begin();
    counters::count(CountedEvent::RequestTaken, 1);
    generation
}

/// Does the same as [`take`], for an operation that nobody waits for: the thread that completes the
/// request returns its slot.
///
/// # Errors
/// The same as for [`take`].
pub fn take_detached(vni: u32, comm: usize, kind: RequestKind) -> Result<RequestId, OutOfRequests> {
    let id = take(vni, comm, kind)?;
    // SAFETY: the slot was just taken, and nobody else knows it.
    unsafe { &mut *at(id).owner.get() }.detached = true;
    Ok(id)
}

/// Takes `count` requests as [`take_detached`] does: all of them, or none.
///
/// # Errors
/// The same as for [`take`].
pub fn take_many_detached(
    count: usize,
    vni: u32,
    comm: usize,
    kind: RequestKind,
) -> Result<Vec<RequestId>, OutOfRequests> {
    let mut taken = Vec::with_capacity(count);
    for _ in 0..count {
        match take_detached(vni, comm, kind) {
            Ok(id) => taken.push(id),
            Err(error) => {
                taken.into_iter().for_each(release);
                return Err(error);
            }
        }
    }
    Ok(taken)
}

/// Returns a slot.
#[inline(always)]
pub fn release(id: RequestId) {
    let request = at(id);
    // SAFETY: the caller owns the complete or never issued request.
    let owner = unsafe { &mut *request.owner.get() };
    // SAFETY: the caller owns the complete or never issued request.
    let in_flight = unsafe { &mut *request.in_flight.get() };
    if owner.attachment.is_some() || in_flight.keep.is_some() {
        drop_belongings(owner, in_flight);
    }
    if let Some(counts) = counts::counts() {
        request.let_objects_go(counts);
    }
    free(id, request);
}

/// Returns the slot of a request that has nothing to give up.
#[inline(always)]
pub(super) fn free(id: RequestId, request: &Request) {
    request.state.set_free();
    request.names().end();
    counters::count(CountedEvent::RequestReleased, 1);
    cache::push(id);
}

#[cold]
fn drop_belongings(owner: &mut Ownership, in_flight: &mut InFlight) {
    owner.persistent = false;
    // Taken out first: the program's function that this may call can look at the request by its handle.
    drop(owner.attachment.take());
    in_flight.keep = None;
}

#[cfg(test)]
mod tests {
    use super::super::slot;
    use super::*;

    #[test]
    fn threads_that_only_complete_requests_return_the_slots_when_they_end() {
        let used = || slot::roots(&mut |_| ());
        let before = used();
        for _ in 0..200 {
            let ids: Vec<RequestId> =
                (0..100).map(|_| take(0, 0, RequestKind::Send).expect("a slot")).collect();
            std::thread::scope(|scope| {
                scope.spawn(|| ids.into_iter().for_each(release));
            });
        }
        // Other tests use the store, too, but not thousands of slots.
        assert!(used() - before < 10_000, "slots were lost: {} are in use after {before}", used());
    }

    /// Releases requests when it is dropped.
    struct ReleasesAtTheEnd(Vec<RequestId>);

    impl Drop for ReleasesAtTheEnd {
        fn drop(&mut self) {
            self.0.drain(..).for_each(release);
        }
    }

    thread_local! {
        static LAST: std::cell::OnceCell<ReleasesAtTheEnd> = const { std::cell::OnceCell::new() };
    }

    #[test]
    fn threads_that_complete_requests_while_they_end_return_the_slots() {
        let used = || slot::roots(&mut |_| ());
        let slot = || take(0, 0, RequestKind::Send).expect("a slot");
        let before = used();
        for _ in 0..200 {
            let ids: Vec<RequestId> = (0..100).map(|_| slot()).collect();
            let end = move || {
                // Threads drop first what they have made last, so the cache is closed by then.
                LAST.with(|last| _ = last.set(ReleasesAtTheEnd(ids)));
                release(slot());
            };
            // Joined, since a scope does not wait for what a thread drops.
            std::thread::spawn(end).join().expect("it ends");
        }
        assert!(used() - before < 10_000, "slots were lost: {} are in use after {before}", used());
    }
}
