//! The library's threads in the network, and the end of the process: libfabric may be gone then.

use heddle_platform::fork;
use std::sync::{Mutex, Once, PoisonError};

/// The name of the thread of `listener.rs`.
pub(super) const LISTENER: &str = "heddle-network";
/// The name of the thread of `one_sided.rs`.
pub(super) const TARGET: &str = "heddle-target";

/// Held by a thread of the library while it uses the network, and by the process while it ends.
static NETWORK: Mutex<()> = Mutex::new(());

/// Uses the network, unless the process ends.
pub(super) fn with_network<R>(what: impl FnOnce() -> R) -> R {
    let _not_at_the_end = NETWORK.lock().unwrap_or_else(PoisonError::into_inner);
    what()
}

/// Keeps the library's threads from using the network while the process ends.
pub(super) fn end_at_exit() {
    extern "C" fn at_exit() {
        // A forked child has no thread of the library, which may have held the mutex at that moment. Such a
        // thread may end the job, and so the process, while it holds it.
        let own = |name| [LISTENER, TARGET].contains(&name);
        if !fork::is_child() && !std::thread::current().name().is_some_and(own) {
            std::mem::forget(NETWORK.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
    static ONCE: Once = Once::new();
    fork::watch();
    // SAFETY: the function lives as long as the process. If there is no room for it, a thread may use the
    // network while the process ends.
    ONCE.call_once(|| _ = unsafe { libc::atexit(at_exit) });
}
