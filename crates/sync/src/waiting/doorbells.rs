//! A few doorbells, so that one waiter of many can be woken by name.
//!
//! The waiters of a queue lock wait for different events: each for its own turn. With one [`Doorbell`] for all of
//! them every release would wake them all. Here an event has a *key* (a ticket's number, a node's address)
//! and each key belongs to one of [`COUNT`] doorbells; who rings for a key that nobody sleeps for pays a load, as
//! with a single doorbell. Two keys that share a doorbell cost a needless wake-up, nothing else.
//!
//! The doorbells lie in the lock and not in its nodes, and that is the point: when a releaser has handed the lock
//! over, the successor may be through and its node gone before the releaser has rung. The key is a number,
//! not an access.

use crate::waiting::doorbell::Doorbell;
use crate::waiting::wait::{Next, Waiter, time_left};
use heddle_platform::{Native, Platform, Scope};
use std::ptr::NonNull;
use std::time::Duration;

/// How many doorbells. (Few in models, each being work for the checker.)
pub const COUNT: usize = if cfg!(loom) { 2 } else { 16 };

/// See the [module](self).
#[derive(Debug, Default)]
pub struct Doorbells<P: Platform = Native> {
    doorbells: [Doorbell<P>; COUNT],
}

impl<P: Platform> Doorbells<P> {
    /// Wakes who sleeps for `key`. Call it after the store that makes the event visible, as with
    /// [`Doorbell::ring`].
    #[inline(always)]
    pub fn ring(&self, key: usize) {
        self.of(key).ring(Scope::Process);
    }

    /// Waits until `came` says so, or until [`Platform::now_ns`] has reached the deadline; then `came` is
    /// asked once more. Returns its last answer.
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

    /// As [`wait`](Self::wait), from where there has been nothing for long.
    #[cold]
    pub(crate) fn sleep(&self, key: usize, deadline_ns: Option<u64>, mut came: impl FnMut() -> bool) -> bool {
        let mut ticket = self.of(key).prepare(Scope::Process);
        while !came() {
            let remaining = time_left::<P>(deadline_ns);
            if remaining == Some(Duration::ZERO) {
                return came();
            }
            ticket.park(remaining);
        }
        true
    }

    #[inline(always)]
    fn of(&self, key: usize) -> &Doorbell<P> {
        &self.doorbells[key % COUNT]
    }
}

/// The key of a node that came from [`node::take`](crate::memory::node::take). Where each node is an
/// allocation of its own, as in models, all have the same: their addresses differ between executions that
/// have to be equal.
#[inline(always)]
pub(crate) fn key_of<P: Platform, N>(node: NonNull<N>) -> usize {
    if P::REUSES_MEMORY { node.addr().get() / crate::memory::node::BLOCK_BYTES } else { 0 }
}
