//! Attachments of requests: what a request carries beyond its operation.

use super::outcome::Outcome;
use crate::error::Result;
use std::any::Any;

/// Calls the program's function for cancelling a generalized request.
pub type Canceller = Box<dyn FnOnce(bool) -> Result<()> + Send>;

/// An attachment of a request: the template of a persistent request, or the callbacks of a generalized one.
pub trait Attachment: Any + Send + std::fmt::Debug {
    /// Returns true if the request becomes inactive at completion, instead of being freed.
    fn persistent(&self) -> bool {
        false
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
    /// Returns the attachment as a type that can be downcast.
    fn as_any(&mut self) -> &mut dyn Any;
}
