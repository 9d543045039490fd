//! The observer of a lock's bias, which sees each change of it, and may count them.

/// Sees each change of a lock's bias. The thread that makes the change calls, and holds the inner lock. A
/// lock that nobody observes has the observer `()`.
pub trait BiasObserver: Send + Sync {
    /// The calling thread, or its core, has become the owner.
    fn given(&self);

    /// The bias has been taken from its owner.
    fn revoked(&self);
}

impl BiasObserver for () {
    fn given(&self) {}

    fn revoked(&self) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::BiasObserver;
    use crate::Biased;
    use heddle_platform::atomic::{AtomicU32, Ordering};
    use heddle_sync::{Mutex, RawLock, WaitPolicy};

    #[derive(Default)]
    struct Changes {
        given: AtomicU32,
        revoked: AtomicU32,
    }

    impl Changes {
        fn counted(&self) -> (u32, u32) {
            (self.given.load(Ordering::Relaxed), self.revoked.load(Ordering::Relaxed))
        }
    }

    impl BiasObserver for &Changes {
        fn given(&self) {
            self.given.fetch_add(1, Ordering::Relaxed);
        }

        fn revoked(&self) {
            self.revoked.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn each_change_is_seen_once() {
        if !heddle_platform::barrier::is_asymmetric() {
            return eprintln!("skipped: without membarrier no thread gets a bias");
        }
        let changes = Changes::default();
        let lock = Biased::observed(Mutex::default(), WaitPolicy::DEFAULT, &changes);
        let pass = || {
            let token = lock.acquire();
            // SAFETY: acquired above.
            unsafe { lock.release(token) };
            token.is_none()
        };
        for round in 1..4 {
            let passes_by_bias = (0..1_000_000).any(|_| pass());
            assert!(passes_by_bias, "a thread that is alone becomes the owner");
            (0..100).for_each(|_| _ = pass());
            assert_eq!(changes.counted(), (round, round - 1));
            std::thread::scope(|scope| scope.spawn(pass).join().expect("it ends"));
            assert_eq!(changes.counted(), (round, round));
        }
    }
}
