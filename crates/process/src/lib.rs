//! The process in MPI: its start and end, sessions, and errors on their way out.
//!
//! The crate stands on all that has objects behind handles: `heddle-comm`, `heddle-comm-management` and
//! `heddle-rma`. `heddle-abi` puts the standard's functions on top. Functions return
//! [`heddle_comm::error::Result`]. A module uses only modules that stand above it in this table.
//!
//! | module | idea |
//! |---|---|
//! | [`mod@file`] | the error handler of calls without a file |
//! | [`abort`], [`raise`] | how an error reaches its handler or ends the job |
//! | `loss` | the loss of ranks on other machines |
//! | `statistics`, `life` | the time in which the library is in use |
//! | [`init`], [`session`] | its uses: `MPI_Init` to `MPI_Finalize`, and sessions |

pub mod abort;
pub mod file;
pub mod init;
mod life;
mod loss;
pub mod raise;
pub mod session;
mod statistics;
