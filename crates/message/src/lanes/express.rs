//! The express path of messages that are spread: the same steps as at home, on the lane.
//!
//! The first attempt at home has refused by then, and the second one comes here. A lane is mostly one
//! thread's, so its locks are mostly biased to the caller.

use crate::buffer::{Buffer, copy_small};
use crate::matching::Key;
use crate::spread::{SpreadBy, may_be_spread, stamp};
use crate::vni::channel::{Channel, Peer};
use crate::vni::core::Core;
use crate::vni::express::either;
use crate::vni::interface::{VniState, poll_directly};
use crate::vni::{Direct, Vni, wire};
use heddle_model::{Path, ProgressEntry, Refusal, Whole};
use heddle_transport::{Envelope, Header, INLINE_BYTES, Outbox};

impl Vni {
    /// Does the same as [`send_express`](Vni::send_express) on the lane of the message, where `to` is the
    /// peer's channel on this home.
    ///
    /// # Errors
    /// The same.
    ///
    /// # Safety
    /// The same.
    #[inline(never)]
    pub(crate) unsafe fn send_express_on_lane(
        &self,
        (to, peer): (&Peer<Whole>, usize),
        header: &Header,
        from: *const u8,
        len: usize,
    ) -> Result<(), Refusal> {
        let home = self.home().ok_or(Refusal::Unfit)?;
        let may_be = may_be_spread(header.context) && len + wire::STAMP_BYTES <= INLINE_BYTES;
        if !may_be || !to.is_spill_empty() {
            return Err(Refusal::Unfit);
        }
        let by = to.spread_by();
        let lane = home.lane(by, header.envelope);
        let way = lane.peer_apart(peer).ok_or(Refusal::Unfit)?;
        let header = Header { kind: wire::STAMPED_EAGER, ..*header };
        either(
            #[inline(always)]
            |attempt| {
                way.channel.section().with_shortcut(
                    attempt,
                    Path::Main,
                    #[inline(always)]
                    |channel| {
                        // SAFETY: the caller's promise.
                        let mut send = || unsafe { channel.send_stamped_express(&header, from, len) };
                        (to.spreads_by(by) && send()).then_some(())
                    },
                )
            },
        )
    }

    /// Does the same as [`receive_express`](Vni::receive_express) on the lane of the message, which comes
    /// from `peer`.
    ///
    /// # Errors
    /// The same.
    #[inline]
    pub fn receive_express_on_lane(
        &self,
        peer: usize,
        key: &Key,
        buffer: Buffer,
        comm: usize,
    ) -> Result<usize, Refusal> {
        self.on_lane(
            peer,
            key,
            #[inline(always)]
            |core| core.receive_express(key, buffer, comm),
        )
    }

    /// Does the same as [`take_express`](Vni::take_express) on the lane of the message, which comes from
    /// `peer`.
    ///
    /// # Errors
    /// The same.
    #[inline]
    pub fn take_express_on_lane(
        &self,
        peer: usize,
        key: &Key,
        buffer: Buffer,
    ) -> Result<(Envelope, usize), Refusal> {
        self.on_lane(
            peer,
            key,
            #[inline(always)]
            |core| core.take_express_stamped(key, buffer),
        )
    }

    /// The lane of a message that comes from `peer`, if its messages are matched on lanes.
    #[inline]
    pub fn lane_from(&self, peer: usize, key: &Key) -> Option<&'static Vni> {
        if key.shape() != 0 || !may_be_spread(key.context) {
            return None;
        }
        let home = self.home()?;
        home.spread_by(peer).map(|by| home.lane(by, key.envelope))
    }

    /// Does the same as [`receive_directly`](Vni::receive_directly) on [the lane](Self::lane_from) of the
    /// message, which comes from `peer`.
    #[inline]
    pub fn receive_directly_on_lane(
        &self,
        polls: u32,
        (peer, lane): (usize, &Vni),
        key: Key,
        buffer: Buffer,
    ) -> Direct {
        let (Some(home), VniState::Whole(state)) = (self.home(), &lane.state) else {
            return Direct::Ordinary;
        };
        if self.progress_entry == ProgressEntry::Wait {
            return Direct::Ordinary;
        }
        poll_directly(
            state,
            polls,
            #[inline(always)]
            move |core| match home.spread_by(peer) {
                Some(_) => core.receive_stamped_directly(key, buffer),
                None => Direct::Ordinary,
            },
        )
    }

    /// Runs an operation on the lane of a message that comes from a peer, if its messages are matched on
    /// lanes.
    #[inline(always)]
    fn on_lane<R>(
        &self,
        peer: usize,
        key: &Key,
        operation: impl Fn(&mut Core<Whole>) -> Option<R>,
    ) -> Result<R, Refusal> {
        if !may_be_spread(key.context) {
            return Err(Refusal::Unfit);
        }
        let home = self.home().ok_or(Refusal::Unfit)?;
        let by = home.spread_by(peer).unwrap_or(SpreadBy::Tag);
        let lane = home.lane(by, key.envelope);
        either(
            #[inline(always)]
            |attempt| {
                lane.by_shortcut(
                    attempt,
                    Path::Main,
                    #[inline(always)]
                    |core| {
                        // The mover goes through this critical section once it has changed the state.
                        if home.spread_by(peer) == Some(by) { operation(core) } else { None }
                    },
                )
            },
        )
    }
}

impl Channel<Outbox> {
    /// Does the same as [`send_express`](Self::send_express), with a stamp before the data, for which there
    /// is room.
    ///
    /// # Safety
    /// `len` bytes at `from` are valid for reads.
    #[inline(always)]
    unsafe fn send_stamped_express(&mut self, header: &Header, from: *const u8, len: usize) -> bool {
        self.backlog.is_empty()
            && self.ring.send_promptly(
                header,
                wire::STAMP_BYTES + len,
                #[inline(always)]
                |to| {
                    // SAFETY: a slot has room for `INLINE_BYTES`, which stamp and data are at most.
                    unsafe { to.cast::<u64>().write_unaligned(stamp::now()) };
                    // SAFETY: the same.
                    let to = unsafe { to.add(wire::STAMP_BYTES) };
                    // SAFETY: the caller promises the source; the slot has room for the data, too.
                    unsafe { copy_small(from, to, len) };
                },
            )
    }
}
