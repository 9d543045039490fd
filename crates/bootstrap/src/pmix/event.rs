//! The event that the connection to the server is lost, since the server has ended.

use super::abi::{self, EventNotificationCbfuncFn, Info, Proc, Status};
use super::library::Library;
use crate::BootstrapError;
use crate::external::{LAUNCHER_THREAD, launcher_has_ended};
use heddle_platform::background;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::OnceLock;

/// This rank.
static ME: OnceLock<Proc> = OnceLock::new();

/// From now on, the end of the server calls [`launcher_has_ended`].
///
/// # Errors
/// When the library refuses that.
pub(super) fn on_lost_server(library: &Library, me: &Proc) -> Result<(), BootstrapError> {
    ME.get_or_init(|| *me);
    let mut events = [abi::ERR_LOST_CONNECTION, abi::ERR_LOST_CONNECTION_TO_SERVER];
    let (list, len) = (events.as_mut_ptr(), events.len());
    // SAFETY: a list, no wishes, and a function. Without another one the call waits until it is done.
    let status = unsafe {
        (library.register_event_handler)(list, len, ptr::null_mut(), 0, lost, None, ptr::null_mut())
    };
    // A call that waits gives the handler's number.
    library.check("PMIx_Register_event_handler", status.min(abi::SUCCESS))
}

fn job(proc: &Proc) -> &CStr {
    // SAFETY: the name of a job ends with a zero.
    unsafe { CStr::from_ptr(proc.nspace.as_ptr()) }
}

/// Servers tell of lost connections to other ranks by the same event; its source is a rank of this job then.
unsafe extern "C" fn lost(
    _handler: usize,
    _event: Status,
    source: *const Proc,
    _facts: *mut Info,
    _count: usize,
    _results: *mut Info,
    _results_count: usize,
    answer: Option<EventNotificationCbfuncFn>,
    context: *mut c_void,
) {
    // SAFETY: the library names the source, or nobody.
    let source = unsafe { source.as_ref() };
    if let (Some(source), Some(me)) = (source, ME.get())
        && job(source) != job(me)
    {
        // Not this thread, which serves the connection. If there is no other, the rank goes on.
        let _ = background::start(LAUNCHER_THREAD, None, launcher_has_ended);
    }
    if let Some(answer) = answer {
        // SAFETY: no facts for others, and the library's own words.
        unsafe { answer(abi::EVENT_NO_ACTION_TAKEN, ptr::null_mut(), 0, None, ptr::null_mut(), context) };
    }
}
