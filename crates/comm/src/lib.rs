//! Communicators, and the objects that belong to them: groups, info, attributes, error handlers, topologies,
//! datatypes and operators.
//!
//! The crate stands on `heddle-message`, whose contexts and VNIs a communicator names, on `heddle-objects`,
//! whose tables hold the objects, and on `heddle-blackboard`, of which a communicator may have one.
//! `heddle-p2p`, `heddle-collective` and the crates above work on these objects; `heddle-abi` puts the
//! standard's functions on top. Here they are made, read and described: no function sends a message, so
//! making a communicator is for `heddle-comm-management`. Functions return [`error::Result`]; handles are
//! plain words. A module uses only modules that stand above it in this table.
//!
//! | module | idea |
//! |---|---|
//! | [`error`], [`error_code`], `error_text` | error classes and codes, and their messages |
//! | [`process`], [`world_model`] | the process and its world; the time from `MPI_Init` to `MPI_Finalize` |
//! | [`attached_buffer`] | the buffers of `MPI_Bsend` |
//! | [`errhandler`], [`session`] | error handlers; sessions |
//! | [`group`], [`info`], [`op`], [`attribute`], [`topology`] | objects, and the attributes of objects |
//! | [`process_sets`] | the process sets that sessions name |
//! | [`lifetime`] | the lifetime in use, and the collector |
//! | [`memory_kinds`] | the kinds of memory that buffers may be in |
//! | [`datatype`], [`external32`] | datatypes behind handles |
//! | [`machines`] | the machines of a communicator's processes |
//! | `comm` | communicators: [`CommRef`], [`Comm`] |
//! | [`reference_counts`] | references that requests count, under `naive` and `suppress` |

pub mod attached_buffer;
pub mod attribute;
mod comm;
pub mod datatype;
pub mod errhandler;
pub mod error_code;
mod error_text;
pub mod external32;
pub mod group;
pub mod info;
pub mod lifetime;
pub mod machines;
pub mod memory_kinds;
pub mod op;
pub mod process;
pub mod process_sets;
pub mod reference_counts;
pub mod session;
pub mod topology;
pub mod world_model;

pub use comm::{
    COMMS, Comm, CommRef, Edges, KeptComm, Plane, bad_handle, choice_of, close_creations, close_predefined,
    open_creations, open_predefined,
};
pub use heddle_message::{buffer, domain, error, program};
