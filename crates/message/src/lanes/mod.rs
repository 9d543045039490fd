//! Messages of one VNI that are spread over all VNIs, while their receiver uses no wildcards.
//!
//! Without promises all messages of a communicator are on its default VNI, the **home** of its messages,
//! since a receive with wildcards may match any of them. So threads that share a communicator meet at that
//! VNI's locks and lines. But as long as no receive has wildcards, messages with different tags need no
//! order between them. Once threads with different tags take turns in a channel, the sender spreads the
//! messages of that home to that peer over the other VNIs, by tag: these are its **lanes**. So does a sender
//! whose receiver asks for it, since threads take turns there in issuing receives; if these have a peer each
//! and no tags of their own, by source as well. The first wildcard (or probe) of the receiver on that home
//! ends this for good: the receiver passes on what is in the lanes in an order that no message contradicts,
//! and tells the senders.
//!
//! ```text
//!  sender, per home and peer                          receiver, per home and peer
//!  TOGETHER  home                                     TOGETHER  matches on the home
//!     │                            ◀─── ASK ────         │ threads take turns
//!     │  threads take turns        ── SPREAD ───▶        │ moves what is there to the lanes
//!  SPREAD    lanes, stamped                           SPREAD    matches on the lanes
//!     │                            ◀── GATHER ──         │ a wildcard: moves what is there to the home
//!     │  lanes are left                               SWEPT     holds what has a stamp, settles it,
//!  STAMPS    home, stamped         ── GATHERED ─▶        │      matches on the home
//!     │                            ◀─ UNSTAMPED ─        │ the lanes are empty
//!  TOGETHER  home, for good                           TOGETHER  matches on the home, for good
//! ```
//!
//! Only messages of the program on communicators without hints are spread, between processes of one machine,
//! by a model whose channels have their own critical sections.
//!
//! **Order to the lanes.** The `SPREAD` is in the home's ring behind all messages sent together. What reaches
//! a lane before the receiver has read it stays there, unexpected, since all receives are posted at home; the
//! receiver moves the older receives and messages first, then these meet what was moved. A receive that finds
//! the state changed inside of a critical section starts again.
//!
//! **Order in the lanes.** Messages of one sender with one tag of one communicator are in one lane. A message
//! that finds no room in its lane holds back those of all lanes ([`heddle_objects::spread`]).
//!
//! **Order from the lanes.** From the first wildcard on nothing is matched in a lane: what has a stamp is
//! held, and moves home once it is settled ([`heddle_objects::spread::settle()`]); the home's ring is read
//! first, where messages that were sent together may still be. The sender leaves the lanes before it sends
//! `GATHERED`, so when the receiver has read that, and then the lanes, all later messages come in the home's
//! ring; those that it has read meanwhile, it has held, too.
//!
//! **No wait for the other side.** No step waits for an answer: what a receiver needs lies in shared memory,
//! and a sender uses the lanes until it has read `GATHER`.
//!
//! **Locks**, from the outside: [`Mover`](heddle_objects::resharding::Mover), the spill of a peer, the home's
//! critical section, a lane's critical section, a channel's. Only the thread that is the mover is inside of
//! two VNIs.
//!
//! | file | idea |
//! |---|---|
//! | `home.rs` | a home and its lanes |
//! | `outgoing.rs` | the sender |
//! | `express.rs` | small messages, with few instructions |
//! | `incoming.rs` | the receiver, until the first wildcard |
//! | `gather.rs` | the receiver, from the first wildcard on |
//! | `act.rs` | acts on what a thread has read in a ring |
//!
//! The states, the clock and the marks, which the VNIs use as well, are in `spread`.

mod act;
mod express;
mod gather;
mod home;
mod incoming;
mod outgoing;
#[cfg(test)]
mod tests;

pub(crate) use home::begin;
