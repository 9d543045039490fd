//! Groups, contexts, communicators and caching.
//!
//! | file | functions |
//! |---|---|
//! | `group.rs` | groups |
//! | `create.rs` | making and freeing communicators |
//! | `query.rs` | questions about a communicator: rank, size, comparison, hints |
//! | `name.rs` | names of objects |
//! | `keyval.rs` | keyvals |
//! | `attribute.rs` | attributes |

mod attribute;
mod create;
mod group;
mod keyval;
mod name;
mod query;

pub(crate) use attribute::*;
pub(crate) use create::*;
pub(crate) use group::*;
pub(crate) use keyval::*;
pub(crate) use name::*;
pub(crate) use query::*;
