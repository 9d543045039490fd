//! The queue of messages that wait for room in a ring, first in, first out.

use crate::request::RequestId;
use heddle_transport::{EXTRA_BYTES, Header};
use std::collections::VecDeque;

/// A message that waits for room in a ring.
#[derive(Debug)]
pub(crate) enum Queued {
    /// A send that has not begun.
    Send(RequestId),
    /// A message of the protocol.
    Control(Header, [u8; EXTRA_BYTES]),
}

/// The queue of a channel. Nothing overtakes what is in it. It may be reserved, too: then nothing goes past
/// it although it is empty.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    /// Made with the first item, so that a channel takes few lines of memory.
    #[expect(clippy::box_collection, reason = "two words less in each channel")]
    items: Option<Box<VecDeque<Queued>>>,
    /// The number of items, and [`RESERVED`].
    closed: usize,
}

/// Keeps the quick ways closed. One number with the count, so that they ask once.
const RESERVED: usize = 1 << (usize::BITS - 1);

impl Backlog {
    /// Returns true if a message may go past the queue: nothing waits there, and it is not reserved.
    #[inline(always)]
    pub(crate) fn is_open(&self) -> bool {
        self.closed == 0
    }

    /// Returns true if nothing waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of items.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.closed & !RESERVED
    }

    /// Sets whether quick ways are closed although nothing waits.
    pub(crate) fn reserve(&mut self, reserved: bool) {
        self.closed = self.len() | if reserved { RESERVED } else { 0 };
    }

    pub(crate) fn push_back(&mut self, item: Queued) {
        self.items.get_or_insert_default().push_back(item);
        self.closed += 1;
    }

    pub(crate) fn push_front(&mut self, item: Queued) {
        self.items.get_or_insert_default().push_front(item);
        self.closed += 1;
    }

    pub(crate) fn pop_front(&mut self) -> Option<Queued> {
        let item = self.items.as_mut()?.pop_front()?;
        self.closed -= 1;
        Some(item)
    }

    /// Takes out the first item that is wanted. Returns false if there is none.
    pub(crate) fn remove(&mut self, is_wanted: impl FnMut(&Queued) -> bool) -> bool {
        let Some(items) = &mut self.items else { return false };
        let Some(at) = items.iter().position(is_wanted) else { return false };
        items.remove(at);
        self.closed -= 1;
        true
    }

    /// Takes all items out.
    pub(crate) fn take_all(&mut self) -> VecDeque<Queued> {
        self.closed &= RESERVED;
        self.items.take().map(|items| *items).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(items: impl IntoIterator<Item = Queued>) -> Vec<u32> {
        let number = |item| match item {
            Queued::Send(id) => id,
            Queued::Control(..) => unreachable!("none was queued"),
        };
        items.into_iter().map(number).collect()
    }

    #[test]
    fn it_is_open_while_nothing_waits_unless_it_is_reserved() {
        let mut backlog = Backlog::default();
        assert!(backlog.is_open() && backlog.is_empty());
        backlog.reserve(true);
        assert!(!backlog.is_open() && backlog.is_empty());
        backlog.push_back(Queued::Send(1));
        backlog.push_back(Queued::Send(2));
        backlog.reserve(false);
        assert!(!backlog.is_open() && !backlog.is_empty());
        assert!(backlog.remove(|item| matches!(item, Queued::Send(1))));
        assert!(!backlog.remove(|item| matches!(item, Queued::Send(1))));
        assert_eq!(numbers(backlog.pop_front()), [2]);
        assert!(backlog.is_open());
        backlog.push_back(Queued::Send(4));
        backlog.push_front(Queued::Send(3));
        assert_eq!((backlog.len(), numbers(backlog.take_all())), (2, vec![3, 4]));
        assert!(backlog.is_open());
    }
}
