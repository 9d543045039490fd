//! How communicators and datatypes stay alive while calls and requests use them: the choice `Lifetime` of the
//! model.
//!
//! A program may free a communicator or a datatype as soon as it has begun its last operation with it (MPI
//! 5.0, sections 5.1.9 and 7.4.3; Goodell et al., Fig. 1). Until that operation is complete, something must
//! keep the object.
//!
//! | lifetime | what a request does about its communicator and its datatype |
//! |---|---|
//! | `naive` | counts a reference to each, also to the predefined ones |
//! | `suppress` | counts a reference to each that is not predefined |
//! | `collect` | names them in its slot; freed objects are collected when no request names them |
//! | `none` | nothing: freed objects are never destroyed |
//!
//! Source: Goodell, Balaji, Buntinas, Dózsa, Gropp, Kumar, de Supinski and Thakur, "Minimizing MPI resource
//! contention in multithreaded multicore environments", CLUSTER 2010, DOI 10.1109/CLUSTER.2010.11. Their
//! words: a *GCMO* is an object of a table made by `Table::collected`; a *transient object* is a request or a
//! call.
//!
//! | file | idea |
//! |---|---|
//! | `hazard.rs` | hazard slots: each thread publishes the handles that its calls use |
//! | `collector` | the cycle: mark and sweep; when it runs |
//!
//! `heddle-comm` has the lifetime in use with its collector (`lifetime.rs`), and the counted references of
//! requests (`reference_counts.rs`). Hazard slots, the cycle and the table of objects are model-checked
//! (`loom_tests`).
//!
//! # References, and how the collector sees them
//!
//! | holder | how | seen by the collector |
//! |---|---|---|
//! | the user | counted, until `MPI_Comm_free` or `MPI_Type_free` | in the count |
//! | a matched message, a pending `MPI_Comm_idup`, an error on its way to its handler | counted | in the count |
//! | a call | a hazard slot of its thread has the handle, also after the call | it reads all hazard slots |
//! | a request | counted, or under `collect` two words in its slot | in the count, or it reads all slots |
//!
//! A datatype made from another one shares that one's layout (`Arc`), which the collector need not know.
//!
//! Calls count references in no lifetime, as in the paper's library. That library uses a plain pointer,
//! because it trusts the program. Here a handle that another thread frees at this moment must be harmless, so
//! the call first publishes the handle and then checks that it is still valid. (That is a hazard pointer:
//! Michael, "Hazard pointers: safe memory reclamation for lock-free objects", IEEE TPDS 15(6), 2004. The
//! collector issues its fence: [`heddle_platform::barrier`].)
//!
//! # Why the collector sees every reference
//!
//! A cycle takes these steps in order. (1) It finds the *eligible* objects: the handle is invalid, and the
//! only reference is the collector's. (2) It issues a [`heavy`](heddle_platform::barrier::heavy) barrier and
//! reads all hazard slots. (3) It reads the objects' states again, and leaves alone each object whose state
//! has changed. (4) It reads all requests' words. (5) It claims each object that nothing names, by an
//! exchange that fails if the state is not the one of (1).
//!
//! Take an object that is claimed at (5), and so was eligible at (1), and any call that used it.
//!
//! - The call's thread published the handle, then found it valid; later calls found it still published. The
//!   handle became invalid before (1). A first check after the barrier of (2) would have found it invalid, so
//!   the check came before the barrier. By the barrier's guarantee the handle was then visible at (2), unless
//!   the slot had been cleared or reused. The claim succeeded, so the slot had been cleared or reused, which
//!   happens only after the last call that uses the object.
//! - Clearing and reusing are stores with Release, which (2) reads with Acquire (or they came before the
//!   barrier, which makes visible all that came before it). So **steps 3 to 5 see everything that the calls
//!   did**, above all the requests that they made. It does not matter which thread ran an operation for its
//!   caller. A combining thread hands the result back, which orders its stores before the caller's; and the
//!   request of a posted operation, which may run after the call, exists and names its objects before the
//!   operation is posted.
//! - Step (4) therefore sees the request. Its words are those of the request itself or, once it is complete,
//!   of a later request in the same slot; then the object is no longer needed. Each new use of a slot writes
//!   the words, so no stale name is left.
//! - A counted reference made by a protected call is seen at (3), or was dropped before. One made through a
//!   request (only errors do that) never begins an operation. One that begins operations (a matched message,
//!   a call that ran out of hazard slots) and is gone at (3) was dropped after its request was made, by a
//!   change of the word that (3) reads; so the request is visible. One that exists at (3) has changed the
//!   word.
//!
//! No request passes its datatype on to another request, so (4) need not read all slots at one moment.
//!
//! # Threads that are lost
//!
//! The paper's cycle holds the allocation lock, so a thread that is cancelled or dies inside it blocks all
//! others. Here no thread owns a cycle. One exchange on its state claims an object; a bit for each slot
//! marks the eligible objects; the list of free slots has no lock; a cycle that begins moves the threshold
//! on. The next cycle does what a lost thread left undone, in a number of steps bounded by the number of
//! slots, and cycles may run at the same time. A lost thread leaks the one object that it was about to
//! destroy, and the objects that its hazard slots name. (With `HEDDLE_REFERENCE_COUNTS=locked` the claim is
//! inside a critical section, like all changes of counts; that option exists to measure the lock.)

mod collector;
pub mod hazard;
#[cfg(all(test, loom))]
mod loom_tests;

pub use collector::{Candidate, Collected, Collector, Requests, Step};
