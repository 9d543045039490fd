//! The events that completing calls and probes wait for: completion of requests, arrival of messages.

use super::state::{HandleState, Scan, is_over, scan, state};
use heddle_comm::error::Result;
use heddle_message::domain::Domain;
use heddle_message::matching::Key;
use heddle_message::progress::{Awaited, AwaitedEvent};
use heddle_message::request::{self, Found, RequestId};
use heddle_objects::probers::Asleep;
use heddle_sync::Watcher;
use heddle_sync::watched_state::Watch;

/// The completion of a request that only the caller knows.
pub(super) struct Completion(pub(super) RequestId);

impl AwaitedEvent for Completion {
    #[inline(always)]
    fn is_over(&mut self) -> bool {
        request::is_complete(self.0)
    }

    fn awaited(&self) -> Awaited {
        Awaited::Message
    }

    unsafe fn watch(&mut self, watcher: &Watcher) -> Watch {
        // SAFETY: the caller promises that the watcher is not moved before it was taken out and has left.
        unsafe { request::watch(self.0, watcher) }
    }

    fn unwatch(&mut self, watcher: &Watcher) {
        request::unwatch(self.0, watcher);
    }
}

/// The slot of a request that is not over.
fn pending(handle: usize) -> Option<RequestId> {
    match (state(handle), request::find(handle)) {
        (Ok(HandleState::Pending(_)), Ok(Found::Slot(id))) => Some(id),
        _ => None,
    }
}

/// Takes a watcher out of the request, if it is still there.
fn unwatch(handle: usize, watcher: &Watcher) {
    if let Ok(Found::Slot(id)) = request::find(handle) {
        request::unwatch(id, watcher);
    }
}

/// The completion of one of several requests, all of which must complete before the
/// waiting thread needs to run.
pub(super) struct FirstOfAll<'a> {
    pub(super) first: usize,
    pub(super) others: &'a [usize],
}

impl FirstOfAll<'_> {
    fn handles(&self) -> impl Iterator<Item = &usize> {
        std::iter::once(&self.first).chain(self.others)
    }
}

impl AwaitedEvent for FirstOfAll<'_> {
    #[inline(always)]
    fn is_over(&mut self) -> bool {
        is_over(self.first)
    }

    unsafe fn watch(&mut self, watcher: &Watcher) -> Watch {
        for id in self.handles().filter_map(|handle| pending(*handle)) {
            // SAFETY: the caller promises that the watcher is not moved before it was taken out and has left.
            if unsafe { request::watch(id, watcher) } == Watch::Taken {
                return Watch::Taken;
            }
        }
        Watch::Set
    }

    fn unwatch(&mut self, watcher: &Watcher) {
        self.handles().for_each(|handle| unwatch(*handle, watcher));
    }
}

/// The completion of any of several requests.
pub(super) struct AnyOf<'a> {
    domain: &'a Domain,
    handles: &'a [usize],
    /// The VNI of the first pending request, which the waiting thread polls anyway.
    vni: u32,
    /// The result of the last check.
    pub(super) found: Result<Scan>,
}

impl<'a> AnyOf<'a> {
    pub(super) fn new(domain: &'a Domain, handles: &'a [usize], vni: u32) -> AnyOf<'a> {
        AnyOf { domain, handles, vni, found: Ok(Scan::Pending) }
    }
}

impl AwaitedEvent for AnyOf<'_> {
    fn is_over(&mut self) -> bool {
        self.found = scan(self.handles, make_progress(self.domain, self.vni));
        !matches!(self.found, Ok(Scan::Pending))
    }

    fn watcher(&self) -> Watcher {
        Watcher::for_first()
    }

    unsafe fn watch(&mut self, watcher: &Watcher) -> Watch {
        for handle in self.handles {
            let watch = match (state(*handle), request::find(*handle)) {
                (Ok(HandleState::Nothing), _) => continue,
                // SAFETY: the caller promises that the watcher is not moved before it
                // was taken out and has left.
                (Ok(HandleState::Pending(_)), Ok(Found::Slot(id))) => unsafe { request::watch(id, watcher) },
                _ => Watch::Over,
            };
            if watch != Watch::Set {
                return watch;
            }
        }
        Watch::Set
    }

    fn unwatch(&mut self, watcher: &Watcher) {
        self.handles.iter().for_each(|handle| unwatch(*handle, watcher));
    }
}

/// Returns a function that makes progress on the VNI of each pending request; consecutive requests of
/// one VNI are polled once.
pub(super) fn make_progress(domain: &Domain, mut last: u32) -> impl FnMut(u32) {
    move |vni| {
        if last != vni {
            last = vni;
            domain.progress_for_test(vni);
        }
    }
}

/// The arrival of a message; `find` returns true once it finds the message.
pub(super) struct Arrival<'a, F> {
    pub(super) domain: &'a Domain,
    pub(super) vni: u32,
    pub(super) key: Key,
    pub(super) find: F,
}

impl<F: FnMut() -> bool> AwaitedEvent for Arrival<'_, F> {
    #[inline(always)]
    fn is_over(&mut self) -> bool {
        (self.find)()
    }

    unsafe fn watch(&mut self, watcher: &Watcher) -> Watch {
        // SAFETY: the prober is added only while its signal is expected. The caller promises that the watcher
        // is not moved before `unwatch` has taken it out.
        Asleep::watch(watcher, |prober| unsafe { self.domain.vni(self.vni).add_prober(self.key, prober) })
    }

    fn unwatch(&mut self, watcher: &Watcher) {
        Asleep::unwatch(watcher, |prober| self.domain.vni(self.vni).remove_prober(self.key, prober));
    }
}
