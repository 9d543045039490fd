//! Generalized requests: those that the program completes itself (MPI 5.0, section 13.2).

use crate::error::{Error, Result};
use crate::process;
use crate::request::{self, Attachment, Found, Outcome, RequestKind};
use heddle_spec::constants as mpi;

/// They belong to no communicator, and so to no VNI in particular.
const VNI: u32 = 0;

/// Makes a request that is active until [`complete_generalized`]; returns its handle. The attachment is dropped
/// when the request is complete and nobody has its handle any more, outside of all sections.
///
/// # Errors
/// If MPI is not running.
pub fn start_generalized(attachment: Box<dyn Attachment>) -> Result<usize> {
    process::current()?;
    let id = request::take(VNI, mpi::MPI_COMM_SELF, RequestKind::Generalized);
    // SAFETY: the request is new: nobody else knows it.
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
    let dropped = process::current()?.vni(request::vni_of(id)).with(|core| {
        // SAFETY: we are in the section of the request's VNI.
        let owner = unsafe { request::owner(id) };
        // The library's own requests of this kind, such as those of `MPI_Comm_idup`, have no function for cancelling.
        let generalized = owner.kind == RequestKind::Generalized
            && owner.attachment.as_ref().is_some_and(|attachment| attachment.canceller().is_some());
        if !generalized || request::is_complete(id) {
            return Err(bad());
        }
        let attachment = if owner.detached { owner.attachment.take() } else { None };
        core.complete(id, Outcome::empty());
        Ok(attachment)
    })?;
    // Outside of the section: this may call a function of the program.
    drop(dropped);
    Ok(())
}
