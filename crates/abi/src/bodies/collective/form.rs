//! The three forms of a collective function.

use crate::argument::Out;
use crate::error::Result;
use heddle_collective::{Conversation, begin, init, run};
use heddle_comm::{CommRef, info};
use heddle_spec::handle::{InfoHandle, RequestHandle};

/// The form in which a function was called.
pub(in crate::bodies) enum Form {
    Blocking,
    /// With where its request goes.
    Nonblocking(Out<RequestHandle>),
    /// With hints, of which none is known.
    Persistent(InfoHandle, Out<RequestHandle>),
}

impl Form {
    /// Runs, begins or prepares the operation that `describe` describes.
    pub(in crate::bodies) fn carry_out(
        self,
        comm: &CommRef,
        describe: impl FnOnce(&mut Conversation<'_>) -> Result<()>,
    ) -> Result<()> {
        match self {
            Form::Blocking => run(comm, describe),
            Form::Nonblocking(request) => {
                let request = request.variable()?;
                request.0 = begin(comm, describe)?;
                Ok(())
            }
            Form::Persistent(hints, request) => {
                let request = request.variable()?;
                info::hints(hints.0)?;
                request.0 = init(comm, describe)?;
                Ok(())
            }
        }
    }
}

/// Defines a collective function in its three forms. The body is written once, with the form that it is to
/// carry out.
macro_rules! in_three_forms {
    (
        fn $blocking:ident, $nonblocking:ident, $persistent:ident
        ($form:ident, $($parameter:ident: $type:ty),* $(,)?) $body:block
    ) => {
        pub(crate) fn $blocking($($parameter: $type),*) -> Result<()> {
            let $form = Form::Blocking;
            $body
        }

        pub(crate) fn $nonblocking($($parameter: $type,)* request: Out<RequestHandle>) -> Result<()> {
            let $form = Form::Nonblocking(request);
            $body
        }

        pub(crate) fn $persistent(
            $($parameter: $type,)*
            info: InfoHandle,
            request: Out<RequestHandle>,
        ) -> Result<()> {
            let $form = Form::Persistent(info, request);
            $body
        }
    };
}
pub(in crate::bodies) use in_three_forms;
