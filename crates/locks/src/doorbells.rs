//! Several doorbells, so that a release wakes one waiter of many.
//!
//! The waiters of a queue lock wait for different events, each for its turn. With one [`Doorbell`] for
//! all of them every release would wake them all. Here an event has a *key* (a ticket's number, a node's
//! address), and each key belongs to one of [`COUNT`] doorbells. A ring for a key without sleepers costs
//! a load, as with a single doorbell. If two keys share a doorbell, a ring may wake a thread for
//! nothing; it does no other harm.
//!
//! The doorbells lie in the lock and not in its nodes for a reason: when a releaser has handed the lock over,
//! the successor may have left and its node may be gone before the releaser has rung. The key is a number;
//! ringing does not access the node.

use heddle_platform::{Native, Platform, Scope};
use heddle_sync::doorbell::Doorbell;
use heddle_sync::wait::{Waiter, time_left};
use heddle_sync::{Next, node};
use std::ptr::NonNull;
use std::time::Duration;

/// The number of doorbells. (Small in models, because each one is work for the checker.)
pub const COUNT: usize = if cfg!(loom) { 2 } else { 16 };

/// See the [module](self).
#[derive(Debug, Default)]
pub struct Doorbells<P: Platform = Native> {
    doorbells: [Doorbell<P>; COUNT],
}

impl<P: Platform> Doorbells<P> {
    /// Wakes the threads that sleep for `key`. Call it after the store that makes the event visible, as with
    /// [`Doorbell::ring`].
    #[inline(always)]
    pub fn ring(&self, key: usize) {
        self.of(key).ring(Scope::Process);
    }

    /// Waits until `came` returns true, or until [`Platform::now_ns`] has reached the deadline; then it calls
    /// `came` once more. Returns the last answer.
    #[inline]
    pub fn wait(
        &self,
        key: usize,
        waiter: &mut Waiter<P>,
        deadline_ns: Option<u64>,
        mut came: impl FnMut() -> bool,
    ) -> bool {
        while !came() {
            if time_left::<P>(deadline_ns) == Some(Duration::ZERO) {
                return came();
            }
            if waiter.pause() == Next::Park {
                return self.sleep(key, deadline_ns, came);
            }
        }
        true
    }

    /// Continues a [`wait`](Self::wait) whose spins and yields found nothing: sleeps.
    #[cold]
    pub(crate) fn sleep(&self, key: usize, deadline_ns: Option<u64>, mut came: impl FnMut() -> bool) -> bool {
        while !came() {
            let remaining = time_left::<P>(deadline_ns);
            if remaining == Some(Duration::ZERO) {
                return came();
            }
            match self.of(key).prepare_unless(Scope::Process, &mut came) {
                Some(ticket) => ticket.park(remaining),
                None => return true,
            };
        }
        true
    }

    #[inline(always)]
    fn of(&self, key: usize) -> &Doorbell<P> {
        &self.doorbells[key % COUNT]
    }
}

/// The key of a node that came from [`node::take`]. In models each node
/// is an allocation, and addresses differ between executions that have to be equal; there all
/// nodes have the same key.
#[inline(always)]
pub(crate) fn key_of<P: Platform, N>(node: NonNull<N>) -> usize {
    if P::REUSES_MEMORY { node.addr().get() / node::BLOCK_BYTES } else { 0 }
}
