//! How many cores the threads of this process have, beside those of other processes.

use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::fork;
use std::sync::OnceLock;

/// From the number of this process's threads that count, which other processes are told, to the number of
/// cores that these have.
type Share = Box<dyn Fn(u32) -> u32 + Send + Sync>;

/// How the cores are shared with other processes, and how many this one had last.
struct Cores {
    share: OnceLock<Share>,
    last: AtomicU32,
}

static CORES: Cores = Cores::new();

impl Cores {
    const fn new() -> Cores {
        Cores { share: OnceLock::new(), last: AtomicU32::new(u32::MAX) }
    }

    fn beside(&self, threads: u32) -> u32 {
        if let Some(share) = self.share.get() {
            // Relaxed, here and below: a hint.
            self.last.store(share(threads), Ordering::Relaxed);
        }
        self.last.load(Ordering::Relaxed)
    }
}

/// Sets how the cores are shared with other processes: a function from the number of this process's threads
/// that count to the number of cores that these have. It is called whenever a thread comes or goes, and when
/// a choice depends on it; it counts nothing. The first one that is set is the one that counts.
pub fn share_cores(share: impl Fn(u32) -> u32 + Send + Sync + 'static) {
    CORES.share.get_or_init(|| Box::new(share));
}

/// The number of cores that so many threads of this process have now.
#[cold]
pub(super) fn beside(threads: u32) -> u32 {
    // A child has its parent's memory, and would speak for it.
    if fork::is_child() { last() } else { CORES.beside(threads) }
}

/// The number of cores that the threads of this process had when it was asked last.
#[inline]
pub(super) fn last() -> u32 {
    CORES.last.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_cores_as_other_processes_leave() {
        static OTHERS: AtomicU32 = AtomicU32::new(0);
        static TOLD: AtomicU32 = AtomicU32::new(0);
        let cores = Cores::new();
        assert_eq!(cores.beside(3), u32::MAX, "nothing is known");
        let share = |threads| {
            TOLD.store(threads, Ordering::Relaxed);
            16 - OTHERS.load(Ordering::Relaxed)
        };
        assert!(cores.share.set(Box::new(share)).is_ok());
        assert_eq!((cores.beside(3), TOLD.load(Ordering::Relaxed)), (16, 3));
        OTHERS.store(14, Ordering::Relaxed);
        assert_eq!(cores.last.load(Ordering::Relaxed), 16, "it is asked when a thread comes");
        assert_eq!((cores.beside(4), TOLD.load(Ordering::Relaxed)), (2, 4));
    }
}
