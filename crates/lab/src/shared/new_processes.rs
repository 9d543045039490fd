//! Processes that begin: they wait outside of the machine until the supervisor lets them in, in the order of
//! their numbers, so that it does not matter which of them the host has started first.

use heddle_platform::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use heddle_platform::{Scope, atomic::AtomicU32, futex};

/// The most processes that wait at a time.
const ROOM: usize = 512;

/// A process that waits.
#[repr(C)]
#[derive(Debug)]
pub struct NewProcess {
    /// Its number in the system, 0 if the place is free.
    pid: AtomicU32,
    /// 0 while it waits, then its first thread's slot + 1.
    slot: AtomicU32,
}

/// Those that wait.
#[repr(C)]
#[derive(Debug)]
pub struct NewProcesses {
    places: [NewProcess; ROOM],
}

impl NewProcesses {
    /// For a process that begins: waits until it is let in, and says the slot of its first thread; `None` if
    /// too many wait.
    #[must_use]
    pub fn arrive(&self, pid: u32) -> Option<u32> {
        let place =
            self.places.iter().find(|place| place.pid.compare_exchange(0, pid, AcqRel, Relaxed).is_ok())?;
        loop {
            match place.slot.load(Acquire) {
                0 => _ = futex::wait(&place.slot, 0, None, Scope::Machine),
                slot => {
                    place.slot.store(0, Relaxed);
                    place.pid.store(0, Release);
                    return Some(slot - 1);
                }
            }
        }
    }

    /// Those that wait, the lowest number first.
    #[must_use]
    pub fn waiting(&self) -> Vec<(u32, &NewProcess)> {
        let has_come = |place: &NewProcess| place.pid.load(Acquire) != 0 && place.slot.load(Acquire) == 0;
        let mut found: Vec<_> = self
            .places
            .iter()
            .filter(|place| has_come(place))
            .map(|place| (place.pid.load(Acquire), place))
            .collect();
        found.sort_by_key(|(pid, _)| *pid);
        found
    }
}

impl NewProcess {
    /// Lets the process in: its first thread has `slot`.
    pub fn admit(&self, slot: u32) {
        self.slot.store(slot + 1, Release);
        futex::wake(&self.slot, 1, Scope::Machine);
    }
}
