//! The end of the launcher's process on this machine while a rank still needs it: the rank is an orphan then.
//!
//! Nobody ends an orphan with its job, reads what it prints, or sees how it ends. Launchers do not prevent
//! that: if `hydra_pmi_proxy`, `prted` or `slurmstepd` is killed, its ranks go on for ever, and so would
//! those that wait for them. So an orphan ends itself, whatever it is doing, and the ranks on other machines
//! then miss it. If the launcher's process on the first machine ends, the others end their ranks, except for
//! those that `prterun` has started itself.
//!
//! The protocol says that the process has ended ([`Connection::watch`](super::Connection::watch)): PMI by
//! its descriptor, which the kernel hangs up, PMIx by an event.

use heddle_platform::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

/// The name of the thread that waits for the end of the launcher's process, or sees to that of this one.
pub(crate) const THREAD: &str = "heddle-launcher";

/// How this process ends if it is an orphan.
static END: OnceLock<fn() -> !> = OnceLock::new();

/// True once this process has begun to say that it needs the launcher no more.
static NEEDS_NONE: AtomicBool = AtomicBool::new(false);

/// True once the launcher's process is known to have ended too early.
static ORPHAN: AtomicBool = AtomicBool::new(false);

/// Says how this process ends if it is an orphan. The first call counts.
pub(super) fn end_by(end: fn() -> !) {
    END.get_or_init(|| end);
}

/// From now on the launcher's process may end.
pub(super) fn needs_no_launcher() {
    NEEDS_NONE.store(true, Ordering::SeqCst);
}

/// Returns true if no launcher can be told anything any more.
pub(super) fn is_orphan() -> bool {
    ORPHAN.load(Ordering::SeqCst)
}

/// The launcher's process on this machine has ended. Ends this process if it still needs the launcher. The
/// calling thread handles no signals, and does not serve the connection.
pub(crate) fn launcher_has_ended() {
    if NEEDS_NONE.load(Ordering::SeqCst) {
        return;
    }
    ORPHAN.store(true, Ordering::SeqCst);
    if let Some(end) = END.get() {
        end();
    }
}
