//! Process initialisation, creation and management.
//!
//! | file | functions |
//! |---|---|
//! | `session.rs` | sessions |

mod session;

pub(crate) use session::*;

use crate::argument::Out;
use crate::error::{Error, Result};
use heddle_comm::CommRef;
use heddle_comm::{info, process, world_model};
use heddle_comm_management::disconnect;
use heddle_process::abort::abort as end_job;
use heddle_process::init;
use heddle_spec::constants as mpi;
use heddle_spec::handle::{CommHandle, InfoHandle};
use std::ffi::{c_char, c_int};

/// The program's arguments are ignored, because the environment holds all settings.
pub(crate) fn init(_argc: Out<c_int>, _argv: *mut *mut *mut c_char) -> Result<()> {
    init::initialize(mpi::MPI_THREAD_SINGLE)
}

pub(crate) fn init_thread(
    _argc: Out<c_int>,
    _argv: *mut *mut *mut c_char,
    required: c_int,
    provided: Out<c_int>,
) -> Result<()> {
    if !mpi::THREAD_LEVELS.iter().any(|&(_, level)| level == required) {
        let message =
            format!("{required} is not a level of thread support: use one of MPI_THREAD_SINGLE to _MULTIPLE");
        return Err(Error::new(mpi::MPI_ERR_ARG, message));
    }
    init::initialize(required)?;
    provided.set(world_model::current()?.thread_level())
}

pub(crate) fn finalize() -> Result<()> {
    init::finalize()
}

pub(crate) fn initialized(flag: Out<c_int>) -> Result<()> {
    flag.set(c_int::from(world_model::is_initialized()))
}

pub(crate) fn finalized(flag: Out<c_int>) -> Result<()> {
    flag.set(c_int::from(world_model::is_finalized()))
}

pub(crate) fn query_thread(provided: Out<c_int>) -> Result<()> {
    provided.set(world_model::current()?.thread_level())
}

pub(crate) fn is_thread_main(flag: Out<c_int>) -> Result<()> {
    flag.set(c_int::from(world_model::current()?.is_main_thread()))
}

/// `MPI_Comm_split_type` knows no type of hardware, so the info object is empty.
pub(crate) fn get_hw_resource_info(hw_info: Out<InfoHandle>) -> Result<()> {
    let hw_info = hw_info.variable()?;
    *hw_info = InfoHandle(info::new_handle(Vec::new()));
    Ok(())
}

/// Ends the whole job, whatever the communicator: its processes cannot go on without
/// those of `MPI_COMM_WORLD`.
pub(crate) fn abort(comm: CommHandle, code: c_int) -> Result<()> {
    let comm = CommRef::from_handle(comm.0)?;
    let process = process::current()?;
    let text = match process.world().job() {
        // The launcher prints the reason.
        Some(_) => String::new(),
        None => {
            let name = comm.name_at_once().unwrap_or_default();
            format!("MPI_Abort was called with code {code} on {name}")
        }
    };
    end_job(code, &text, "")
}

pub(crate) fn comm_disconnect(comm: Out<CommHandle>) -> Result<()> {
    let comm = comm.variable()?;
    disconnect(comm.0)?;
    *comm = CommHandle::NULL;
    Ok(())
}

/// No process has a parent, because `MPI_Comm_spawn` is not built.
pub(crate) fn comm_get_parent(parent: Out<CommHandle>) -> Result<()> {
    parent.set(CommHandle::NULL)
}
