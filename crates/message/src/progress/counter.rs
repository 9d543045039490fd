//! Waiting by synchronization counters: one thread of a VNI polls, the others sleep
//! until their event happens.
//!
//! A waiting thread puts its [`Watcher`] into its requests (`heddle_objects::request`) or among the VNI's
//! probers, where the thread that causes the event finds it. Then it joins the VNI's waiting threads. The
//! first of them is the leader: it polls this VNI at every turn and the others now and then. The rest
//! sleep, and each is woken once, by its own event (`heddle_sync::leader`). A leader whose event has come
//! hands the role to one sleeper.
//!
//! The leader may be off its core, so no thread relies on it alone: the leaders of other VNIs poll
//! here, too, and a sleeper wakes now and then to poll. Under execution `offload` there is no leader:
//! all waiting threads sleep.

use super::OTHERS_EVERY;
use super::event::AwaitedEvent;
use super::sleep::asleep;
use super::wait::ended_promptly;
use crate::domain::Domain;
use crate::vni::{LONGEST_SLEEP, WaitingThreads};
use heddle_platform::atomic::Ordering;
use heddle_platform::clock;
use heddle_sync::leader::Progress;
use heddle_sync::sync_counter::Wake;
use heddle_sync::watched_state::Watch;
use heddle_sync::{Next, Scope, SyncCounter, Waiter, Watcher};
use std::cell::Cell;

/// The polls of a leader.
struct LeaderProgress<'a> {
    domain: &'a Domain,
    vni: u32,
    /// The counter of the leader's own event.
    counter: &'a SyncCounter,
    round: Cell<u32>,
    /// True if something happened while the leader was about to sleep.
    stirred: Cell<bool>,
}

impl Progress for LeaderProgress<'_> {
    fn poll(&self) -> bool {
        let round = self.round.get().wrapping_add(1);
        self.round.set(round);
        let happened = self.domain.calls().back_inside(|| {
            self.domain.poll(self.vni, 1)
                | (round.is_multiple_of(OTHERS_EVERY) && self.domain.progress_others(self.vni))
        });
        self.stirred.replace(false) | happened
    }

    fn idle(&self, _: Option<u64>) {
        // A thread or process that makes something happen rings the doorbell. So the leader
        // polls once more, then sleeps.
        let has_work =
            || self.domain.calls().back_inside(|| self.domain.poll_everywhere()) || self.counter.is_done();
        let ticket = self.domain.fabric().own_doorbell().prepare_unless(Scope::Machine, has_work);
        self.stirred.set(ticket.is_none_or(|ticket| asleep(self.vni, || ticket.park(Some(LONGEST_SLEEP)))));
    }

    fn follow(&self, sleep: impl FnOnce() -> Wake) -> Wake {
        asleep(self.vni, sleep)
    }
}

impl Domain {
    /// Returns when the event has happened; the caller has just polled for it in vain.
    #[cold]
    pub(super) fn wait_by_counter(&self, vni: u32, event: &mut dyn AwaitedEvent) {
        let waiting = self.attendance(vni);
        let waiters = waiting.fetch_add(1, Ordering::Relaxed) as usize + 1;
        if waiters != 1 || !self.comes_soon(vni, event) {
            while self.watch(vni, event) {
                if event.is_over() {
                    break;
                }
            }
        }
        waiting.fetch_sub(1, Ordering::Relaxed);
        if event.is_over() {
            ended_promptly(vni, event.awaited());
        } else {
            self.wait_slowly(vni, event);
        }
    }

    /// Returns true if the event happens while a lone waiter spins.
    fn comes_soon(&self, vni: u32, event: &mut dyn AwaitedEvent) -> bool {
        let mut waiter = Waiter::new(self.wait_policy(), 1);
        loop {
            let happened = self.poll(vni, 1);
            if event.is_over() {
                return true;
            }
            if happened {
                waiter.reset();
            } else if self.calls().outside(|| waiter.pause()) == Next::Park || waiter.has_yielded() {
                return false;
            }
        }
    }

    /// Waits for a signal of the event, or until the event has to be checked for another reason. Returns
    /// false if no thread would signal it.
    fn watch(&self, vni: u32, event: &mut dyn AwaitedEvent) -> bool {
        let watcher = event.watcher();
        // SAFETY: the watcher is taken out and leaves in this function.
        let watch = unsafe { event.watch(&watcher) };
        if watch == Watch::Set {
            self.wait_with_others(vni, event, &watcher);
        }
        event.unwatch(&watcher);
        watcher.leave(self.wait_policy());
        watch != Watch::Taken
    }

    fn wait_with_others(&self, vni: u32, event: &mut dyn AwaitedEvent, watcher: &Watcher) {
        let counter = watcher.counter();
        let progress =
            LeaderProgress { domain: self, vni, counter, round: Cell::new(0), stirred: Cell::new(false) };
        let longest_ns = LONGEST_SLEEP.as_nanos() as u64;
        if self.is_offloaded() {
            let wait = || counter.wait_until(self.wait_policy(), Some(clock::now_ns() + longest_ns));
            while asleep(vni, wait) != Wake::Done {
                if event.is_over() {
                    break;
                }
            }
            return;
        }
        let WaitingThreads(leadership) = &self.vni(vni).waiting_threads;
        self.calls().outside(|| {
            while !leadership.wait(counter, &progress, Some(clock::now_ns() + longest_ns)) {
                let over = self.calls().back_inside(|| {
                    self.poll_everywhere();
                    event.is_over()
                });
                if over {
                    break;
                }
            }
        });
    }
}
