//! The sender: its messages leave their home for the lanes, and come back.

use crate::request::{self, OutOfRequests, RequestId};
use crate::spread::{BY_SOURCE, CLOSED, MARKS, SPREAD, STAMPS, SpreadBy, SpreadOut, WISHED, stamp};
use crate::vni::backlog::Queued;
use crate::vni::channel::{Channel, Peer};
use crate::vni::send::fill;
use crate::vni::task::Task;
use crate::vni::{SendArgs, Vni, wire};
use heddle_model::counters::{self, CountedEvent};
use heddle_model::{Path, SectionOf, Whole};
use heddle_objects::resharding::Mover;
use heddle_platform::atomic::Ordering;
use heddle_settings::SpreadRule;
use heddle_sync::queues::tasks::Advanced;
use heddle_transport::Envelope;

impl Peer<Whole> {
    /// Exchanges marks, in the critical sections of home and channel.
    fn mark(&self, marks: usize) {
        let queued = self.backlogged.load(Ordering::Relaxed) & !MARKS;
        self.backlogged.store(queued | marks, Ordering::Relaxed);
    }

    /// Has the channel spread its messages from the first one on.
    pub(crate) fn wish_to_spread(&self) {
        self.channel.with(Path::Main, |channel| {
            channel.backlog.reserve(true);
            self.mark(WISHED);
        });
    }

    fn out(&self) -> &SpreadOut {
        self.outgoing.get_or_init(Box::default)
    }

    /// Returns true if no message waits for room in a lane.
    pub(crate) fn is_spill_empty(&self) -> bool {
        self.outgoing.get().is_none_or(|out| out.spill.is_empty())
    }
}

impl Vni {
    /// Begins to spread the messages of this home to a peer. Called in no critical section.
    #[cold]
    pub(crate) fn spread_to(&self, peer: usize, by: SpreadBy) {
        let _mover = Mover::wait();
        let (Some(home), Some(to)) = (self.home(), self.peer_apart(peer)) else { return };
        let out = to.out();
        if to.has(MARKS & !WISHED) || out.is_over.load(Ordering::Relaxed) || peer == self.rank {
            return;
        }
        let has_begun = self.whole().with_lock(Path::Main, |core| {
            if !core.fabric.takes_spread_messages(peer) {
                // Not yet, or never: its settings may be others.
                return false;
            }
            let begins = to.channel.with(Path::Main, |channel| {
                // Otherwise another time: older messages wait there.
                let begins = channel.backlog.is_empty();
                if begins {
                    channel.backlog.reserve(true);
                    to.mark(SPREAD | if by == SpreadBy::Tag { 0 } else { BY_SOURCE });
                }
                begins
            });
            if begins {
                counters::count(CountedEvent::ChannelSpread, 1);
                // Behind all that was sent together.
                core.send_spread_by(peer, wire::SPREAD, by);
            }
            begins
        });
        if has_begun {
            // The receiver answers there.
            home.use_lanes();
        }
    }

    /// Sends on a lane a message that may be spread. Returns its request unless it is complete.
    ///
    /// # Errors
    /// The arguments, if they are to go another way, which may have changed. The result inside is that of
    /// `request`.
    pub(crate) fn send_on_lane<F: FnOnce() -> Result<RequestId, OutOfRequests>>(
        &self,
        args: SendArgs,
        request: F,
    ) -> Result<Result<Option<RequestId>, OutOfRequests>, (SendArgs, F)> {
        let (Some(home), Some(to)) = (self.home(), self.peer_apart(args.peer)) else {
            return Err((args, request));
        };
        let out = to.out();
        if to.has(CLOSED) {
            drop(out.spill.lock());
            return Err((args, request));
        }
        let (peer, by, envelope) = (args.peer, to.spread_by(), args.envelope());
        let lane = home.lane(by, envelope);
        let Some(way) = lane.peer_apart(peer) else { return Err((args, request)) };
        if args.is_eager() && out.spill.is_empty() {
            let send = |channel: &mut Channel<_>| to.spreads_by(by) && channel.send_stamped(&args);
            if way.channel.section().with_lock(Path::Main, send) {
                return Ok(Ok(None));
            }
        }
        let id = match request() {
            Ok(id) => id,
            Err(error) => return Ok(Err(error)),
        };
        fill(id, args);
        self.send_or_spill(id, peer, envelope);
        Ok(Ok(Some(id)))
    }

    /// Does the same for a request that has its arguments.
    #[cold]
    fn send_or_spill(&self, id: RequestId, peer: usize, envelope: Envelope) {
        let (Some(home), Some(to)) = (self.home(), self.peer_apart(peer)) else { return };
        let mut spill = to.out().spill.lock();
        if !to.has(SPREAD) {
            drop(spill);
            return self.whole().with_lock(Path::Main, |core| core.begin_filled(id, peer));
        }
        let lane = home.lane(to.spread_by(), envelope);
        request::set_vni(id, lane.number());
        let was_empty = spill.is_empty();
        let sent = spill.send_or_wait(id, |id| lane.start_on_lane(*id, peer));
        drop(spill);
        if !sent && was_empty {
            self.add_task_for_others(Box::new(DrainSpill { home: home.vni(), peer }));
            self.wake_own_sleepers();
        }
    }

    /// Puts a send on this lane, if there is room.
    fn start_on_lane(&self, id: RequestId, peer: usize) -> bool {
        self.whole().with_lock(Path::Main, |core| {
            let way = core.peers.of(peer);
            way.channel.with(Path::Main, |channel| {
                channel.backlog.is_empty()
                    && core.start(&mut channel.ring, &way.outside, id, Some(stamp::now()))
            })
        })
    }

    /// Returns true if messages of this VNI may be spread.
    pub(crate) fn may_spread(&self) -> bool {
        self.spreading.rule() != SpreadRule::Never
    }

    /// Takes a send that waits for room in a lane out of the spill. Returns false if it does not wait there.
    pub(crate) fn take_from_spill(&self, id: RequestId, peer: usize) -> bool {
        let out = self.peer_apart(peer).and_then(|to| to.outgoing.get());
        out.is_some_and(|out| out.spill.lock().take(|waiting| *waiting == id).is_some())
    }

    /// Completes such a send.
    pub(crate) fn cancelled_in_spill(&self, id: RequestId) {
        self.whole().with_lock(Path::Main, |core| core.cancelled(id));
    }

    /// Applies a rule to the channels of this VNI, before there are messages.
    pub(crate) fn apply_spread_rule(&self) {
        if self.spreading.rule() == SpreadRule::Always
            && let Some(channels) = &self.channels
        {
            channels.made().filter(|(peer, _)| *peer != self.rank).for_each(|(_, to)| to.wish_to_spread());
        }
    }
}

/// Leaves the lanes: the receiver has used a wildcard.
pub(super) fn leave_lanes(vni: &Vni, peer: usize) {
    let _mover = Mover::wait();
    let (Some(home), Some(to)) = (vni.home(), vni.peer_apart(peer)) else { return };
    let mut spill = to.out().spill.lock();
    if !to.has(SPREAD) {
        return;
    }
    // From now on senders wait for the spill, as those in lanes did not: when they are out, nobody is in.
    vni.whole().with_lock(Path::Main, |_| to.channel.with(Path::Main, |_| to.mark(CLOSED)));
    for lane in home.lanes() {
        if let Some(way) = home.vnis()[lane as usize].peer_apart(peer) {
            way.channel.section().with_lock(Path::Main, |_| ());
        }
    }
    vni.whole().with_lock(Path::Main, |core| {
        core.send_spread_notice(peer, wire::GATHERED);
        to.channel.with(Path::Main, |channel| {
            for id in spill.take_all() {
                request::set_vni(id, core.index as u32);
                core.enqueue(channel, peer, Queued::Send(id));
            }
            to.mark(STAMPS);
        });
    });
}

/// Ends the stamps: the receiver has found the lanes empty.
pub(super) fn end_stamps(vni: &Vni, peer: usize) {
    let _mover = Mover::wait();
    let Some(to) = vni.peer_apart(peer) else { return };
    if !to.has(STAMPS) {
        return;
    }
    to.out().is_over.store(true, Ordering::Relaxed);
    vni.whole().with_lock(Path::Main, |_| {
        to.channel.with(Path::Main, |channel| {
            channel.backlog.reserve(false);
            to.mark(0);
        });
    });
}

/// Sends what waits for room in the lanes of a home.
#[derive(Debug)]
struct DrainSpill {
    home: &'static Vni,
    peer: usize,
}

impl Task for DrainSpill {
    fn advance(self: Box<Self>) -> Advanced<Box<dyn Task>> {
        let (Some(home), Some(to)) = (self.home.home(), self.home.peer_apart(self.peer)) else {
            return Advanced::Over;
        };
        let mut spill = to.out().spill.lock();
        let send = |id: &RequestId| home.vnis()[request::vni_of(*id) as usize].start_on_lane(*id, self.peer);
        let sent = spill.drain(send);
        if spill.is_empty() {
            return Advanced::Over;
        }
        drop(spill);
        if sent == 0 { Advanced::Waits(self) } else { Advanced::CameFurther(self) }
    }
}
