//! Waiting for requests and testing them.

use super::receive::{finish, show};
use crate::argument::{ListOut, Out, StatusOut};
use crate::entry::{Express, testing};
use crate::error::{Error, Result};
use heddle_p2p::request::Outcome;
use heddle_p2p::{Any, Attempt, Refusal, Some_};
use heddle_spec::constants as mpi;
use heddle_spec::handle::RequestHandle;
use std::ffi::c_int;

/// Stores the statuses of several requests and remembers the first failure. `MPI_ERROR` is set in all of them
/// as soon as one has failed, and left as it is otherwise (MPI 5.0, section 3.7.5).
pub(super) struct Report {
    statuses: StatusOut,
    stored: usize,
    failure: Option<Error>,
}

impl Report {
    pub(super) fn to(statuses: StatusOut) -> Self {
        Self { statuses, stored: 0, failure: None }
    }

    /// The number of statuses that are stored.
    pub(super) fn stored(&self) -> usize {
        self.stored
    }

    /// Stores the next one, that of request `index`.
    #[inline(always)]
    pub(super) fn add(&mut self, index: usize, outcome: &Outcome) {
        self.statuses.report_at(self.stored, outcome);
        if self.failure.is_some() || outcome.error.is_some() {
            self.add_error(index, outcome.error.as_ref());
        }
        self.stored += 1;
    }

    #[cold]
    fn add_error(&mut self, index: usize, error: Option<&Error>) {
        if self.failure.is_none() {
            for earlier in 0..self.stored {
                self.statuses.set_error_at(earlier, mpi::MPI_SUCCESS);
            }
        }
        self.statuses.set_error_at(self.stored, error.map_or(mpi::MPI_SUCCESS, Error::code));
        if let (None, Some(error)) = (&self.failure, error) {
            let message = format!("request {index} of the array has failed: {}", error.message());
            let failure = Error::new(mpi::MPI_ERR_IN_STATUS, message);
            self.failure = Some(match error.owner() {
                Some(owner) => failure.with_owner(owner.clone()),
                None => failure,
            });
        }
    }

    /// `MPI_ERR_IN_STATUS` if any has failed.
    #[inline(always)]
    pub(super) fn result(self) -> Result<()> {
        self.failure.map_or(Ok(()), Err)
    }
}

#[inline(always)]
pub(crate) fn wait(request: Out<RequestHandle>, status: StatusOut) -> Result<()> {
    heddle_p2p::wait_with(
        &mut request.variable()?.0,
        #[inline(always)]
        |outcome| show(status, outcome),
    )?
}

/// The express path of a wait. It enters no critical section, so that a second attempt would find what
/// the first one has found.
#[inline(always)]
pub(crate) fn express_wait(attempt: Attempt, request: Out<RequestHandle>, status: StatusOut) -> Express {
    if attempt != Attempt::Bias {
        return Err(Refusal::Unfit);
    }
    let request = request.express()?;
    let complete = heddle_p2p::wait_express(
        &mut request.0,
        #[inline(always)]
        |outcome| status.report(outcome),
    );
    if complete { Ok(Ok(())) } else { Err(Refusal::Unfit) }
}

/// The express path of a test.
#[inline(always)]
pub(crate) fn express_test(
    attempt: Attempt,
    request: Out<RequestHandle>,
    flag: Out<c_int>,
    status: StatusOut,
) -> Express {
    let (request, flag) = (request.express()?, flag.express()?);
    let result = heddle_p2p::test_express(
        attempt,
        &mut request.0,
        #[inline(always)]
        |outcome| {
            *flag = 1;
            status.report(outcome);
        },
    )?;
    Ok(result.unwrap_or_else(|| {
        *flag = 0;
        Ok(())
    }))
}

#[inline(always)]
pub(crate) fn test(request: Out<RequestHandle>, flag: Out<c_int>, status: StatusOut) -> Result<()> {
    let is_active = || request.variable().is_ok_and(|request| heddle_p2p::is_active(request.0));
    let test = || match heddle_p2p::test(&mut request.variable()?.0)? {
        None => flag.set(0),
        Some(outcome) => {
            flag.set(1)?;
            finish(status, outcome)
        }
    };
    testing(is_active, test, || flag.set(0))
}

/// Returns true if any of the requests is active.
#[cold]
fn is_any_active(count: c_int, requests: ListOut<'_, RequestHandle>) -> bool {
    requests.words(count).is_ok_and(|words| words.iter().any(|&request| heddle_p2p::is_active(request)))
}

#[inline(always)]
pub(crate) fn waitall(count: c_int, requests: ListOut<'_, RequestHandle>, statuses: StatusOut) -> Result<()> {
    let mut report = Report::to(statuses);
    heddle_p2p::wait_all(requests.words(count)?, |index, outcome| report.add(index, outcome))?;
    report.result()
}

pub(crate) fn testall(
    count: c_int,
    requests: ListOut<'_, RequestHandle>,
    flag: Out<c_int>,
    statuses: StatusOut,
) -> Result<()> {
    let test = || {
        let mut report = Report::to(statuses);
        let add = |index, outcome: &Outcome| report.add(index, outcome);
        let complete = heddle_p2p::test_all(requests.words(count)?, add)?;
        flag.set(c_int::from(complete.is_some()))?;
        report.result()
    };
    testing(|| is_any_active(count, requests), test, || flag.set(0))
}

pub(crate) fn waitany(
    count: c_int,
    requests: ListOut<'_, RequestHandle>,
    indx: Out<c_int>,
    status: StatusOut,
) -> Result<()> {
    match heddle_p2p::wait_any(requests.words(count)?)? {
        Any::Completed(index, outcome) => {
            indx.set(index as c_int)?;
            finish(status, outcome)
        }
        Any::Nothing | Any::Pending => {
            indx.set(mpi::MPI_UNDEFINED)?;
            finish(status, Outcome::empty())
        }
    }
}

pub(crate) fn testany(
    count: c_int,
    requests: ListOut<'_, RequestHandle>,
    indx: Out<c_int>,
    flag: Out<c_int>,
    status: StatusOut,
) -> Result<()> {
    let pending = || {
        flag.set(0)?;
        indx.set(mpi::MPI_UNDEFINED)
    };
    let test = || match heddle_p2p::test_any(requests.words(count)?)? {
        Any::Completed(index, outcome) => {
            flag.set(1)?;
            indx.set(index as c_int)?;
            finish(status, outcome)
        }
        Any::Nothing => {
            flag.set(1)?;
            indx.set(mpi::MPI_UNDEFINED)?;
            finish(status, Outcome::empty())
        }
        Any::Pending => pending(),
    };
    testing(|| is_any_active(count, requests), test, pending)
}

pub(crate) fn waitsome(
    incount: c_int,
    requests: ListOut<'_, RequestHandle>,
    outcount: Out<c_int>,
    indices: ListOut<'_, c_int>,
    statuses: StatusOut,
) -> Result<()> {
    some(incount, requests, outcount, indices, statuses, |handles, add| heddle_p2p::wait_some(handles, add))
}

pub(crate) fn testsome(
    incount: c_int,
    requests: ListOut<'_, RequestHandle>,
    outcount: Out<c_int>,
    indices: ListOut<'_, c_int>,
    statuses: StatusOut,
) -> Result<()> {
    let test = || {
        some(incount, requests, outcount, indices, statuses, |handles, add| {
            heddle_p2p::test_some(handles, add)
        })
    };
    testing(|| is_any_active(incount, requests), test, || outcount.set(0))
}

fn some(
    incount: c_int,
    requests: ListOut<'_, RequestHandle>,
    outcount: Out<c_int>,
    indices: ListOut<'_, c_int>,
    statuses: StatusOut,
    complete: impl FnOnce(&mut [usize], &mut dyn FnMut(usize, &Outcome)) -> Result<Some_>,
) -> Result<()> {
    let handles = requests.words(incount)?;
    let indices = indices.slice(handles.len())?;
    let mut report = Report::to(statuses);
    let found = complete(handles, &mut |index, outcome| {
        indices[report.stored] = index as c_int;
        report.add(index, outcome);
    })?;
    outcount.set(match found {
        Some_::Completed(count, _) => count as c_int,
        Some_::Nothing => mpi::MPI_UNDEFINED,
    })?;
    report.result()
}
