//! MPI without its C interface: communicators, groups, datatypes, point-to-point calls,
//! collectives, topologies.
//!
//! The crate stands on `heddle-message`, which moves the messages. `heddle-abi` puts the standard's
//! functions on top: bodies return [`error::Result`]; handles are plain words. A module uses only modules
//! that stand above it in this table.
//!
//! | module | idea |
//! |---|---|
//! | [`error`], [`error_code`] | error classes and codes |
//! | [`process`] | the process: its world, thread level and main thread |
//! | [`group`], [`info`], [`op`], [`errhandler`], [`attribute`], [`topology`] | objects, and the attributes of objects |
//! | `lifetime` | the lifetime in use, and the collector |
//! | [`datatype`], [`external32`] | datatypes behind handles |
//! | [`comm`] | communicators |
//! | `reference_counts` | references that requests count, under `naive` and `suppress` |
//! | [`p2p`] | point-to-point communication |
//! | [`collective`] | collective operations |
//! | [`comm_management`] | making and freeing communicators |
//! | [`window`] | one-sided communication: windows behind handles, their epochs and operations |
//! | [`abort`], [`raise`] | how an error reaches its handler or ends the job |
//! | `statistics`, [`init`] | the beginning and the end |

pub mod abort;
mod attached_buffer;
pub mod attribute;
pub mod collective;
pub mod comm;
pub mod comm_management;
pub mod datatype;
pub mod errhandler;
pub mod error_code;
mod error_text;
pub mod external32;
pub mod group;
pub mod info;
pub mod init;
mod lifetime;
pub mod op;
pub mod p2p;
pub mod process;
pub mod raise;
mod reference_counts;
mod statistics;
pub mod topology;
pub mod window;

pub use heddle_message::{buffer, domain, error};
pub use heddle_window::allocated;

/// Requests, for the C interface.
pub mod request {
    pub use heddle_message::request::{Attachment, Canceller, Outcome, SEND_DONE, handle_of_index};
}
