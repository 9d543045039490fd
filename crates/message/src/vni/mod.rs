//! A VNI: one independent communication path of the process, with its own rings, matching
//! state and critical sections.
//!
//! | file | idea |
//! |---|---|
//! | `interface.rs` | the operations that other modules call, each of which enters the critical section |
//! | `core.rs` | the objects of a VNI, each behind its critical section; progress |
//! | `wire.rs` | the message kinds and what their fields mean |
//! | `message.rs` | a message to be sent, and one that has arrived and waits for its receive |
//! | `send.rs` | from a send to the wire: eager, synchronous, rendezvous; waiting for room in order |
//! | `peers.rs` | the sending sides of all ranks, made when they are first needed |
//! | `channel.rs` | the channel to one peer: its ring, and the messages that wait for room (`backlog.rs`) |
//! | `ring_access.rs` | access to the ring of a peer: within the channel's critical section, or without any |
//! | `receive.rs` | from the wire or the unexpected set to a receive |
//! | `checked` | protocol messages of peers, checked before they are followed |
//! | `direct.rs` | from the wire straight to a blocking receive |
//! | `express.rs` | the express path: small messages with the fewest instructions |
//! | `rendezvous_state.rs` | rendezvous state and deferred work: flushes, follow-ups, freed requests |
//! | `under_way.rs` | rendezvous transfers in progress |
//! | `rendezvous.rs` | the rendezvous protocol: single copy, or streaming in pieces |
//! | `remote_read.rs` | between machines: the receiver reads the data through the network |
//! | `split_copy.rs` | single copy by two cores: each side copies one half |
//! | `served_copy.rs` | copies from and to a peer's memory, which the peer makes itself |
//! | `method_choice.rs` | the choice of the quickest of these methods, by measurement |
//! | `unexpected.rs` | the memory of unexpected messages, and its bound |
//! | `moved.rs` | receives and messages that move from one VNI to another |
//! | `withdraw.rs` | cancelling sends |
//! | `history.rs` | questions which collective operations a peer has begun |
//! | `lost.rs` | the loss of a rank on another machine |
//! | `step.rs` | one step of progress |
//! | `task.rs`, `tasks.rs` | operations of several steps |
//! | `offload.rs` | the turns of offload threads |
//! | `trace.rs` | what tools learn of matching |
//! | `waiters.rs` | the threads that wait on a VNI |
//!
//! # Critical sections
//!
//! | level | critical section of | guards | entered by |
//! |---|---|---|---|
//! | 0 | arrivals | the rings that are read | a thread that polls: it only tries, except before it sleeps |
//! | 1 | matching shard, by context | posted receives, unexpected messages | receives, probes, self messages, arriving messages |
//! | 2 | rendezvous | rendezvous transfers, flushes, abandoned requests | only operations on these |
//! | 3 | channel, by peer | the ring to the peer, and its backlog of messages | each send, each message of a protocol |
//!
//! A thread enters critical sections only in the order of their levels (checked in debug builds). It leaves
//! the matching shard before it uses the receive or message that it found there, so data is copied outside.
//!
//! The code is the same for all granularities; the [`Sectioning`](heddle_model::Sectioning) says what a
//! critical section is. Under `per-object` each is a lock: a small send enters only that of its channel, a
//! receive only that of its context's matching shard. Under `lock-free` a small send enters none, and no
//! thread waits for a matching shard: an operation that finds it busy is queued, in order, for the thread
//! inside (`heddle_model::LockFree`). Under all other granularities these critical sections are nothing,
//! because one critical section guards the whole VNI: that of the VNI, which may be combining, or a wider
//! one. Therefore an operation is given to the VNI as a whole (the methods of [`Vni`]). Only a channel may be
//! apart (`heddle_model::Apart`): under `per-channel` it has a lock, which a small send enters without the
//! VNI's, and all else inside of that; below `MPI_THREAD_MULTIPLE` a small send enters it without any.
//!
//! **Order of messages.** Messages of one sender and context are matched in the order in which they lie in
//! the ring: the thread that reads the rings stays in the critical section of arrivals until each message is
//! matched, or queued for matching behind earlier ones. Messages to one peer leave in the order in which
//! their threads enter the channel's critical section: a message that finds no room holds back all messages
//! behind it. For `lock-free` see `ring_access.rs`.
//!
//! **No thread sleeps while there is work.** A thread that is about to sleep polls once more, and waits for
//! each critical section. If another thread adds a backlog or a pull after that, it rings the doorbell. A
//! thread adds a stream before it finds that there is no room for it, so a thread that is woken by new room
//! finds the stream. Under `lock-free` the polling thread does not wait for a critical section; it does not
//! sleep while another thread is inside. Operations that are left behind ring the doorbell.

/// Runs an operation on the core, inside of the VNI's critical section if it has one. The operation takes the
/// caller's values by value: another thread may run it, so borrowed values would have to lie in memory even
/// if no other thread does.
macro_rules! run {
    ($vni:expr, $path:ident, $core:ident => $operation:expr) => {
        match &$vni.state {
            VniState::Whole(state) => state.with(
                Path::$path,
                #[inline(always)]
                move |$core: &mut Core<Whole>| $operation,
            ),
            VniState::Parted($core) => apart(move || $operation),
            VniState::LockFree($core) => apart(move || $operation),
        }
    };
}

pub(crate) mod backlog;
pub(crate) mod channel;
mod checked;
pub(crate) mod core;
mod direct;
pub(crate) mod express;
mod history;
pub(crate) mod interface;
mod lost;
pub(crate) mod message;
mod method_choice;
mod moved;
mod offload;
mod peers;
pub(crate) mod receive;
mod remote_read;
mod rendezvous;
mod rendezvous_state;
pub(crate) mod ring_access;
pub(crate) mod send;
mod served_copy;
mod split_copy;
pub(crate) mod step;
pub(crate) mod task;
mod tasks;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod trace;
mod under_way;
pub(crate) mod unexpected;
mod waiters;
pub(crate) mod wire;
mod withdraw;

pub use direct::Direct;
pub use express::Probed;
pub use heddle_sync::queues::tasks::Advanced;
pub use heddle_transport::INLINE_BYTES;
pub use interface::Vni;
pub use message::{Message, SendArgs, eager_header};
pub use offload::TurnOutcome;
pub use rendezvous_state::Sequel;
pub use served_copy::ServedCopy;
pub use task::Task;
pub use waiters::{Due, LONGEST_SLEEP, LastPoll, WaitingThreads};
