//! The posted receives: each stands in the list of its own key, and the oldest leaves first.

use super::buckets::{Buckets, NONE};
use super::key::Key;

/// A posted receive.
#[derive(Debug, Clone, Copy)]
struct PostedNode {
    key: Key,
    order: u64,
    /// `NONE` in a free node.
    request: u32,
    /// The next of the list, or of the free nodes.
    next: u32,
}

/// Nodes and the lists they stand in. Links lead forwards only: receives leave from the front, except those
/// that are cancelled, whose place must be searched for.
#[derive(Debug)]
pub(super) struct Posted {
    nodes: Vec<PostedNode>,
    free: u32,
    buckets: Buckets,
    /// The number of receives that were posted so far.
    pub(super) next_order: u64,
    /// How many receives are posted.
    pub(super) live: usize,
}

impl Posted {
    pub(super) fn new() -> Posted {
        Posted { nodes: Vec::new(), free: NONE, buckets: Buckets::new(), next_order: 0, live: 0 }
    }

    /// Appends a receive to the list of its key; returns its place.
    #[inline(always)]
    pub(super) fn push(&mut self, key: &Key, request: u32) -> u32 {
        let at = self.free;
        // Field by field: a node that is made first would lie in memory and be copied.
        let Some(node) = self.nodes.get_mut(at as usize) else { return self.push_anew(key, request) };
        self.free = node.next;
        node.key = *key;
        node.order = self.next_order;
        node.request = request;
        node.next = NONE;
        self.next_order += 1;
        self.live += 1;
        let list = self.buckets.list_of(key);
        let tail = std::mem::replace(&mut list.tail, at);
        match self.nodes.get_mut(tail as usize) {
            Some(last) => last.next = at,
            None => list.head = at,
        }
        at
    }

    /// Does the same after adding a node to the free ones, of which there are none.
    #[cold]
    fn push_anew(&mut self, key: &Key, request: u32) -> u32 {
        self.free = self.nodes.len() as u32;
        self.nodes.push(PostedNode { key: *key, order: 0, request: NONE, next: NONE });
        self.push(key, request)
    }

    /// Takes the oldest receive out of the list of `key`.
    #[inline(always)]
    pub(super) fn pop(&mut self, key: &Key) -> Option<u32> {
        let list = self.buckets.existing_list_of(key)?;
        let at = list.head;
        let node = self.nodes.get_mut(at as usize)?;
        list.head = node.next;
        if node.next == NONE {
            list.tail = NONE;
        }
        node.next = std::mem::replace(&mut self.free, at);
        self.live -= 1;
        Some(std::mem::replace(&mut node.request, NONE))
    }

    /// When the oldest receive in the list of `key` was posted; later ones have greater numbers.
    pub(super) fn oldest(&mut self, key: &Key) -> Option<u64> {
        let head = self.buckets.existing_list_of(key)?.head;
        self.nodes.get(head as usize).map(|node| node.order)
    }

    /// The receives whose keys are wanted, in the order in which they were posted: places, keys and requests.
    pub(super) fn find_all(&self, is_wanted: impl Fn(&Key) -> bool) -> Vec<(u32, Key, u32)> {
        self.find(|node| is_wanted(&node.key))
    }

    /// The receives after the first `posts` ones, in the order in which they were posted.
    pub(super) fn find_since(&self, posts: u64) -> Vec<(u32, Key, u32)> {
        self.find(|node| node.order >= posts)
    }

    fn find(&self, is_wanted: impl Fn(&PostedNode) -> bool) -> Vec<(u32, Key, u32)> {
        let wanted = |(_, node): &(u32, &PostedNode)| node.request != NONE && is_wanted(node);
        let nodes = (0u32..).zip(&self.nodes).filter(wanted);
        let mut found: Vec<(u32, &PostedNode)> = nodes.collect();
        found.sort_unstable_by_key(|(_, node)| node.order);
        found.into_iter().map(|(at, node)| (at, node.key, node.request)).collect()
    }

    /// Takes out the receive at this place, wherever it stands in its list; returns its key. In time
    /// proportional to the length of that list. `None` if it has left already.
    #[cold]
    pub(super) fn remove(&mut self, at: u32, request: u32) -> Option<Key> {
        let PostedNode { key, next, .. } =
            *self.nodes.get(at as usize).filter(|node| node.request == request)?;
        self.live -= 1;
        let list = self.buckets.list_of(&key);
        if list.head == at {
            list.head = next;
            if next == NONE {
                list.tail = NONE;
            }
        } else {
            let mut before = list.head as usize;
            while self.nodes[before].next != at {
                before = self.nodes[before].next as usize;
            }
            self.nodes[before].next = next;
            if next == NONE {
                list.tail = before as u32;
            }
        }
        let node = &mut self.nodes[at as usize];
        node.next = std::mem::replace(&mut self.free, at);
        node.request = NONE;
        Some(key)
    }
}
