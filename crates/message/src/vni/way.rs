//! The ring to a peer: inside of its channel's section, or outside, for many threads at once.
//!
//! | [`Sectioning`] | the ring is | a message goes |
//! |---|---|---|
//! | [`Whole`], [`Parted`] | in the channel's section, with what waits for room | into the ring, inside of the section |
//! | [`LockFree`] | outside, for many threads | into the ring, in no section, unless something waits for room |
//!
//! **Order under [`LockFree`].** What finds no room waits in the channel's section, as everywhere. Until the last of it is
//! in the ring, the number of messages that wait ([`Peer::backlogged`](super::channel::Peer)) is not 0. So a message that is sent outside, having found 0 there, comes behind all that
//! had waited and whose calls were over: who added to the number did so before its call was over; who brought it down to 0 did
//! so (Release) after its messages had their places in the ring, and who finds 0 (Acquire) claims a place after that. A message
//! that begins to wait after the look is sent by another thread at the same time, and has no order with this one.

use heddle_model::{LockFree, Parted, Sectioning, Whole};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_transport::{EXTRA_BYTES, Fabric, Header, Outbox, SharedOutbox};
use std::fmt::Debug;

/// How the objects of a VNI are guarded, and where its rings to others are.
pub(crate) trait Rules: Sectioning {
    /// The ring, as far as it is inside of the channel's section.
    type Inside: Debug + Send + 'static;
    /// The ring, as far as it is outside.
    type Outside: Debug;
    /// The ring, to be used once.
    type Lane<'a>: Lane;

    /// The ring of a VNI to a peer.
    fn ring(fabric: &Fabric, vni: usize, peer: usize) -> (Self::Inside, Self::Outside);

    /// The ring, for who is in the channel's section.
    fn lane<'a>(inside: &'a mut Self::Inside, outside: &'a Self::Outside) -> Self::Lane<'a>;

    /// The ring, for who is not, if that can be; `Some(None)` if nothing may be sent there now.
    fn lane_outside<'a>(
        outside: &'a Self::Outside,
        backlogged: &AtomicUsize,
    ) -> Option<Option<Self::Lane<'a>>>;
}

/// A ring, to be used once.
pub(crate) trait Lane {
    /// As [`Outbox::send_inline`].
    fn send_inline(self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool;

    /// As [`Outbox::send_bulk`].
    fn send_bulk(
        self,
        header: &Header,
        len: usize,
        extra: &[u8; EXTRA_BYTES],
        fill: impl FnOnce(*mut u8),
    ) -> bool;

    /// Sends a message of the protocol.
    fn send_words(self, header: &Header, words: &[u8; EXTRA_BYTES]) -> bool
    where
        Self: Sized,
    {
        self.send_inline(header, EXTRA_BYTES, |to| {
            // SAFETY: a slot's payload has room for the extra bytes.
            unsafe { to.copy_from_nonoverlapping(words.as_ptr(), EXTRA_BYTES) };
        })
    }
}

/// A ring's own methods are those of a lane.
macro_rules! lanes {
    ($($lane:ty => $ring:ident),*) => {
        $(impl Lane for $lane {
            #[inline(always)]
            fn send_inline(self, header: &Header, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
                $ring::send_inline(self, header, len, fill)
            }

            #[inline(always)]
            fn send_bulk(
                self,
                header: &Header,
                len: usize,
                extra: &[u8; EXTRA_BYTES],
                fill: impl FnOnce(*mut u8),
            ) -> bool {
                $ring::send_bulk(self, header, len, extra, fill)
            }
        })*
    };
}

lanes!(&mut Outbox => Outbox, &SharedOutbox => SharedOutbox);

/// Declares rules under which the ring is inside of the channel's section.
macro_rules! ring_inside {
    ($($sectioning:ty),*) => {
        $(impl Rules for $sectioning {
            type Inside = Outbox;
            type Outside = ();
            type Lane<'a> = &'a mut Outbox;

            fn ring(fabric: &Fabric, vni: usize, peer: usize) -> (Outbox, ()) {
                (Outbox::new(fabric, vni, peer), ())
            }

            #[inline(always)]
            fn lane<'a>(inside: &'a mut Outbox, (): &'a ()) -> &'a mut Outbox {
                inside
            }

            #[inline(always)]
            fn lane_outside<'a>((): &'a (), _: &AtomicUsize) -> Option<Option<&'a mut Outbox>> {
                None
            }
        })*
    };
}

ring_inside!(Whole, Parted);

impl Rules for LockFree {
    type Inside = ();
    type Outside = SharedOutbox;
    type Lane<'a> = &'a SharedOutbox;

    fn ring(fabric: &Fabric, vni: usize, peer: usize) -> ((), SharedOutbox) {
        ((), SharedOutbox::new(fabric, vni, peer))
    }

    fn lane<'a>((): &'a mut (), outside: &'a SharedOutbox) -> &'a SharedOutbox {
        // In the section: one thread at a time opens the way.
        outside.connect();
        outside
    }

    #[inline(always)]
    fn lane_outside<'a>(
        outside: &'a SharedOutbox,
        backlogged: &AtomicUsize,
    ) -> Option<Option<&'a SharedOutbox>> {
        if !outside.is_open() {
            // The first message opens the way, in the section.
            return None;
        }
        // Acquire: pairs with the Release in `LockFree::change` (see the module's word on order).
        let waits = backlogged.load(Ordering::Acquire) != 0;
        Some((!waits).then_some(outside))
    }
}
