//! Access to the ring of a peer: within the critical section of its channel, or without one,
//! by many threads at once.
//!
//! | [`Sectioning`] | the ring is | a message goes |
//! |---|---|---|
//! | [`Whole`], [`Parted`] | in the channel's critical section, with the backlog | into the ring, inside of the critical section |
//! | [`LockFree`] | outside, for many threads | into the ring, outside of any critical section, unless messages wait for room |
//!
//! **Throttled senders.** While a receiver throttles its senders (`unexpected.rs`), eager messages are
//! refused and messages of the protocols are not. An [`Outbox`] refuses them because it has no credits for
//! them then. A [`SharedOutbox`] closes, so that threads come to the channel's critical section, where
//! they ask before they send.
//!
//! **Order under [`LockFree`].** A message that finds no room is queued in the channel's critical section,
//! and [`Peer::backlogged`](super::channel::Peer) counts the queued messages. A thread sends outside the
//! critical section only if it reads 0 there (Acquire). The thread that brings the count down to 0 does so
//! (Release) after the queued messages have their slots in the ring, so a message sent outside gets a slot
//! behind all of them. A thread that queues a message adds to the count before its call returns, so no later
//! send of that thread reads 0 too early. A message that is queued after the count was read is sent by
//! another thread at the same time; MPI gives the two no order.

use heddle_model::{LockFree, Parted, Sectioning, Whole};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_transport::{Fabric, Outbox, RingAccess, SharedOutbox};
use std::fmt::Debug;
use std::sync::Arc;

/// A sectioning that says whether its rings are in the critical section of their channel.
pub(crate) trait Rules: Sectioning {
    /// The part of the ring in the channel's critical section; `()` if the ring is outside.
    type Inside: Debug + Send + 'static;
    /// The part of the ring outside; `()` if the ring is inside.
    type Outside: Debug;
    /// Access to the ring, for one message.
    type RingAccess<'a>: RingAccess;

    /// The ring of a VNI to a peer.
    fn ring(fabric: &Arc<Fabric>, vni: usize, peer: usize) -> (Self::Inside, Self::Outside);

    /// Sends an eager message by `send`, for a thread in the channel's critical section. Returns false and
    /// does nothing if there is no room or the receiver throttles its senders.
    fn send_eagerly<'a>(
        inside: &'a mut Self::Inside,
        outside: &'a Self::Outside,
        send: impl FnOnce(Self::RingAccess<'_>) -> bool,
    ) -> bool;

    /// Returns true if the receiver throttles its senders: it takes only messages of the protocols. Called by
    /// a thread in the channel's critical section whose eager message was refused.
    fn is_throttled(inside: &Self::Inside, outside: &Self::Outside) -> bool;

    /// Returns access to the ring for a thread in the channel's critical section, for
    /// a message of a protocol.
    fn ring_inside<'a>(inside: &'a mut Self::Inside, outside: &'a Self::Outside) -> Self::RingAccess<'a>;

    /// Access to the ring for a thread outside of the critical section.
    fn ring_outside<'a>(
        outside: &'a Self::Outside,
        backlogged: &AtomicUsize,
    ) -> FromOutside<Self::RingAccess<'a>>;
}

/// Access to a ring for a thread outside of the critical section.
pub(crate) enum FromOutside<A> {
    /// Only within the critical section.
    Never,
    /// Not now, since messages are queued.
    Queued,
    /// Now.
    Open(A),
}

/// Declares rules under which the ring is inside of the channel's critical section.
macro_rules! ring_inside {
    ($($sectioning:ty),*) => {
        $(impl Rules for $sectioning {
            type Inside = Outbox;
            type Outside = ();
            type RingAccess<'a> = &'a mut Outbox;

            fn ring(fabric: &Arc<Fabric>, vni: usize, peer: usize) -> (Outbox, ()) {
                (Outbox::new(fabric, vni, peer), ())
            }

            #[inline(always)]
            fn send_eagerly<'a>(
                inside: &'a mut Outbox,
                (): &'a (),
                send: impl FnOnce(&mut Outbox) -> bool,
            ) -> bool {
                send(inside)
            }

            fn is_throttled(inside: &Outbox, (): &()) -> bool {
                inside.is_throttled()
            }

            #[inline(always)]
            fn ring_inside<'a>(inside: &'a mut Outbox, (): &'a ()) -> &'a mut Outbox {
                inside
            }

            #[inline(always)]
            fn ring_outside<'a>((): &'a (), _: &AtomicUsize) -> FromOutside<&'a mut Outbox> {
                FromOutside::Never
            }
        })*
    };
}

ring_inside!(Whole, Parted);

impl Rules for LockFree {
    type Inside = ();
    type Outside = SharedOutbox;
    type RingAccess<'a> = &'a SharedOutbox;

    fn ring(fabric: &Arc<Fabric>, vni: usize, peer: usize) -> ((), SharedOutbox) {
        ((), SharedOutbox::new(fabric, vni, peer))
    }

    fn send_eagerly<'a>(
        inside: &'a mut (),
        outside: &'a SharedOutbox,
        send: impl FnOnce(&SharedOutbox) -> bool,
    ) -> bool {
        let ring = LockFree::ring_inside(inside, outside);
        !ring.is_throttled() && send(ring)
    }

    fn is_throttled((): &(), outside: &SharedOutbox) -> bool {
        outside.is_throttled()
    }

    fn ring_inside<'a>((): &'a mut (), outside: &'a SharedOutbox) -> &'a SharedOutbox {
        // The caller is in the critical section, so one thread at a time connects.
        outside.connect();
        outside
    }

    #[inline(always)]
    fn ring_outside<'a>(
        outside: &'a SharedOutbox,
        backlogged: &AtomicUsize,
    ) -> FromOutside<&'a SharedOutbox> {
        if !outside.is_open() {
            // The first message connects, in the critical section; or the receiver throttles its senders.
            return FromOutside::Never;
        }
        // Acquire: pairs with the Release in `LockFree::change` (see the paragraph on order at the top).
        if backlogged.load(Ordering::Acquire) != 0 { FromOutside::Queued } else { FromOutside::Open(outside) }
    }
}
