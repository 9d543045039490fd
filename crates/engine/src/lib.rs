//! MPI without its C interface: communicators, matching, protocols, requests, collectives.
//!
//! The crate `heddle-abi` puts the standard's functions on top. Bodies return [`error::Result`]; handles are plain
//! words.
//!
//! | module | idea |
//! |---|---|
//! | `process` | what exists once `MPI_Init` has run; `settings` from the environment |
//! | `object_table`, `lifetime` | handles, and how long objects live |
//! | `errhandler`, `error_code`, `abort` | what becomes of an error |
//! | `comm`, `group`, `datatype` … | the objects |
//! | `request` | operations under way |
//! | `matching` | posted receives and unexpected messages |
//! | `vni` | protocols: from a send to the wire and from the wire to a receive |
//! | `own` | messages of a process to itself: when they leave their VNI for others, and when they come back |
//! | `progress` | waiting |
//! | `service` | threads of the library's own that make progress (execution `offload`) |
//! | `p2p`, `collective` | the operations |
//! | `statistics`, `tool` | what was counted, as a table and as the variables of MPI_T |
//!
//! Under `--cfg loom` there are those alone that the model checker explores, with their `loom_tests`; `fault` has the faults
//! that it has to find.

#[cfg(not(loom))]
pub mod abort;
#[cfg(not(loom))]
pub mod attribute;
#[cfg(not(loom))]
mod block_copy;
#[cfg(not(loom))]
pub mod buffer;
#[cfg(all(test, loom))]
mod canary;
#[cfg(not(loom))]
pub mod collective;
#[cfg(not(loom))]
pub mod comm;
#[cfg(not(loom))]
pub mod datatype;
#[cfg(not(loom))]
pub mod errhandler;
#[cfg(not(loom))]
pub mod error;
#[cfg(not(loom))]
pub mod error_code;
#[cfg(not(loom))]
mod error_text;
#[cfg(not(loom))]
pub mod external32;
#[cfg(not(loom))]
mod fairness;
mod fault;
#[cfg(not(loom))]
pub mod group;
#[cfg(not(loom))]
pub mod info;
pub mod lifetime;
#[cfg(not(loom))]
mod matching;
pub mod object_table;
#[cfg(not(loom))]
pub mod op;
mod own;
#[cfg(not(loom))]
pub mod p2p;
#[cfg(not(loom))]
pub mod process;
#[cfg(not(loom))]
mod progress;
#[cfg(loom)]
mod progress {
    #[cfg(test)]
    mod loom_tests;
    mod probers;
}
#[cfg(not(loom))]
pub mod request;
#[cfg(loom)]
mod request {
    #[cfg(test)]
    mod loom_tests;
    mod missing;
    pub(crate) mod names;
    mod state;
}
#[cfg(not(loom))]
mod service;
#[cfg(not(loom))]
pub mod settings;
#[cfg(not(loom))]
mod statistics;
#[cfg(not(loom))]
pub mod tool;
#[cfg(not(loom))]
pub mod topology;
#[cfg(not(loom))]
mod vni;
