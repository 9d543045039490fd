//! The arguments of MPI functions as their bodies get them: what C passes as a bare pointer comes with checks.
//!
//! Every type here wraps a pointer from C and is made by an unsafe function, in the entry points alone. A null pointer
//! is an error when it is used, except where the standard gives it a meaning. Buffers of data, addresses, attribute
//! values and the program's own state stay bare pointers.

mod callback;
mod counts;
mod list;
mod out;
mod status;
mod text;

pub(crate) use callback::Callback;
pub(crate) use counts::{CountOut, Counts};
pub(crate) use list::{List, ListOut};
pub(crate) use out::{Out, pointed_to};
pub(crate) use status::StatusOut;
pub(crate) use text::{Text, TextOut};
