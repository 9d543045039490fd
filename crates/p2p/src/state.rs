//! The states of the operations that request handles name.

use heddle_comm::error::Result;
use heddle_message::domain::{self, Domain};
use heddle_message::request::{self, Found};

/// The running library, unless its model has a lock around calls. Calls on the express path do not take that
/// lock, so they leave what it guards to the general path.
#[inline(always)]
pub(super) fn running_without_lock() -> Option<&'static Domain> {
    domain::running().filter(|domain| !domain.calls().is_locked())
}

/// The state of a request handle's operation.
pub(super) enum HandleState {
    /// The handle is null or inactive: there is nothing to wait for.
    Nothing,
    Complete,
    Pending(u32),
}

#[inline(always)]
pub(super) fn state(handle: usize) -> Result<HandleState> {
    Ok(match request::find(handle)? {
        Found::Null => HandleState::Nothing,
        Found::Done => HandleState::Complete,
        Found::Slot(id) if request::is_complete(id) => HandleState::Complete,
        Found::Slot(id) if request::is_inactive(id) => HandleState::Nothing,
        Found::Slot(id) => HandleState::Pending(request::vni_of(id)),
    })
}

/// Returns true if a request that was pending is pending no longer.
#[inline(always)]
#[must_use]
pub fn is_over(handle: usize) -> bool {
    !matches!(state(handle), Ok(HandleState::Pending(_)))
}

/// Returns true if the operation of the handle was started, and the program has not completed it yet.
#[inline(never)]
#[must_use]
pub fn is_active(handle: usize) -> bool {
    matches!(state(handle), Ok(HandleState::Pending(_) | HandleState::Complete))
}

/// The result of a scan over requests.
pub(super) enum Scan {
    Complete(usize),
    Pending,
    Nothing,
}

/// Searches for a complete request; passes the VNIs of pending ones to `pending`.
pub(super) fn scan(handles: &[usize], mut pending: impl FnMut(u32)) -> Result<Scan> {
    let mut found = Scan::Nothing;
    for (index, handle) in handles.iter().enumerate() {
        match state(*handle)? {
            HandleState::Nothing => {}
            HandleState::Complete => return Ok(Scan::Complete(index)),
            HandleState::Pending(vni) => {
                pending(vni);
                found = Scan::Pending;
            }
        }
    }
    Ok(found)
}
