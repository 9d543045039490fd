//! One-sided communication.
//!
//! | file | functions |
//! |---|---|
//! | `create.rs` | making and freeing windows, attaching memory |
//! | `query.rs` | questions about a window: group, shared memory, hints |
//! | `epochs.rs` | fence, post, start, complete, wait; lock, unlock, flush |
//! | `copies.rs` | put and get |
//! | `accumulates.rs` | accumulates |

mod accumulates;
mod copies;
mod create;
mod epochs;
mod query;

pub(crate) use accumulates::*;
pub(crate) use copies::*;
pub(crate) use create::*;
pub(crate) use epochs::*;
pub(crate) use query::*;

use crate::argument::Out;
use crate::error::{Error, Result};
use heddle_p2p::request::SEND_DONE;
use heddle_rma::WinRef;
use heddle_spec::constants as mpi;
use heddle_spec::handle::{RequestHandle, WinHandle};
use std::ffi::c_int;

/// Runs an operation, and gives the program a request that is complete once its data is here. The standard
/// allows requests within locks only; other libraries give them in every epoch.
fn with_request(
    request: Out<RequestHandle>,
    win: WinHandle,
    rank: c_int,
    operation: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let request = request.variable()?;
    let window = WinRef::from_handle(win.0)?;
    // Without the check the operation itself demands an epoch of any kind.
    if heddle_settings::is_strict() && rank != mpi::MPI_PROC_NULL && !window.window.target(rank)?.is_locked()
    {
        let message = format!(
            "operations with requests need a lock, and this process holds none on rank {rank} of the window"
        );
        return Err(Error::new(mpi::MPI_ERR_RMA_SYNC, message));
    }
    operation()?;
    request.0 = window.window.request(rank).unwrap_or(SEND_DONE);
    Ok(())
}
