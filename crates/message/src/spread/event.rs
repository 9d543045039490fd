//! News that a thread reads in a ring, and acts on outside of it (`lanes`).

use super::state::SpreadHome;
use super::way::SpreadBy;
use crate::matching::Key;

/// News of messages that are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpreadEvent {
    /// A peer asks me to spread my messages.
    Asked(usize, SpreadBy),
    /// A peer spreads its messages from now on.
    Begun(usize, SpreadBy),
    /// A peer wants my messages on their home again.
    Wanted(usize),
    /// A peer's messages are on their home again, with stamps.
    Returned(usize),
    /// A peer needs no stamps any more.
    Released(usize),
    /// A message is held for a home.
    Held(SpreadHome),
    /// A peer wants a message back that was on this lane.
    Withdrawn { peer: usize, key: Key, sender: u64 },
}
