//! What keeps communicators and datatypes alive while calls and requests use them: the choice `Lifetime` of the model.
//!
//! A program may free a communicator or a datatype as soon as it has begun its last operation with it (MPI 5.0, sections
//! 5.1.9 and 7.4.3; Goodell et al., Fig. 1). Until that is over something must keep the object.
//!
//! | lifetime | what a request does about its communicator and its datatype |
//! |---|---|
//! | `naive` | counts a reference to each, also to the predefined ones |
//! | `suppress` | counts a reference to each that is not predefined |
//! | `collect` | names them in its slot; freed objects are collected when no request names them |
//! | `none` | nothing: what is freed is never destroyed |
//!
//! Source: Goodell, Balaji, Buntinas, Dózsa, Gropp, Kumar, de Supinski and Thakur, "Minimizing MPI resource contention in
//! multithreaded multicore environments", CLUSTER 2010, DOI 10.1109/CLUSTER.2010.11. Their words: a *GCMO* is an object of a
//! table made by `Table::collected`; a *transient object* is a request or a call.
//!
//! | file | idea |
//! |---|---|
//! | `hold.rs` | what calls use, published by each thread for itself |
//! | `collector.rs` | the cycle: mark and sweep; when it runs |
//! | `counts.rs`, `section.rs` | counted references of requests, atomic or in a section |
//! | `chosen.rs` | the lifetime in use, and the collector of communicators and datatypes |
//!
//! Holds, the cycle and the table of objects are model-checked (`loom_tests`).
//!
//! # References, and who knows of them
//!
//! | holder | how | seen by the collector |
//! |---|---|---|
//! | the user | counted, until `MPI_Comm_free` or `MPI_Type_free` | in the count |
//! | another object (a matched message, a pending `MPI_Comm_idup`, an error on its way to its handler) | counted | in the count |
//! | a call | a *hold*: the handle, published in a place of the calling thread, where it may stay after the call | by a look at all threads' places |
//! | a request | a count, or under `collect` two words in its slot | in the count, or by a look at all slots |
//!
//! A datatype made from another one has a share (`Arc`) of that one's layout; no look is needed for those.
//!
//! Calls do not count in any lifetime, as in the paper's library. There a pointer suffices, for it trusts the program; here
//! a handle that another thread frees at this moment must be harmless, so the call says what it uses and looks only then
//! whether the handle is still valid. (That is a hazard pointer: Michael, "Hazard pointers: safe memory reclamation for
//! lock-free objects", IEEE TPDS 15(6), 2004. Its fence is left to the collector: [`heddle_platform::barrier`].)
//!
//! # Why the collector sees every reference
//!
//! A cycle looks, in this order, at: (1) the *eligible* objects: handle invalid, count one, the collector's; (2) after a
//! [`heavy`](heddle_platform::barrier::heavy) barrier all holds; (3) the states again: an object that is not as before is
//! left alone; (4) all requests' words; and (5) it claims what nobody names by an exchange that fails if the state is not as
//! it was at (1).
//!
//! Take an object that is claimed at (5), so it was eligible at (1), and any call that got hold of it.
//!
//! - Its thread published the handle, then found it valid; further calls found it published still. The handle was made
//!   invalid before (1). So if that first check came after the barrier of (2), it would have found the handle invalid; it
//!   came before, and by the barrier's guarantee the handle was visible at (2) unless it was cleared or replaced by then.
//!   Since the object was claimed, it was: after the last call that used it, for places in use are left alone.
//! - Clearing and replacing are stores with Release, read at (2) with Acquire (or they came before the barrier, which shows
//!   all that comes before). So **whatever the calls did is visible to steps 3 to 5**: that they made requests of the
//!   object. It does not matter who ran an operation for its caller: a thread that combines hands the result back, which
//!   orders its stores before the caller's; and before an operation is posted that may run after the call, its request
//!   exists and names its objects (`p2p::send::issue`).
//! - A request is thus seen at (4), and the words in it are those of its own life or, if it is over, of a later one, in
//!   which case nothing is needed any more. `request::take` and `request::set_buffer` write the words whenever a slot is
//!   used anew, so no false reference is left from its last use.
//! - A counted reference that was made of a hold is seen at (3), or was dropped before. One made of a request (only errors
//!   do that) never begins an operation. One that begins operations (a matched message, a call that ran out of places for
//!   holds) and is gone at (3) has left the request visible, for it was dropped after the request was made, by a change of
//!   the same word that (3) reads. One that exists at (3) changes the word.
//!
//! No request hands its datatype on to another one, so the look at the slots need not be of one moment.
//!
//! # Threads that are lost
//!
//! The paper's cycle holds the allocation lock: a thread that is cancelled or dies inside blocks all. Here nobody owns a
//! cycle. Each object is claimed by one exchange on its own state, the set of eligible objects is a bit for each slot,
//! free slots are a list without a lock, and that a cycle has begun is noted by moving the threshold on. So whatever a
//! thread leaves undone at any step, the next cycle does, in at most as many steps as there are slots; cycles may also
//! run at the same time. What is lost with a thread is the memory of the one object that it may be about to destroy, and
//! what its own holds name. (With `HEDDLE_REFERENCE_COUNTS=locked` the claim itself is inside a section, as all changes of
//! counts: that option is there for measuring the lock.)

mod collector;
pub mod hazard;
#[cfg(all(test, loom))]
mod loom_tests;

pub use collector::{Candidate, Collected, Collector, Requests};
