//! The part of libfabric that Heddle uses: reliable datagram endpoints of any provider.
//!
//! The library is opened when the first endpoint is wanted, so a job on one machine needs none. All its
//! objects are tables of functions behind pointers; this crate describes them (`abi.rs`) and wraps them in
//! types that keep each other alive.
//!
//! ```text
//!   Library ──▶ Provider ──▶ Endpoint ── send, inject, receive; expose, read, write
//!   (opened)    (a network     │   └──── poll: what is complete
//!                and how)      └──────── a domain, an address vector and a completion queue of its own
//! ```
//!
//! Each endpoint has a domain of its own and asks for the threading level in which the provider takes no lock
//! (`FI_THREAD_DOMAIN`): one thread at a time may use an endpoint. Methods take `&mut self`.

mod abi;
mod endpoint;
mod error;
pub mod guard;
#[cfg(test)]
mod layout;
mod library;
mod object;
mod registered;

pub use endpoint::{Address, Completion, Endpoint, EndpointObjects, RemoteMemory, Submission};
pub use error::{Error, LostOperation};
pub use library::{Depth, Library, Provider, Wish};
pub use registered::Registered;

/// The bytes in front of each operation's memory that the provider may use while the operation lasts
/// (`struct fi_context2`).
pub const CONTEXT_BYTES: usize = 64;
