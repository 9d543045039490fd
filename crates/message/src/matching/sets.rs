//! The two sets of the matching: posted receives and unexpected messages.

use super::buckets::NONE;
use super::key::{Key, SHAPES};
use super::lists::{Lists, UnexpectedNode};
use super::posted::Posted;
use heddle_model::counters::{self, CountedEvent};

/// The mark of a set that is watched, in the number of unexpected messages.
const WATCHED: usize = 1 << (usize::BITS - 1);

/// The matching state of a VNI, or of some of its contexts; `M` is the type of an unexpected message.
#[derive(Debug)]
pub struct Matching<M> {
    pub(super) posted: Posted,
    /// Posted receives with wildcards, by shape; those without are not counted.
    wild: [u32; SHAPES],
    /// All posted receives with wildcards.
    all_wild: u32,
    pub(super) unexpected: Lists<M>,
    /// True if unexpected messages stand in the wildcard lists too.
    wildcards_seen: bool,
    /// The number of list elements examined for arriving messages since [`take_steps`](Matching::take_steps).
    steps: u64,
}

impl<M> Default for Matching<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M> Matching<M> {
    /// The bytes that an unexpected message takes in the set.
    pub const UNEXPECTED_BYTES: usize = size_of::<UnexpectedNode<M>>();

    /// Two empty sets.
    pub fn new() -> Matching<M> {
        Matching {
            posted: Posted::new(),
            wild: [0; SHAPES],
            all_wild: 0,
            unexpected: Lists::new(),
            wildcards_seen: false,
            steps: 0,
        }
    }

    /// Returns true if both sets are empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.posted.live == 0 && self.unexpected.live == 0
    }

    /// Posts a receive; returns its place, for `unpost`.
    #[inline(always)]
    pub fn post(&mut self, key: Key, request: u32) -> u32 {
        let shape = key.shape();
        if shape != 0 {
            self.wild[shape] += 1;
            self.all_wild += 1;
        }
        self.posted.push(&key, request)
    }

    /// Posts a receive whose key has no wildcard.
    #[inline(always)]
    pub fn post_exact(&mut self, key: &Key, request: u32) -> u32 {
        debug_assert_eq!(key.shape(), 0, "a key without wildcards");
        self.posted.push(key, request)
    }

    /// The number of receives that were posted so far.
    pub(crate) fn posts(&self) -> u64 {
        self.posted.next_order
    }

    /// The posted receives after the first `posts` ones, in order: places, keys and requests.
    #[cold]
    pub(crate) fn posted_since(&self, posts: u64) -> Vec<(u32, Key, u32)> {
        if posts == self.posts() { Vec::new() } else { self.posted.find_since(posts) }
    }

    /// Removes a posted receive. False if it was matched already.
    pub fn unpost(&mut self, at: u32, request: u32) -> bool {
        let Some(key) = self.posted.remove(at, request) else { return false };
        let shape = key.shape();
        if shape != 0 {
            self.wild[shape] -= 1;
            self.all_wild -= 1;
        }
        true
    }

    /// The posted receive that a message with this exact key matches, removed from the set.
    #[inline(always)]
    pub fn match_arrival(&mut self, key: &Key) -> Option<u32> {
        self.steps += 1;
        if self.all_wild == 0 { self.posted.pop(key) } else { self.match_with_wildcards(key) }
    }

    /// Does the same as [`match_arrival`](Self::match_arrival), while receives with wildcards are posted.
    fn match_with_wildcards(&mut self, key: &Key) -> Option<u32> {
        let candidates = (0..SHAPES).filter(|&shape| shape == 0 || self.wild[shape] != 0);
        self.steps += candidates.clone().count() as u64;
        let oldest = |shape: usize| self.posted.oldest(&key.with_shape(shape)).map(|order| (order, shape));
        let (_, shape) = candidates.filter_map(oldest).min()?;
        if shape != 0 {
            self.wild[shape] -= 1;
            self.all_wild -= 1;
        }
        self.posted.pop(&key.with_shape(shape))
    }

    /// Stores an unexpected message.
    #[inline]
    pub fn store(&mut self, key: Key, message: M) {
        counters::count(CountedEvent::Unexpected, 1);
        self.keep(key, message, None);
    }

    /// Does the same as [`store`](Self::store), with a stamp that orders it among messages
    /// that arrive on other VNIs.
    pub fn store_stamped(&mut self, key: Key, message: M, stamp: u64) {
        counters::count(CountedEvent::Unexpected, 1);
        self.keep(key, message, Some(stamp));
    }

    /// Stores an unexpected message without counting it; it was counted when it arrived.
    #[inline]
    pub fn keep(&mut self, key: Key, message: M, stamp: Option<u64>) {
        let at = self.unexpected.add(key, message, stamp);
        self.unexpected.link(at, &key, 0);
        if self.wildcards_seen {
            for shape in 1..SHAPES {
                self.unexpected.link(at, &key.with_shape(shape), shape);
            }
        }
    }

    /// The oldest unexpected message that a receive with this key matches, removed from the set.
    #[inline]
    pub fn take(&mut self, key: &Key) -> Option<(Key, M)> {
        self.take_if(key, |_| true)
    }

    /// Does the same as [`take`](Self::take), if `is_wanted` accepts the message.
    #[inline]
    pub fn take_if(&mut self, key: &Key, is_wanted: impl FnOnce(&M) -> bool) -> Option<(Key, M)> {
        if self.wildcards_seen || key.shape() != 0 {
            let at = self.find(key)?;
            if !self.unexpected.nodes[at as usize].value.as_ref().is_some_and(is_wanted) {
                return None;
            }
            counters::count(CountedEvent::UnexpectedTaken, 1);
            return self.take_at(at);
        }
        if self.unexpected.live == 0 {
            return None;
        }
        counters::count(CountedEvent::MatchingStep, 1);
        let at = self.unexpected.pop_if(key, is_wanted)?;
        counters::count(CountedEvent::UnexpectedTaken, 1);
        self.unexpected.release(at).map(|message| (*key, message))
    }

    /// Removes and returns the first unexpected message with this exact key that `is_wanted` accepts. It
    /// takes time proportional to the number of messages with the key.
    #[cold]
    pub fn withdraw(&mut self, key: &Key, is_wanted: impl Fn(&M) -> bool) -> Option<M> {
        let at = self.unexpected.search(key, is_wanted)?;
        counters::count(CountedEvent::UnexpectedTaken, 1);
        self.take_at(at).map(|(_, message)| message)
    }

    #[inline]
    pub(super) fn take_at(&mut self, at: u32) -> Option<(Key, M)> {
        let exact = self.unexpected.nodes[at as usize].key;
        self.unexpected.unlink(at, &exact, 0);
        if self.wildcards_seen {
            for shape in 1..SHAPES {
                self.unexpected.unlink(at, &exact.with_shape(shape), shape);
            }
        }
        self.unexpected.release(at).map(|message| (exact, message))
    }

    /// The message that [`Matching::take`] would return.
    pub fn peek(&mut self, key: &Key) -> Option<(Key, &M)> {
        let at = self.find(key)?;
        let node = &self.unexpected.nodes[at as usize];
        node.value.as_ref().map(|message| (node.key, message))
    }

    #[inline]
    fn find(&mut self, key: &Key) -> Option<u32> {
        if self.unexpected.live == 0 {
            return None;
        }
        counters::count(CountedEvent::MatchingStep, 1);
        if key.shape() != 0 && !self.wildcards_seen {
            self.index_wildcards();
        }
        let at = self.unexpected.first(key);
        (at != NONE).then_some(at)
    }

    /// Enters all unexpected messages into the wildcard lists, in the order of their arrival.
    #[cold]
    fn index_wildcards(&mut self) {
        self.wildcards_seen = true;
        let mut arrived: Vec<(u64, u32, Key)> = (0u32..)
            .zip(&self.unexpected.nodes)
            .filter(|(_, node)| node.value.is_some())
            .map(|(at, node)| (node.order, at, node.key))
            .collect();
        arrived.sort_unstable_by_key(|(order, ..)| *order);
        for (_, at, key) in arrived {
            for shape in 1..SHAPES {
                self.unexpected.link(at, &key.with_shape(shape), shape);
            }
        }
    }

    /// The number of list elements examined for arriving messages since the last call.
    #[inline(always)]
    pub fn take_steps(&mut self) -> u64 {
        std::mem::take(&mut self.steps)
    }

    /// Sets whether the set is watched: then it says that it has unexpected messages even if it has none, so
    /// that no quick way is taken.
    pub(crate) fn watch(&mut self, watched: bool) {
        let live = self.unexpected.live & !WATCHED;
        self.unexpected.live = if watched { live | WATCHED } else { live };
    }

    /// Returns true if the set is watched.
    #[inline(always)]
    pub(crate) fn is_watched(&self) -> bool {
        self.unexpected.live & WATCHED != 0
    }

    /// Returns true if there are unexpected messages, or if the set is watched.
    #[inline(always)]
    pub fn has_unexpected(&self) -> bool {
        self.unexpected.live != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_spec::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG};
    use proptest::prelude::*;

    /// The oracle: two vectors, searched from the front.
    #[derive(Default)]
    struct Naive {
        posted: Vec<(Key, u32)>,
        unexpected: Vec<(Key, u32)>,
    }

    fn fits(receive: &Key, message: &Key) -> bool {
        receive.context == message.context
            && (receive.source() == MPI_ANY_SOURCE || receive.source() == message.source())
            && (receive.tag() == MPI_ANY_TAG || receive.tag() == message.tag())
    }

    #[derive(Debug, Clone)]
    enum Step {
        Arrive(Key),
        Receive(Key),
        Probe(Key),
        Cancel(usize),
    }

    fn key(wild: bool) -> impl Strategy<Value = Key> {
        let low = if wild { -2 } else { 0 };
        (0u64..2, low..3i32, low..3i32).prop_map(|(context, source, tag)| {
            Key::new(context, source.max(MPI_ANY_SOURCE), if tag == -1 { MPI_ANY_TAG } else { tag })
        })
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => key(false).prop_map(Step::Arrive),
            4 => key(true).prop_map(Step::Receive),
            1 => key(true).prop_map(Step::Probe),
            1 => (0usize..8).prop_map(Step::Cancel),
        ]
    }

    proptest! {
        #[test]
        fn does_what_two_vectors_would_do(steps in prop::collection::vec(step(), 0..200)) {
            let mut naive = Naive::default();
            let mut matching = Matching::new();
            let mut places = std::collections::HashMap::new();
            for (id, step) in (0u32..).zip(steps) {
                match step {
                    Step::Arrive(key) => {
                        let at = naive.posted.iter().position(|(receive, _)| fits(receive, &key));
                        let expected = at.map(|at| naive.posted.remove(at).1);
                        prop_assert_eq!(matching.match_arrival(&key), expected);
                        if expected.is_none() {
                            naive.unexpected.push((key, id));
                            matching.store(key, id);
                        }
                    }
                    Step::Receive(key) => {
                        let at = naive.unexpected.iter().position(|(message, _)| fits(&key, message));
                        let expected = at.map(|at| naive.unexpected.remove(at));
                        prop_assert_eq!(matching.take(&key), expected);
                        if expected.is_none() {
                            naive.posted.push((key, id));
                            places.insert(id, matching.post(key, id));
                        }
                    }
                    Step::Probe(key) => {
                        let expected = naive.unexpected.iter().find(|(message, _)| fits(&key, message)).copied();
                        prop_assert_eq!(matching.peek(&key).map(|(k, m)| (k, *m)), expected);
                    }
                    Step::Cancel(which) if which < naive.posted.len() => {
                        let (_, id) = naive.posted.remove(which);
                        prop_assert!(matching.unpost(places[&id], id));
                        prop_assert!(!matching.unpost(places[&id], id), "it has left");
                    }
                    Step::Cancel(_) => {}
                }
                prop_assert_eq!(matching.has_unexpected(), !naive.unexpected.is_empty());
            }
        }
    }
}
