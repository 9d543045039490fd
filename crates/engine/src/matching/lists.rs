//! Lists of nodes, found by their key: what both sets of the matching are made of.

use super::{Key, SHAPES};
use heddle_transport::Envelope;

pub(super) const NONE: u32 = u32::MAX;

/// A list: its first and last node.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    key: Key,
    used: bool,
    head: u32,
    tail: u32,
}

const EMPTY: Bucket =
    Bucket { key: Key { context: 0, envelope: Envelope::new(0, 0) }, used: false, head: NONE, tail: NONE };

/// Lists by key: open addressing, linear probing. Emptied lists stay until the table grows, since keys come back.
/// The place found last is tried first: messages come in bursts of equal keys.
#[derive(Debug)]
struct Buckets {
    table: Vec<Bucket>,
    used: usize,
    last: usize,
}

impl Buckets {
    fn new() -> Buckets {
        Buckets { table: vec![EMPTY; 16], used: 0, last: 0 }
    }

    #[inline(always)]
    fn probe(&self, key: &Key) -> usize {
        let mask = self.table.len() - 1;
        let mut at = key.hash() as usize & mask;
        while self.table[at].used && self.table[at].key != *key {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline(always)]
    fn is_last(&self, key: &Key) -> bool {
        let last = &self.table[self.last];
        last.key == *key && last.used
    }

    #[inline(always)]
    fn find(&mut self, key: &Key) -> Option<usize> {
        if !self.is_last(key) {
            let at = self.probe(key);
            if !self.table[at].used {
                return None;
            }
            self.last = at;
        }
        Some(self.last)
    }

    #[inline(always)]
    fn find_or_add(&mut self, key: &Key) -> usize {
        if !self.is_last(key) {
            let at = self.probe(key);
            self.last = if self.table[at].used { at } else { self.add(at, key) };
        }
        self.last
    }

    #[cold]
    fn add(&mut self, mut at: usize, key: &Key) -> usize {
        if (self.used + 1) * 2 > self.table.len() {
            self.rebuild();
            at = self.probe(key);
        }
        self.table[at] = Bucket { key: *key, used: true, ..EMPTY };
        self.used += 1;
        at
    }

    /// Drops empty lists, and grows if that did not make enough room.
    fn rebuild(&mut self) {
        let filled: Vec<Bucket> = self.table.iter().filter(|b| b.used && b.head != NONE).copied().collect();
        let size = (filled.len() * 4 + 16).next_power_of_two();
        self.table = vec![EMPTY; size];
        self.used = filled.len();
        self.last = 0;
        for bucket in filled {
            let at = self.probe(&bucket.key);
            self.table[at] = bucket;
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Links {
    prev: u32,
    next: u32,
}

const UNLINKED: Links = Links { prev: NONE, next: NONE };

/// A node of a list: a posted receive or an unexpected message.
#[derive(Debug)]
pub(super) struct Node<V> {
    pub(super) key: Key,
    pub(super) order: u64,
    links: [Links; SHAPES],
    /// `None` while the node is free; then `order` holds the next free node.
    pub(super) value: Option<V>,
}

/// Nodes and the lists they stand in.
#[derive(Debug)]
pub(super) struct Lists<V> {
    pub(super) nodes: Vec<Node<V>>,
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
    pub(super) fn add(&mut self, key: Key, value: V) -> u32 {
        let order = self.next_order;
        self.next_order += 1;
        self.live += 1;
        let node = Node { key, order, links: [UNLINKED; SHAPES], value: Some(value) };
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

    /// Appends the node to the list of `key`, using its links number `lane`.
    #[inline]
    pub(super) fn link(&mut self, at: u32, key: &Key, lane: usize) {
        let index = self.buckets.find_or_add(key);
        let bucket = &mut self.buckets.table[index];
        self.nodes[at as usize].links[lane] = Links { prev: bucket.tail, next: NONE };
        if bucket.tail == NONE {
            bucket.head = at;
        } else {
            self.nodes[bucket.tail as usize].links[lane].next = at;
        }
        bucket.tail = at;
    }

    #[inline]
    pub(super) fn unlink(&mut self, at: u32, key: &Key, lane: usize) {
        let Links { prev, next } = self.nodes[at as usize].links[lane];
        let index = self.buckets.find_or_add(key);
        let bucket = &mut self.buckets.table[index];
        if prev == NONE {
            bucket.head = next;
        } else {
            self.nodes[prev as usize].links[lane].next = next;
        }
        if next == NONE {
            bucket.tail = prev;
        } else {
            self.nodes[next as usize].links[lane].prev = prev;
        }
    }

    #[inline(always)]
    pub(super) fn first(&mut self, key: &Key) -> u32 {
        self.buckets.find(key).map_or(NONE, |at| self.buckets.table[at].head)
    }
}
