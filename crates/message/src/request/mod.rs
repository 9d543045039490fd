//! Requests: operations that are in progress.
//!
//! A request is a slot in a pool. The pool is never given back to the system, so any handle can be
//! looked up safely. A thread takes slots from its own cache and returns them there. A full or empty
//! cache exchanges batches of 128 slots with a common store, so threads that communicate rarely use
//! the store at the same time. Nonblocking sends that complete at once take no slot: they share one handle.
//!
//! ```text
//!           take                 complete              consume
//!   FREE ─────────▶ ACTIVE ───────────────▶ COMPLETE ──────────▶ FREE
//!                    ▲                          │ persistent
//!                    └────── start ── INACTIVE ◀┘
//! ```
//!
//! **Access.** A request is ACTIVE from issue to completion. During that time one thread has its [`InFlight`]
//! state. That thread may change the state, and it completes the request: it writes the [`Outcome`], stores
//! COMPLETE (Release), and does not touch the request again. From then on the request belongs to the thread
//! that waits for it or tests it. That thread takes the outcome and frees the slot.
//!
//! The in-flight state passes from thread to thread, and from one critical section to another (`vni/mod.rs`
//! lists them). Under `per-object` and `lock-free` each critical section has a separate lock. The following
//! table then guarantees that only one thread has an in-flight state.
//!
//! | operation | the in-flight state belongs to | it passes on |
//! |---|---|---|
//! | not issued yet | the issuing thread | when the operation is issued |
//! | receive, posted or left to be posted | the matching shard of its context | to the thread there that matches or cancels it |
//! | receive, matched | the thread that matched it | by completion; to the list of pulls; or with a request for data |
//! | receive, to be pulled | the rendezvous critical section | to the thread that takes it out of the list, and copies |
//! | receive in pieces | the critical section of arrivals, where pieces are read | by completion, with the last piece |
//! | receive by split copy | the rendezvous critical section | to the thread that notes there the end of the second half |
//! | send that waits for room | the critical section of the channel | by completion; or with the message that names it |
//! | send, offered to its receiver | that of arrivals, where the answer is read | by completion; to the list of streams or of pushes |
//! | send that is withdrawn | that of arrivals; once matched, as any other send | by completion, after answer and transfer |
//! | send that is streamed | the rendezvous critical section | by completion, with the last piece |
//! | send whose half is pushed | that of arrivals; the copy needs no state | by completion: the answer comes after the copy |
//! | self message that waits | the matching shard of its context | to the thread that takes the message out |
//! | joint request | its missing parts: each writes a separate field | by completion, with the last part |
//! | collective or partitioned operation | its task | by completion |
//! | request that waits for buffered sends | the rendezvous critical section | by completion |
//!
//! Within a process the critical sections order these steps. If a message to a peer hands the in-flight state
//! over, the peer's answer orders them: both processes publish messages with Release and read them with
//! Acquire, so the thread that reads the answer sees all that was stored before the message left. The sending
//! thread writes the in-flight state before it sends the message, and does not touch it afterwards.
//! (`hand_over` and `take_over` give the same order within the process, which is all that a sanitizer sees.)
//!
//! [`Ownership`] belongs to the issuing thread and, after the call has returned, to the thread that has
//! the handle. The protocols only read `detached` and `joint`, which do not change after the request is
//! issued. No thread waits for a *detached* request; the thread that completes it frees it. A request
//! that the program frees while it is active is *abandoned*: the VNI keeps it until it is complete
//! (`vni/rendezvous_state.rs`), so that a completion needs no exchange with a thread that may free. The
//! program may complete and free a generalized request at the same time; both are done in the
//! rendezvous critical section.
//!
//! At most 2^24 requests exist at once, fewer if addresses or memory are limited. To take a request can fail
//! ([`OutOfRequests`]). So an operation takes all requests that it needs before it begins, and a failure
//! leaves nothing half done.
//!
//! A request names its communicator and its datatype in two words of its slot, which `take` and `set_buffer`
//! write. A collection of freed objects reads these words (`heddle_objects::lifetime`).
//!
//! | file | idea |
//! |---|---|
//! | `kind.rs` | the number of a request, and what it is for |
//! | `life.rs` | issue, completion and release |
//! | `lookup.rs` | from a handle to a request |
//! | `in_flight.rs` | the state of an active operation |
//! | `outcome.rs` | the result of an operation |
//! | `joint.rs` | requests that complete with their parts |
//! | `attachment.rs` | what a request can carry: the template of a persistent one, the callbacks of a generalized one |
//! | `awaiting.rs` | requests that wait for a word of their peer |
//! | `counts.rs` | references to communicators and datatypes that requests count |
//! | `plain.rs` | the short path for a complete request that only has to be released |
//! | `pool.rs` | taking a slot for an operation, and returning it |
//! | `slot.rs` | what a slot holds, and the slots of the process |
//! | `cache.rs` | the free slots, and each thread's cache of them |
//! | `region.rs` | the memory of the slots |
//!
//! The state word of a request and the words for its communicator and datatype are `heddle_objects::request`.

mod attachment;
mod awaiting;
mod cache;
mod counts;
mod in_flight;
mod joint;
mod kind;
mod life;
mod lookup;
mod outcome;
mod plain;
mod pool;
mod region;
mod slot;

pub use attachment::{Attachment, Canceller};
pub(crate) use awaiting::{await_nobody, await_peer, claim as claim_awaiting, claim_all, comm_word};
pub use cache::{configure, is_for_every_send};
pub use counts::{ReferenceCounts, count_references, requests_count};
pub use heddle_objects::request::{are_watchers_signalled, signal_watchers};
pub use in_flight::{InFlight, Ownership, Stage};
pub use joint::{complete_part, expect_parts};
pub use kind::{RequestId, RequestKind};
pub use life::{
    activate, claim, complete, complete_received, consume, consume_alone, consume_with, context_of,
    deactivate, find_active, hand_over, in_flight, is_complete, is_inactive, make_persistent, outcome, owner,
    peer_of, set_buffer, set_owner_of_errors, set_vni, stage, unwatch, vni_of, watch,
};
pub(crate) use life::{announce_send, is_last_part, key_of_send};
pub use lookup::{
    Found, SEND_DONE, comm_of, find, forget_handle, handle, handle_of_index, inactive, started,
};
pub use outcome::{Outcome, PartOver};
pub use plain::{Plain, Tested, claim_plain, rest, test};
pub use pool::{Fresh, release, take, take_detached, take_express, take_many_detached};
pub use region::OutOfRequests;
pub use slot::{complete_and_not_freed, roots};
