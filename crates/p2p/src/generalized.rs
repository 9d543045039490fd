//! Generalized requests: those that the program completes itself (MPI 5.0, section 13.2).

use heddle_comm::error::{Error, Result};
use heddle_message::domain::{self, Domain};
use heddle_message::request::{self, Attachment, Found, RequestId, RequestKind};
use heddle_spec::constants as mpi;

/// The VNI of generalized requests, which belong to no communicator and so to no VNI in particular.
const VNI: u32 = 0;

/// Makes a request that is active until [`complete_generalized`]; returns its handle. The
/// attachment is dropped when the request is complete and no thread has its handle any more,
/// outside of all critical sections.
///
/// # Errors
/// If MPI is not running.
pub fn start_generalized(attachment: Box<dyn Attachment>) -> Result<usize> {
    domain::current()?;
    let id = request::take(VNI, mpi::MPI_COMM_SELF, RequestKind::Generalized)?;
    // SAFETY: the request is new: no other thread knows it.
    unsafe { request::owner(id) }.attachment = Some(attachment);
    Ok(request::handle(id))
}

/// Completes a generalized request.
///
/// # Errors
/// `MPI_ERR_REQUEST` if it is not an active generalized request.
pub fn complete_generalized(handle: usize) -> Result<()> {
    let bad = || Error::new(mpi::MPI_ERR_REQUEST, "only an active generalized request can be completed");
    let Found::Slot(id) = request::find(handle)? else { return Err(bad()) };
    if !is_programs(id) {
        return Err(bad());
    }
    let dropped = domain::current()?.vni(request::vni_of(id)).with_generalized(|| {
        if request::is_complete(id) {
            return (None, Err(bad()));
        }
        // SAFETY: this thread is in the rendezvous critical section, where generalized requests
        // are completed and freed.
        let owner = unsafe { request::owner(id) };
        let attachment = if owner.detached { owner.attachment.take() } else { None };
        (Some(id), Ok(attachment))
    })?;
    // The attachment is dropped outside of the critical section, since that may call a
    // function of the program.
    drop(dropped);
    Ok(())
}

/// Returns true if the program completes this live request. The library's own requests of this kind, such as
/// those of `MPI_Comm_idup`, have no function for cancelling.
pub(super) fn is_programs(id: RequestId) -> bool {
    // SAFETY: the fields that are read do not change until the request is consumed or freed.
    let owner = unsafe { request::owner(id) };
    owner.kind == RequestKind::Generalized
        && owner.attachment.as_ref().is_some_and(|attachment| attachment.canceller().is_some())
}

/// Takes the handle of a request that the program completes, or will complete, for which it needs the handle
/// afterwards. Returns true if it is complete. Then it belongs to the caller, who releases it outside all
/// critical sections, since that may call a function of the program.
///
/// # Errors
/// `MPI_ERR_REQUEST` if the program has freed it before.
pub(super) fn let_go(domain: &Domain, id: RequestId) -> Result<bool> {
    domain.vni(request::vni_of(id)).with_generalized(|| {
        // SAFETY: this thread is in the rendezvous critical section, where generalized requests
        // are completed and freed.
        let owner = unsafe { request::owner(id) };
        if owner.detached {
            let message = "the generalized request was freed before; it only has to be completed";
            return (None, Err(Error::new(mpi::MPI_ERR_REQUEST, message)));
        }
        let is_complete = request::claim(id);
        owner.detached = !is_complete;
        (None, Ok(is_complete))
    })
}
