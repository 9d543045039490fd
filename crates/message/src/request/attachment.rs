//! What a request can carry beyond an operation.

use super::outcome::Outcome;
use crate::error::Result;
use std::any::Any;

/// Calls the program's function for cancelling a generalized request.
pub type Canceller = Box<dyn FnOnce(bool) -> Result<()> + Send>;

/// What can be attached to a request: the template of a persistent one, the callbacks of a generalized one.
pub trait Attachment: Any + Send + std::fmt::Debug {
    /// Whether the request becomes inactive at completion rather than freed.
    fn persistent(&self) -> bool {
        false
    }
    /// Called when the outcome is taken by the user.
    fn finish(&mut self, _outcome: &mut Outcome) {}
    /// Called when the user looks at the outcome and the request stays.
    fn read(&mut self, _outcome: &mut Outcome) {}
    /// The function to call when the request is cancelled, outside all critical sections; its argument says whether the request
    /// is complete.
    fn canceller(&self) -> Option<Canceller> {
        None
    }
    /// For downcasts.
    fn as_any(&mut self) -> &mut dyn Any;
}
