//! The connection of this process to the launcher that has started it.

use super::orphan;
use crate::BootstrapError;
use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_platform::fork;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

/// A protocol between a rank and its launcher.
pub(crate) trait Connection: Debug + Send {
    /// Publishes a word, which the others can get after the next fence.
    fn put(&mut self, name: &str, word: &str) -> Result<(), BootstrapError>;

    /// The word of that name, which a rank has put.
    fn get(&mut self, rank: u32, name: &str) -> Result<String, BootstrapError>;

    /// The node of each of these ranks, as the launcher numbers its nodes: the same for all that ask. `None`
    /// if it does not say.
    fn nodes_of(&mut self, ranks: &[u32]) -> Option<Vec<u32>>;

    /// Waits until all ranks of the job have come here.
    fn fence(&mut self) -> Result<(), BootstrapError>;

    /// Says that the rank needs the launcher no more.
    fn finish(self: Box<Self>) -> Result<(), BootstrapError>;

    /// Has the launcher end the job with this exit status.
    fn abort(&mut self, status: i32) -> Result<(), BootstrapError>;

    /// From now on, the end of the launcher's process on this machine calls
    /// [`launcher_has_ended`](orphan::launcher_has_ended).
    fn watch(&mut self) -> Result<(), BootstrapError>;
}

/// The connection: `None` before the process joins the job, and after it has said that it ends.
static LAUNCHER: Mutex<Option<Box<dyn Connection>>> = Mutex::new(None);

fn launcher() -> MutexGuard<'static, Option<Box<dyn Connection>>> {
    LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this the connection of the process.
pub(super) fn hold(connection: impl Connection + 'static) {
    *launcher() = Some(Box::new(connection));
}

/// Exchanges words with the launcher.
pub(super) fn with_launcher<R>(
    exchange: impl FnOnce(&mut dyn Connection) -> Result<R, BootstrapError>,
) -> Result<R, BootstrapError> {
    match launcher().as_mut() {
        Some(connection) => exchange(connection.as_mut()),
        None => Err(BootstrapError::Left),
    }
}

/// From now on this process ends by `end` if the launcher's process that has started it ends before it
/// finalizes MPI. Does nothing where no other launcher than Heddle's has started it.
///
/// # Errors
/// When the launcher's process cannot be watched.
pub fn end_without_launcher(end: fn() -> !) -> Result<(), BootstrapError> {
    orphan::end_by(end);
    launcher().as_mut().map_or(Ok(()), |connection| connection.watch())
}

/// Says that this process needs neither the launcher nor the other ranks any more. The first call counts.
pub(super) fn finish() {
    if let Some(connection) = launcher().take() {
        orphan::needs_no_launcher();
        // A launcher that has gone does not need to know.
        let _ = connection.finish();
    }
}

/// True if the ranks come to a fence before they leave: they are on several machines, and none is lost.
static MEETS: AtomicBool = AtomicBool::new(false);

/// The ranks of this job meet before they leave.
pub(super) fn ranks_meet() {
    MEETS.store(true, Ordering::Relaxed);
}

/// From now on this process waits for no other before it leaves: one is lost, and the launcher waits for all.
pub fn finish_alone() {
    MEETS.store(false, Ordering::Relaxed);
}

/// Waits until all ranks of the job have come here. The first call counts.
pub(super) fn meet() {
    if MEETS.swap(false, Ordering::Relaxed) {
        // If the launcher has gone, there is nobody to wait for.
        let _ = with_launcher(|launcher| launcher.fence());
    }
}

/// True if the process may end as it is.
static MAY_END: AtomicBool = AtomicBool::new(false);

/// From now on [`meet`]s the others and [`finish`]es when the process ends by `exit`.
pub(super) fn finish_at_exit() {
    extern "C" fn at_exit() {
        // A forked child inherits this function, but not the rank.
        if MAY_END.load(Ordering::Relaxed) && !fork::is_child() {
            meet();
            finish();
        }
    }
    static ONCE: Once = Once::new();
    MAY_END.store(true, Ordering::Relaxed);
    fork::watch();
    // SAFETY: the function lives as long as the process. If there is no room for it, the launcher takes the
    // end for a failure.
    ONCE.call_once(|| _ = unsafe { libc::atexit(at_exit) });
}

/// The process goes on after [`finish_at_exit`]: if it ends now, the launcher takes that for a failure.
pub(super) fn go_on() {
    MAY_END.store(false, Ordering::Relaxed);
}

/// Has the launcher end the job with this exit status, once it has read what this process has printed. Does
/// nothing where no launcher has to be told.
pub fn end_job(status: i32) {
    // A thread that waits for the launcher's answer may have the lock for ever.
    if !orphan::is_orphan()
        && let Ok(mut launcher) = LAUNCHER.try_lock()
        && let Some(connection) = launcher.as_mut()
    {
        await_readers();
        // If it cannot be told, it learns of the end from the exit status.
        let _ = connection.abort(status);
    }
}

/// Waits until the pipes behind standard output and error are empty, for a second at most: a launcher that
/// ends a job forgets what it has not read.
fn await_readers() {
    let unread = |fd| {
        let mut bytes: libc::c_int = 0;
        // SAFETY: the request stores one number.
        unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut bytes) == 0 && bytes > 0 }
    };
    let deadline = Instant::now() + Duration::from_secs(1);
    while (unread(libc::STDOUT_FILENO) || unread(libc::STDERR_FILENO)) && Instant::now() < deadline {
        // No event says that a pipe was read. A filter of system calls may refuse the sleep, which std takes
        // for impossible.
        // SAFETY: the function takes any number of microseconds.
        unsafe { libc::usleep(1000) };
    }
}
