//! The message path between processes: rings in memory that those of one machine share, and the network
//! between machines.
//!
//! A [`Fabric`] is one process's view of the job. For each VNI it hands out one [`Outbox`] a
//! peer (what this process sends there) and one [`Inbox`] (what it receives); all need exclusive access,
//! which the critical sections of `heddle-message` give them, so inside there is exactly one producer and one
//! consumer per ring and no atomic read-modify-write. A [`SharedOutbox`] is the exception: many threads send
//! through it at once, for one compare-and-swap a message.
//!
//! ```text
//!   sender's Outbox ── Producer ──▶ ring (64-byte slots + bulk bytes) ──▶ Consumer ── receiver's Inbox
//!                          ▲                                                 │
//!                          └──────────── credits, returned lazily ───────────┘
//! ```
//!
//! What a message means (eager, rendezvous, matching) is the business of `heddle-message`: here a message is
//! a [`Header`] and bytes, delivered in order per (sender, receiver, VNI).
//!
//! The crate stands on `heddle-bootstrap`, which has the job's memory, on `heddle-libfabric`, on
//! `heddle-sync` and on `heddle-platform`. `heddle-message` sends with it, and `heddle-window` shares memory
//! and copies with it.
//!
//! | file | idea |
//! |---|---|
//! | `slot.rs` | one cache line: header, up to 40 bytes of payload, and the flag that says it is there |
//! | `ring` | producer and consumer of one ring; credits |
//! | `geometry.rs` | the layout of the shared segment |
//! | `fabric` | attaching to the segment; connections; the doorbells that wake sleeping threads |
//! | `fabric/ports.rs` | the network, as the protocols above use it |
//! | `error.rs` | errors of the start |
//! | `failure.rs` | failures that end a job in the middle of its messages |
//! | `losses.rs`, `lost_ranks.rs` | the ranks of other machines that are lost, and how protocols ask for them |
//! | `presence.rs` | which processes have started, and which need their peers to fence |
//! | `stores.rs` | how data are stored for a reader on another core |
//! | `throttle.rs` | flow control of unexpected messages |
//! | `shared.rs` | the producer of a ring for many threads |
//! | `outbox.rs` | the rings of one VNI to its peers: `Outbox`, `SharedOutbox` |
//! | `inbox.rs` | the rings from them: `Inbox` |
//! | `modelled.rs`, `tracked.rs` | a ring for the model checker, and memory that it follows |
//! | `network` | ports to other machines, through libfabric |
//! | `single_copy.rs` | large messages: one copy, straight from the sender's memory |
//! | `vectored_copy.rs` | the same for many pieces of the other process's memory |
//! | `shared_memory.rs` | memory that a process allocates and others map: windows |

// Under the model checker this crate has only the rings: loom's atomics do not fit the
// layout of the shared segment.
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod fabric;
mod failure;
#[cfg(not(loom))]
mod geometry;
#[cfg(not(loom))]
mod inbox;
#[cfg(not(loom))]
mod losses;
#[cfg(not(loom))]
mod lost_ranks;
#[cfg(loom)]
pub mod modelled;
#[cfg(not(loom))]
mod network;
#[cfg(not(loom))]
mod outbox;
#[cfg(not(loom))]
mod presence;
mod ring;
mod shared;
#[cfg(not(loom))]
mod shared_memory;
#[cfg(not(loom))]
pub mod single_copy;
mod slot;
mod stores;
mod throttle;
#[cfg(loom)]
mod tracked;
#[cfg(not(loom))]
pub mod vectored_copy;

#[cfg(not(loom))]
pub use error::TransportError;
#[cfg(not(loom))]
pub use fabric::Fabric;
pub use failure::{Fail, Failure, Garbage};
#[cfg(not(loom))]
pub use geometry::{Geometry, LONGEST_PAYLOAD};
#[cfg(not(loom))]
pub use inbox::Inbox;
#[cfg(not(loom))]
pub use losses::{LOST, Survives};
#[cfg(not(loom))]
pub use network::{Alike, CopyDirection, Exposed, Network, NetworkChoice, RemoteCopy, Strangers};
#[cfg(not(loom))]
pub use network::{Handler, LONGEST_REQUEST, OneSided, Polled, Request};
#[cfg(not(loom))]
pub use outbox::{Outbox, RingAccess, SharedOutbox};
pub use ring::{Consumer, Incoming, Offered, Producer};
#[cfg(not(loom))]
pub use shared_memory::{SharedMemory, SharedRange};
pub use slot::{EXTRA_BYTES, Envelope, Header, INLINE_BYTES};
pub use stores::{StoreChoice, Stores};
pub use throttle::{FlagChange, Throttle, Traffic};
