//! Lists found by their key, by hashing; both sets of the matching consist of them.

use super::key::Key;
use heddle_transport::Envelope;

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// A list: its first and last node.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    pub(super) head: u32,
    pub(super) tail: u32,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    key: Key,
    list: List,
}

/// The context of a free bucket's key; no communicator has it.
const UNUSED: Key = Key { context: u64::MAX, envelope: Envelope::new(0, 0) };

const EMPTY: Bucket = Bucket { key: UNUSED, list: List { head: NONE, tail: NONE } };

/// Lists by key: open addressing, linear probing. Emptied lists stay until the table grows, since keys come
/// back. The bucket found last is tried first: messages come in bursts of equal keys.
#[derive(Debug)]
pub(super) struct Buckets {
    table: Vec<Bucket>,
    used: usize,
    last: usize,
}

impl Buckets {
    pub(super) fn new() -> Buckets {
        Buckets { table: vec![EMPTY; 16], used: 0, last: 0 }
    }

    /// The list of `key`, which is added if there is none.
    #[inline(always)]
    pub(super) fn list_of(&mut self, key: &Key) -> &mut List {
        if self.is_last(key) {
            return &mut self.table[self.last].list;
        }
        self.last = self.probe_or_add(key);
        &mut self.table[self.last].list
    }

    /// The list of `key`, if there is one.
    #[inline(always)]
    pub(super) fn existing_list_of(&mut self, key: &Key) -> Option<&mut List> {
        if self.is_last(key) {
            return Some(&mut self.table[self.last].list);
        }
        let at = self.probe(key);
        let bucket = &mut self.table[at];
        if bucket.key == UNUSED {
            return None;
        }
        self.last = at;
        Some(&mut bucket.list)
    }

    #[inline(always)]
    fn is_last(&self, key: &Key) -> bool {
        self.table[self.last].key == *key
    }

    #[inline]
    fn probe(&self, key: &Key) -> usize {
        let mask = self.table.len() - 1;
        let mut at = key.hash() as usize & mask;
        while self.table[at].key != *key && self.table[at].key != UNUSED {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline(never)]
    fn probe_or_add(&mut self, key: &Key) -> usize {
        let at = self.probe(key);
        if self.table[at].key == UNUSED { self.add(at, key) } else { at }
    }

    #[cold]
    fn add(&mut self, mut at: usize, key: &Key) -> usize {
        if (self.used + 1) * 2 > self.table.len() {
            self.rebuild();
            at = self.probe(key);
        }
        self.table[at] = Bucket { key: *key, ..EMPTY };
        self.used += 1;
        at
    }

    /// Drops empty lists, and grows if that did not make enough room.
    fn rebuild(&mut self) {
        let filled: Vec<Bucket> = self.table.iter().filter(|b| b.list.head != NONE).copied().collect();
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
