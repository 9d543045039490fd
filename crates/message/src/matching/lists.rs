//! The unexpected messages: nodes, each in one list, or in one list for each shape of key.

use super::buckets::{Buckets, NONE};
use super::key::{Key, SHAPES};

#[derive(Debug, Clone, Copy)]
struct Links {
    prev: u32,
    next: u32,
}

const UNLINKED: Links = Links { prev: NONE, next: NONE };

/// A node: an unexpected message.
#[derive(Debug)]
pub(super) struct UnexpectedNode<V> {
    pub(super) key: Key,
    pub(super) order: u64,
    links: [Links; SHAPES],
    /// `None` while the node is free; then `order` holds the next free node.
    pub(super) value: Option<V>,
}

/// Nodes and the lists they stand in.
#[derive(Debug)]
pub(super) struct Lists<V> {
    pub(super) nodes: Vec<UnexpectedNode<V>>,
    free: u32,
    buckets: Buckets,
    pub(super) live: usize,
    next_order: u64,
}

impl<V> Lists<V> {
    pub(super) fn new() -> Lists<V> {
        Lists { nodes: Vec::new(), free: NONE, buckets: Buckets::new(), live: 0, next_order: 0 }
    }

    #[inline]
    pub(super) fn add(&mut self, key: Key, value: V, stamp: Option<u64>) -> u32 {
        let order = stamp.unwrap_or(self.next_order);
        self.next_order += 1;
        self.live += 1;
        let node = UnexpectedNode { key, order, links: [UNLINKED; SHAPES], value: Some(value) };
        if self.free == NONE {
            self.nodes.push(node);
            return self.nodes.len() as u32 - 1;
        }
        let at = self.free;
        self.free = self.nodes[at as usize].order as u32;
        self.nodes[at as usize] = node;
        at
    }

    #[inline]
    pub(super) fn release(&mut self, at: u32) -> Option<V> {
        let node = &mut self.nodes[at as usize];
        node.order = u64::from(self.free);
        self.free = at;
        self.live -= 1;
        node.value.take()
    }

    /// Appends the node to the list of `key`, using its links number `list`.
    #[inline]
    pub(super) fn link(&mut self, at: u32, key: &Key, list: usize) {
        let bucket = self.buckets.list_of(key);
        self.nodes[at as usize].links[list] = Links { prev: bucket.tail, next: NONE };
        if bucket.tail == NONE {
            bucket.head = at;
        } else {
            self.nodes[bucket.tail as usize].links[list].next = at;
        }
        bucket.tail = at;
    }

    #[inline]
    pub(super) fn unlink(&mut self, at: u32, key: &Key, list: usize) {
        let Links { prev, next } = self.nodes[at as usize].links[list];
        let bucket = self.buckets.list_of(key);
        if prev == NONE {
            bucket.head = next;
        } else {
            self.nodes[prev as usize].links[list].next = next;
        }
        if next == NONE {
            bucket.tail = prev;
        } else {
            self.nodes[next as usize].links[list].prev = prev;
        }
    }

    /// Takes the first node out of the list of `key`, which is its only list, if
    /// `is_wanted` accepts its value.
    #[inline(always)]
    pub(super) fn pop_if(&mut self, key: &Key, is_wanted: impl FnOnce(&V) -> bool) -> Option<u32> {
        let list = self.buckets.existing_list_of(key)?;
        let at = list.head;
        let node = self.nodes.get(at as usize)?;
        if !node.value.as_ref().is_some_and(is_wanted) {
            return None;
        }
        let next = node.links[0].next;
        list.head = next;
        match self.nodes.get_mut(next as usize) {
            Some(node) => node.links[0].prev = NONE,
            None => list.tail = NONE,
        }
        Some(at)
    }

    /// Finds the first node in the list of an exact key whose value `is_wanted` accepts.
    pub(super) fn search(&mut self, key: &Key, is_wanted: impl Fn(&V) -> bool) -> Option<u32> {
        let mut at = self.first(key);
        while let Some(node) = self.nodes.get(at as usize) {
            if node.value.as_ref().is_some_and(&is_wanted) {
                return Some(at);
            }
            at = node.links[0].next;
        }
        None
    }

    #[inline(always)]
    pub(super) fn first(&mut self, key: &Key) -> u32 {
        self.buckets.existing_list_of(key).map_or(NONE, |list| list.head)
    }
}
