//! Requests: operations that are under way.
//!
//! A request is a slot in a pool that is never given back to the system, so that any handle can be looked up safely.
//! Slots are taken from and returned to a cache of the calling thread, in batches of 128 from a common store: threads
//! that communicate do not meet here.
//!
//! ```text
//!           take                 complete              consume
//!   FREE ─────────▶ ACTIVE ───────────────▶ COMPLETE ──────────▶ FREE
//!                    ▲                          │ persistent
//!                    └────── start ── INACTIVE ◀┘
//! ```
//!
//! **Who may touch what.** A request is ACTIVE from issue to completion. The thread that has its
//! `InFlight` may touch that and complete the request: write the `Outcome`, then store COMPLETE (Release), and touch nothing of it any more. From
//! then on it belongs to the thread that waits for it or tests it, which takes the outcome and frees the slot.
//!
//! The in-flight state goes from thread to thread; the critical sections are those of `vni/mod.rs`. Where each has a lock of
//! its own, this table is what keeps two threads from one in-flight state.
//!
//! | an operation that | has its in-flight state with | from there it goes on |
//! |---|---|---|
//! | is not issued yet | the thread that issues it | |
//! | receives, and is posted, or left to be posted | the section of its context's matching | to who takes it out: matches it, or cancels it, both inside that section |
//! | receives, and was matched | the thread that matched it | by completion; into the list of pulls; with the message that asks for pieces or a half |
//! | is to be pulled | the section of large messages | to who takes it out of the list, and copies |
//! | receives pieces, which it asked for | the section of arrivals, where pieces are read | by completion, with the last one |
//! | receives by split copy | the section of large messages | to who notes there that the second half is over |
//! | sends, and waits for room | the section of the channel to the peer | onto the wire, by completion or with the message that names it |
//! | sends, and its receiver was told of it | the section of arrivals, where the answer is read | by completion; into the list of streams or of pushes |
//! | sends, and is withdrawn | the section of arrivals, unless its receiver has matched it; then as any other | by completion, with the answer or with the end of the transfer, whichever is the second |
//! | is streamed | the section of large messages | by completion, with the last piece |
//! | is pushed | as before: the copy knows what it needs, and the receiver answers after it only | |
//! | sends to its own process, and waits | the section of its context's matching | to who takes the message out |
//! | is a joint one | the parts that are missing: each has a place of its own in it | by completion, with the last part |
//! | waits for buffered sends | the section of large messages | by completion |
//!
//! Within a process each step is ordered by its critical section. Where a message to a peer hands the in-flight state over, the
//! order comes from the answer: both processes publish messages with Release and read them with Acquire, so the thread that
//! reads the answer sees what was stored before the message left. The thread that sends such a message writes the in-flight
//! state before, and does not touch it after. (`hand_over` and `take_over` give the same order within the process, which is
//! all that a sanitizer sees.)
//!
//! `Ownership` belongs to who issued the request and, when that has returned, to who has the handle: the protocols read
//! `detached` and `joint` only, which are fixed before the request is issued. Such a *detached* request nobody waits for: the
//! completer frees it. One that the program frees while it is under way is *abandoned*: the VNI keeps it until it is
//! complete (`vni/rendezvous_state.rs`), so that completing needs no exchange with a thread that may free. What the program
//! completes itself (a generalized request) it may free at the same time; for these both are done in the section of
//! large messages.
//!
//! There are at most 2^24 requests at once, fewer where addresses or memory are limited. What takes one can fail
//! ([`OutOfRequests`]): before anything has happened, so an operation takes all that it needs before it begins.
//!
//! A request names its communicator and its datatype in two words of its slot: `take` and `set_buffer` write them, and
//! `lifetime` says what that is good for.
//!
//! | file | idea |
//! |---|---|
//! | `life.rs` | issue, completion and release |
//! | `lookup.rs` | from a handle to a request |
//! | `in_flight.rs` | the state of an active operation |
//! | `outcome.rs` | the result of an operation |
//! | `joint.rs` | requests that complete with their parts |
//! | `attachment.rs` | what a request can carry: the template of a persistent one, the callbacks of a generalized one |
//! | `counts.rs` | references to communicators and datatypes that requests count |
//! | `plain.rs` | the short path for a complete request that needs nothing but to be released |
//! | `pool.rs` | taking a slot for an operation, and returning it |
//! | `slot.rs` | what a slot holds, and the slots of the process |
//! | `cache.rs` | the free slots, and each thread's cache of them |
//! | `region.rs` | the memory of the slots |
//!
//! The state word of a request and the words for its communicator and datatype are `heddle_objects::request`.

mod attachment;
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
pub use cache::configure;
pub use counts::{ReferenceCounts, count_references, requests_count};
pub use heddle_objects::request::{are_watchers_signalled, signal_watchers};
pub use in_flight::{InFlight, Ownership, Stage};
pub use joint::{complete_part, expect_parts};
pub use kind::{RequestId, RequestKind};
pub use life::{
    activate, claim, complete, complete_received, consume, consume_alone, consume_with, context_of,
    deactivate, find_active, hand_over, in_flight, is_complete, is_inactive, outcome, owner, peer_of,
    set_buffer, set_owner_of_errors, set_vni, stage, unwatch, vni_of, watch,
};
pub(crate) use life::{announce_send, is_last_part, key_of_send};
pub use lookup::{Found, SEND_DONE, comm_of, find, handle, handle_of_index};
pub use outcome::{Outcome, PartOver};
pub use plain::{Plain, claim_plain};
pub use pool::{Fresh, release, take, take_detached, take_express, take_many_detached};
pub use region::OutOfRequests;
pub use slot::roots;
