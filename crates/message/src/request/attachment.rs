//! Attachments of requests: what a request carries beyond its operation.

use super::kind::RequestId;
use super::outcome::Outcome;
use crate::error::{Error, Result};
use heddle_spec::constants as mpi;

/// Calls the program's function for cancelling a generalized request.
pub type Canceller = Box<dyn FnOnce(bool) -> Result<()> + Send>;

/// An attachment of a request: the template of a persistent request, or the callbacks of a generalized one.
/// That of a persistent request only starts it: it is told of no outcome.
pub trait Attachment: Send + std::fmt::Debug {
    /// Starts the operation of an inactive persistent request, which the caller owns.
    ///
    /// # Errors
    /// `MPI_ERR_REQUEST` if the request is not persistent; else why the operation was not started.
    fn start(&mut self, _request: RequestId) -> Result<()> {
        Err(Error::new(mpi::MPI_ERR_REQUEST, "only a persistent request can be started"))
    }
    /// Called when the user takes the outcome.
    fn finish(&mut self, _outcome: &mut Outcome) {}
    /// Called when the user reads the outcome and the request stays.
    fn read(&mut self, _outcome: &mut Outcome) {}
    /// Returns the function to call when the request is cancelled, outside all critical sections. Its
    /// argument is true if the request is complete.
    fn canceller(&self) -> Option<Canceller> {
        None
    }
}
