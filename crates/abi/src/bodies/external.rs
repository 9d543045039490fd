//! External interfaces: generalized requests, and statuses that a program fills.

use crate::argument::{Callback, Out, StatusOut, bytes_of, is_cancelled, set_bytes, set_cancelled, status};
use crate::error::{Error, Result};
use heddle_comm::datatype::{self, TypeInUse};
use heddle_comm::program::ProgramFunction;
use heddle_p2p::request::{Attachment, Canceller, Outcome};
use heddle_spec::Status;
use heddle_spec::constants as mpi;
use heddle_spec::handle::{DatatypeHandle, RequestHandle};
use std::ffi::{c_int, c_void};

type QueryFunction = unsafe extern "C" fn(*mut c_void, *mut Status) -> c_int;
type FreeFunction = unsafe extern "C" fn(*mut c_void) -> c_int;
type CancelFunction = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

/// The program's functions behind a generalized request.
#[derive(Debug)]
struct Functions {
    query: ProgramFunction<QueryFunction>,
    /// The free function, until it has been called.
    free: Option<ProgramFunction<FreeFunction>>,
    cancel: ProgramFunction<CancelFunction>,
    state: *mut c_void,
}

// SAFETY: the standard lets any thread that completes the request call the functions.
unsafe impl Send for Functions {}

/// An error that a function of the program has returned.
fn returned(code: c_int, what: &str) -> Result<()> {
    if code == mpi::MPI_SUCCESS {
        return Ok(());
    }
    Err(Error::new(
        code,
        format!("the {what} function of a generalized request has returned the error code {code}"),
    ))
}

impl Functions {
    /// Asks the program for the status of the request.
    fn fill(&self, outcome: &mut Outcome) {
        let mut answer = status(outcome);
        // SAFETY: the program registered this function for calls of this form.
        let mut call =
            |answer: *mut c_void| self.query.call(|query| unsafe { query(self.state, answer.cast()) });
        let code = (self.query.abi().status)(&mut answer, &mut call);
        outcome.source = answer.source;
        outcome.tag = answer.tag;
        outcome.bytes = bytes_of(&answer) as u64;
        outcome.cancelled = is_cancelled(&answer);
        outcome.error = returned((self.query.abi().error_of)(code), "query").err();
    }

    fn release(&mut self) -> Result<()> {
        match self.free.take() {
            Some(free) => {
                // SAFETY: the program registered this function for calls of this form.
                let code = free.call(|free| unsafe { free(self.state) });
                returned((free.abi().error_of)(code), "free")
            }
            None => Ok(()),
        }
    }
}

/// The program's extra state of a generalized request, which its functions receive.
struct ExtraState(*mut c_void);

// SAFETY: the state is only passed on; MPI may call the program's functions from any thread
// that completes or cancels.
unsafe impl Send for ExtraState {}

impl ExtraState {
    fn address(&self) -> *mut c_void {
        self.0
    }
}

impl Attachment for Functions {
    fn finish(&mut self, outcome: &mut Outcome) {
        self.fill(outcome);
        if let Err(error) = self.release() {
            outcome.error.get_or_insert(error);
        }
    }

    fn read(&mut self, outcome: &mut Outcome) {
        self.fill(outcome);
    }

    fn canceller(&self) -> Option<Canceller> {
        let (cancel, state) = (self.cancel, ExtraState(self.state));
        Some(Box::new(move |complete| {
            // SAFETY: the program registered this function for calls of this form.
            let call = |cancel: CancelFunction| unsafe { cancel(state.address(), c_int::from(complete)) };
            returned((cancel.abi().error_of)(cancel.call(call)), "cancel")
        }))
    }
}

impl Drop for Functions {
    fn drop(&mut self) {
        // The request was freed before it completed, so there is no call that could report an error.
        let _ = self.release();
    }
}

pub(crate) fn grequest_start(
    query_fn: Callback,
    free_fn: Callback,
    cancel_fn: Callback,
    extra_state: *mut c_void,
    request: Out<RequestHandle>,
) -> Result<()> {
    let request = request.variable()?;
    // SAFETY: the parameter's type in mpi.h is that of such a function.
    let query = unsafe { query_fn.function::<QueryFunction>() }?;
    // SAFETY: the parameter's type in mpi.h is that of such a function.
    let free = Some(unsafe { free_fn.function::<FreeFunction>() }?);
    // SAFETY: the parameter's type in mpi.h is that of such a function.
    let cancel = unsafe { cancel_fn.function::<CancelFunction>() }?;
    request.0 =
        heddle_p2p::start_generalized(Box::new(Functions { query, free, cancel, state: extra_state }))?;
    Ok(())
}

pub(crate) fn grequest_complete(request: RequestHandle) -> Result<()> {
    heddle_p2p::complete_generalized(request.0)
}

pub(crate) fn status_set_cancelled(status: StatusOut, flag: bool) -> Result<()> {
    status.update(|status| set_cancelled(status, flag))
}

pub(crate) fn status_set_elements(status: StatusOut, datatype: DatatypeHandle, count: i64) -> Result<()> {
    let datatype = datatype::from_handle(datatype.0)?;
    let bytes = bytes_of_elements(&datatype, count).ok_or_else(|| {
        Error::new(
            mpi::MPI_ERR_COUNT,
            format!("there is no message of {count} basic elements of this datatype"),
        )
    })?;
    status.update(|status| set_bytes(status, bytes))
}

pub(crate) fn status_set_elements_x(status: StatusOut, datatype: DatatypeHandle, count: i64) -> Result<()> {
    status_set_elements(status, datatype, count)
}

/// The bytes that `elements` basic elements take: whole items, and a part of one.
fn bytes_of_elements(datatype: &TypeInUse, count: i64) -> Option<i64> {
    let per_item = datatype.basic_elements();
    if count < 0 || per_item == 0 {
        return (count == 0).then_some(0);
    }
    let (whole, rest) = (datatype.packed_len(count / per_item)?, count % per_item);
    let part = (0..datatype.size()).find(|&bytes| datatype.get_elements(bytes) == Some(rest))?;
    whole.checked_add(part)
}
