//! The VNIs in use: those that carry messages of a communicator that this process has, or had, and VNI 0, on
//! which is what belongs to no communicator, such as the copies that a process makes for others in a window.
//!
//! A thread that makes progress on all VNIs polls these only, so VNIs that no communicator needs cost it
//! nothing: it neither tries their locks nor reads their rings. A message that comes to another VNI is for a
//! communicator that this process is still to make. It waits in its ring, and no thread here can wait for it.
//! A VNI stays in use when its communicators are freed, because peers may still send to them.

use heddle_model::counters::MOST_VNIS;
use heddle_platform::atomic::{AtomicU64, Ordering};
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

/// Marks VNIs as used. Called before this process sends or receives there.
#[inline]
pub(crate) fn mark(vnis: VniSet) {
    if vnis.0 & !in_use().0 != 0 {
        mark_new(vnis);
    }
}

#[cold]
fn mark_new(vnis: VniSet) {
    USED.fetch_or(vnis.0, Ordering::Relaxed);
    // A sleeping thread has not polled these VNIs, where messages may have arrived.
    if let Some(fabric) = FABRIC.get() {
        fabric.own_doorbell().ring(Scope::Machine);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
