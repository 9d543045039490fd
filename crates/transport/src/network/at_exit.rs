//! The library's threads in the network, and the end of the process: libfabric may be gone then.

use heddle_platform::fork;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// A thread of the library that uses the network.
pub(super) struct NetworkThread {
    /// Its name.
    pub(super) name: &'static str,
    /// Held by the thread while it uses the network, and by the process while it ends. Threads do not share
    /// one: a thread that always has something to do would keep the others from it.
    network: Mutex<()>,
}

/// The thread of `listener.rs`.
pub(super) static LISTENER: NetworkThread = NetworkThread::new("heddle-network");
/// The thread of `one_sided.rs`.
pub(super) static TARGET: NetworkThread = NetworkThread::new("heddle-target");

impl NetworkThread {
    const fn new(name: &'static str) -> NetworkThread {
        NetworkThread { name, network: Mutex::new(()) }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses the network, unless the process ends. Only the thread itself calls this.
    pub(super) fn with_network<R>(&self, what: impl FnOnce() -> R) -> R {
        let _not_at_the_end = self.lock();
        what()
    }
}

/// Keeps the library's threads from using the network while the process ends.
pub(super) fn end_at_exit() {
    extern "C" fn at_exit() {
        let threads = [&LISTENER, &TARGET];
        // A forked child has no thread of the library, which may have held its mutex at that moment. Such a
        // thread may end the job, and so the process, while it holds it.
        let own = |name| threads.iter().any(|thread| thread.name == name);
        if !fork::is_child() && !std::thread::current().name().is_some_and(own) {
            threads.into_iter().for_each(|thread| std::mem::forget(thread.lock()));
        }
    }
    static ONCE: Once = Once::new();
    fork::watch();
    // SAFETY: the function lives as long as the process. If there is no room for it, a thread may use the
    // network while the process ends.
    ONCE.call_once(|| _ = unsafe { libc::atexit(at_exit) });
}
