//! The top of MPI without its C interface: making and freeing communicators, windows, errors on their way
//! out, start and end.
//!
//! The crate stands on everything that moves data: `heddle-comm`, `heddle-p2p`, `heddle-collective` and
//! `heddle-window`. `heddle-abi` puts the standard's functions on top of all of them. Functions return
//! [`heddle_comm::error::Result`]. A module uses only modules that stand above it in this table.
//!
//! | module | idea |
//! |---|---|
//! | [`comm_management`] | making and freeing communicators |
//! | [`window`] | one-sided communication: windows behind handles, their epochs and operations |
//! | [`mod@file`] | the error handler of calls without a file |
//! | [`abort`], [`raise`] | how an error reaches its handler or ends the job |
//! | `loss` | the loss of ranks on other machines |
//! | `statistics`, `life` | the time in which the library is in use |
//! | [`init`], [`session`] | its uses: `MPI_Init` to `MPI_Finalize`, and sessions |

pub mod abort;
pub mod comm_management;
pub mod file;
pub mod init;
mod life;
mod loss;
pub mod raise;
pub mod session;
mod statistics;
pub mod window;

pub use heddle_window::allocated;
