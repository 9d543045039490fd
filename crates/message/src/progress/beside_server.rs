//! Waiting beside an offload thread.
//!
//! The offload thread of a VNI runs what the waiting thread has posted. On a core of its own it does so
//! within the spin of the wait. With more threads than cores it has to be given a core first, and each
//! operation costs two switches between threads; several processes whose threads all spin before they yield
//! take many more. So a thread that sees that no thread has had a turn at the VNI for the time of a spin
//! takes the turn itself. While the offload thread runs, it has turns all the time, and is not disturbed.

use super::event::AwaitedEvent;
use super::wait::ended_promptly;
use crate::domain::Domain;
use heddle_platform::atomic::Ordering;
use heddle_platform::clock;
use heddle_sync::{Next, Waiter};

impl Domain {
    /// Waits for the event until it is time to sleep, and takes turns at the VNI if its offload thread has
    /// none. Returns true if the event has happened. Of several waiting threads one takes turns; for the
    /// others it returns false at once.
    #[cold]
    pub(super) fn wait_beside_server(&self, vni: u32, event: &mut dyn AwaitedEvent) -> bool {
        let waiting = self.attendance(vni);
        // The offload thread is counted, too.
        let is_first = waiting.fetch_add(1, Ordering::Relaxed) <= 1;
        let over = is_first && self.take_turns(vni, event);
        waiting.fetch_sub(1, Ordering::Relaxed);
        over
    }

    fn take_turns(&self, vni: u32, event: &mut dyn AwaitedEvent) -> bool {
        let served = self.vni(vni);
        // While yields are dear, the waiter spins for longer than this.
        let spin = clock::ns_to_ticks(self.wait_policy().spin_ns);
        let (mut seen, mut since) = (served.turns(), clock::ticks());
        let mut waiter = Waiter::new(self.wait_policy(), 1);
        while !event.is_over() {
            if self.calls().outside(|| waiter.pause()) == Next::Park {
                return false;
            }
            let now = clock::ticks();
            if now.wrapping_sub(since) >= spin {
                since = now;
                let is_idle = served.turns() == seen;
                if served.serve_if_idle(&mut seen) | (is_idle && served.advance_tasks()) {
                    waiter.reset();
                }
            }
        }
        if !waiter.has_yielded() {
            ended_promptly(vni, event.awaited());
        }
        true
    }
}
