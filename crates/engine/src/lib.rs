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
//! | `progress` | waiting |
//! | `service` | threads of the library's own that make progress (execution `offload`) |
//! | `p2p`, `collective` | the operations |
//! | `statistics`, `tool` | what was counted, as a table and as the variables of MPI_T |

pub mod abort;
pub mod attribute;
mod block_copy;
pub mod buffer;
pub mod collective;
pub mod comm;
pub mod datatype;
pub mod errhandler;
pub mod error;
pub mod error_code;
mod error_text;
pub mod external32;
mod fairness;
pub mod group;
pub mod info;
pub mod lifetime;
mod matching;
pub mod object_table;
pub mod op;
pub mod p2p;
pub mod process;
mod progress;
pub mod request;
mod service;
pub mod settings;
mod statistics;
pub mod tool;
pub mod topology;
mod vni;
