//! A VNI: one independent communication path of the process, with its own rings, matching state and sections.
//!
//! | file | idea |
//! |---|---|
//! | `core.rs` | the objects of a VNI, each behind its critical section; progress |
//! | `wire.rs` | the message kinds and what their fields mean |
//! | `send.rs` | from a send to the wire: eager, synchronous, rendezvous; waiting for room in order |
//! | `ring_access.rs` | access to the ring of a peer: within the channel's critical section, or without any |
//! | `receive.rs` | from the wire or the unexpected set to a receive |
//! | `checked.rs` | protocol messages of peers, checked before they are followed |
//! | `direct.rs` | from the wire straight to a blocking receive |
//! | `express.rs` | the express path: small messages with the fewest instructions |
//! | `rendezvous_state.rs` | rendezvous state and deferred work: flushes, follow-ups, freed requests |
//! | `rendezvous.rs` | the protocol of large messages: single copy, or streaming in pieces |
//! | `split_copy.rs` | single copy by two cores: each side copies one half |
//! | `transfer_method.rs` | which of these methods: the quickest, by measurement |
//! | `unexpected.rs` | the memory of unexpected messages, and its bound |
//! | `withdraw.rs` | cancelling sends |
//! | `step.rs` | one step of progress |
//! | `offload.rs` | the same, for an offload thread |
//!
//! # Sections
//!
//! | level | section of | guards | entered by |
//! |---|---|---|---|
//! | 0 | arrivals | the rings that are read | who looks for messages: by trying, and for certain before it sleeps |
//! | 1 | matching, by context | posted receives, unexpected messages | receives, probes, sends to oneself, each message that arrives |
//! | 2 | large messages | everything of rendezvous; flushes; abandoned requests | these only |
//! | 3 | channel, by peer | the ring to it, and what waits for room there | each send, each message of a protocol |
//!
//! A thread enters sections in the order of their levels only (checked in debug builds), and leaves the matching before it
//! does anything with what it has found: data is copied outside of it.
//!
//! The code is the same for all granularities; what a section is depends on the [`Sectioning`](heddle_model::Sectioning).
//! Under `per-object` each is a lock: a small send enters that of its channel and nothing else, a receive that of its
//! context's matching. Under `lock-free` a small send enters none, and nobody waits for the matching: what is to be done there
//! is left to who is inside, on a way that keeps its order (`heddle_model::LockFree`). Under all others they are nothing, and the whole VNI is guarded: by a section of its own, which may
//! be combining, or by something wider. An operation is therefore given to the VNI as a whole (the methods of [`Vni`]).
//!
//! **Order of messages.** Those of one sender and context are matched in the order in which they lie in the ring, since
//! whoever reads the rings stays in the section of arrivals until each is matched, or left to be matched behind what was left
//! before. Those to one peer leave in the order in which they enter the channel's section, since what finds no room there
//! keeps back all behind it; for `lock-free` see `ring_access.rs`.
//!
//! **Nobody sleeps over work.** Who is about to sleep looks once more and waits for each section. What another thread
//! begins to keep after that (a backlog, a pull) rings the doorbell; a stream is known to be there before its thread finds
//! that there is no room for it, so whoever is woken by new room finds it. Under `lock-free` who looks does not wait for a
//! section but does not sleep either while somebody is inside; operations that are left behind ring the doorbell.

/// Runs an operation on the core, inside of the VNI's section if it has one. What the operation names of the caller's it
/// takes by value, since another thread may run it: what is borrowed would have to lie in memory, also where none does.
macro_rules! run {
    ($vni:expr, $path:ident, $core:ident => $operation:expr) => {
        match &$vni.state {
            State::Whole(state) => state.with(
                Path::$path,
                #[inline(always)]
                move |$core: &mut Core<Whole>| $operation,
            ),
            State::Parted($core) => apart(move || $operation),
            State::LockFree($core) => apart(move || $operation),
        }
    };
}

#[cfg(test)]
mod cancelled;
mod channel;
mod checked;
pub(crate) mod core;
mod direct;
mod express;
#[cfg(test)]
mod flood;
pub(crate) mod interface;
#[cfg(test)]
mod many_threads;
pub(crate) mod message;
mod offload;
#[cfg(test)]
pub(crate) mod ranks;
pub(crate) mod receive;
mod rendezvous;
mod rendezvous_state;
pub(crate) mod ring_access;
pub(crate) mod send;
mod split_copy;
mod step;
#[cfg(test)]
mod stopped;
mod transfer_method;
mod under_way;
pub(crate) mod unexpected;
mod waiters;
mod wire;
mod withdraw;

pub use direct::Direct;
pub use heddle_transport::INLINE_BYTES;
pub use interface::Vni;
pub use message::{Message, SendArgs, eager_header};
pub use offload::Served;
pub use rendezvous_state::Sequel;
pub use waiters::{LONGEST_SLEEP, LastPoll, WaitingThreads};
