//! The VNIs in use: those that carry messages of a communicator that this process has, or had, and VNI 0, on
//! which is what belongs to no communicator, such as the copies that a process makes for others in a window.
//!
//! A thread that makes progress on all VNIs polls these only, so VNIs that no communicator needs cost it
//! nothing: it neither tries their locks nor reads their rings. A message that comes to another VNI is for a
//! communicator that this process is still to make. It waits in its ring, and no thread here can wait for it.
//! A VNI stays in use when its communicators are freed, because peers may still send to them.
//!
//! Peers that spread their messages over all VNIs (`lanes`) mostly use a few. So these are polled seldom at
//! first: each is in use once this process sends or receives there, or has found a message.

use heddle_model::counters::MOST_VNIS;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::{Native, Platform};
use heddle_sync::Scope;
use heddle_transport::Fabric;
use std::sync::OnceLock;

/// A set of VNIs: a bit for each number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VniSet(u64);

const _: () = assert!(MOST_VNIS <= u64::BITS as usize);

impl VniSet {
    /// The VNI with a number.
    #[inline(always)]
    pub(crate) fn one(vni: u32) -> VniSet {
        VniSet(1 << vni)
    }

    /// The first `vnis` VNIs; at least one.
    pub(crate) fn first(vnis: usize) -> VniSet {
        VniSet(u64::MAX >> (u64::BITS as usize - vnis))
    }

    /// The members of both sets.
    fn with(self, other: VniSet) -> VniSet {
        VniSet(self.0 | other.0)
    }

    /// The set without one of them.
    pub(crate) fn without(self, vni: u32) -> VniSet {
        VniSet(self.0 & !VniSet::one(vni).0)
    }
}

impl Iterator for VniSet {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        let vni = (self.0 != 0).then(|| self.0.trailing_zeros());
        self.0 &= self.0.wrapping_sub(1);
        vni
    }
}

heddle_platform::per_process! {
    static USED: AtomicU64 = AtomicU64::new(0);

    /// Those that are polled seldom, unless they are in use.
    static SELDOM: AtomicU64 = AtomicU64::new(0);

    /// The time in ticks when these were due last.
    static LAST_DUE: AtomicU64 = AtomicU64::new(0);

    /// Leads to the doorbell of the threads that sleep.
    static FABRIC: OnceLock<Fabric> = OnceLock::new();
}

/// Prepares the process for VNIs in use.
pub(crate) fn prepare(fabric: &Fabric) {
    let fabric = FABRIC.get_or_init(|| fabric.clone());
    // A process that has only sessions may have no communicator there.
    mark(VniSet::one(0));
    if fabric.spans_machines() {
        // A port to other machines needs progress whether a communicator uses it or not.
        mark(VniSet::first(fabric.vnis()));
    }
}

/// The VNIs in use.
#[inline(always)]
pub(crate) fn in_use() -> VniSet {
    // Relaxed: a thread that reads too old a value is woken by the doorbell before it sleeps.
    VniSet(USED.load(Ordering::Relaxed))
}

/// The time from one poll of the others to the next, at least.
const SELDOM_NS: u64 = 100_000;

/// The VNIs that a thread polls at the time `now`, in ticks: those in use, and the others if they are due.
#[inline]
pub(crate) fn due(now: u64) -> VniSet {
    // Relaxed, here and below: hints.
    let seldom = VniSet(SELDOM.load(Ordering::Relaxed));
    if seldom.0 & !in_use().0 == 0 {
        return in_use();
    }
    let are_due = now.wrapping_sub(LAST_DUE.load(Ordering::Relaxed)) >= Native::ns_to_ticks(SELDOM_NS);
    if are_due {
        LAST_DUE.store(now, Ordering::Relaxed);
    }
    if are_due { seldom.with(in_use()) } else { in_use() }
}

/// All VNIs where messages may arrive for this process.
pub(crate) fn all() -> VniSet {
    VniSet(SELDOM.load(Ordering::Relaxed)).with(in_use())
}

/// Marks VNIs that are polled seldom until they are used.
#[cold]
pub(crate) fn mark_seldom(vnis: VniSet) {
    SELDOM.fetch_or(vnis.0, Ordering::Relaxed);
    wake_sleepers();
}

/// Marks VNIs as used. Called before this process sends or receives there.
#[inline(always)]
pub(crate) fn mark(vnis: VniSet) {
    if vnis.0 & !in_use().0 != 0 {
        mark_new(vnis);
    }
}

#[cold]
fn mark_new(vnis: VniSet) {
    USED.fetch_or(vnis.0, Ordering::Relaxed);
    wake_sleepers();
}

/// Wakes the sleeping threads: they have not polled new VNIs, where messages may have arrived.
fn wake_sleepers() {
    if let Some(fabric) = FABRIC.get() {
        fabric.own_doorbell().ring(Scope::Machine);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vni_that_is_polled_seldom_is_due_once_in_a_while_until_it_is_used() {
        let is_due = |now| due(now).any(|vni| vni == 62);
        let (while_, now) = (Native::ns_to_ticks(SELDOM_NS), 1 << 40);
        mark_seldom(VniSet::one(62));
        assert!(all().any(|vni| vni == 62) && !in_use().any(|vni| vni == 62));
        assert_eq!(
            [0, 1, while_ - 1, while_, while_ + 1].map(|later| is_due(now + later)),
            [true, false, false, true, false]
        );
        mark(VniSet::one(62));
        assert!(is_due(now + while_ + 2));
    }

    #[test]
    fn a_set_gives_its_numbers_in_order() {
        assert_eq!(VniSet::first(3).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(VniSet::first(3).without(1).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(VniSet::first(64).count(), 64);
        assert_eq!(VniSet::first(64).without(63).last(), Some(62));
        assert_eq!(VniSet::one(63).collect::<Vec<_>>(), [63]);
        assert_eq!(VniSet::one(5).without(5).next(), None);
    }
}
