//! Many atomic words, all zero at first, of which a few may be used: those that nobody uses take no memory.
//!
//! The words lie in blocks. The first one exists from the start, so ordinary numbers of words are an array.
//! Another block comes with the first use of one of its words.

use heddle_platform::platform::AtomicInteger;
use std::sync::OnceLock;

/// The words of a block.
const BLOCK: usize = 1 << 15;

/// The words.
#[derive(Debug)]
pub struct Sparse<A> {
    len: usize,
    first: Box<[A]>,
    others: Box<[OnceLock<Box<[A]>>]>,
}

impl<A: AtomicInteger<u32>> Sparse<A> {
    /// That many words.
    #[must_use]
    pub fn new(len: usize) -> Self {
        let others = len.div_ceil(BLOCK).saturating_sub(1);
        Sparse {
            len,
            first: zeros(len.min(BLOCK)),
            others: std::iter::repeat_with(OnceLock::new).take(others).collect(),
        }
    }

    /// How many words there are.
    #[inline(always)]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The word at an index.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub fn at(&self, index: usize) -> &A {
        match self.first.get(index) {
            Some(word) => word,
            None => self.far(index),
        }
    }

    #[cold]
    #[inline(never)]
    fn far(&self, index: usize) -> &A {
        assert!(index < self.len, "there is no word {index} among {}", self.len);
        &self.others[index / BLOCK - 1].get_or_init(|| zeros(BLOCK))[index % BLOCK]
    }

    /// The word at an index, unless its block is not used yet, so that the word is zero.
    pub fn peek(&self, index: usize) -> Option<&A> {
        self.first.get(index).or_else(|| {
            let block = self.others.get((index / BLOCK).checked_sub(1)?)?.get()?;
            block.get(index % BLOCK)
        })
    }

    /// The words of the blocks that exist, with their indices.
    pub fn used(&self) -> impl Iterator<Item = (usize, &A)> {
        let others = self.others.iter().map(|block| block.get().map_or(&[][..], |block| block));
        let blocks = std::iter::once(&*self.first).chain(others).enumerate();
        blocks.flat_map(|(block, words)| {
            words.iter().enumerate().map(move |(word, value)| (block * BLOCK + word, value))
        })
    }
}

fn zeros<A: AtomicInteger<u32>>(len: usize) -> Box<[A]> {
    std::iter::repeat_with(|| A::new(0)).take(len).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use heddle_platform::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn words_are_where_they_were_put_and_others_take_no_memory() {
        let words = Sparse::<AtomicU32>::new(i32::MAX as usize);
        let indices = [0, BLOCK - 1, BLOCK, 7 * BLOCK + 5, i32::MAX as usize - 1];
        for (value, index) in indices.iter().enumerate() {
            assert_eq!(words.at(*index).load(Relaxed), 0);
            words.at(*index).store(value as u32 + 1, Relaxed);
        }
        assert!(
            words.peek(2 * BLOCK).is_none()
                && words.peek(BLOCK + 1).is_some_and(|word| word.load(Relaxed) == 0)
        );
        assert!(
            indices
                .iter()
                .zip(1..)
                .all(|(index, value)| words.peek(*index).map(|word| word.load(Relaxed)) == Some(value))
        );
        let used = words.used().filter(|(_, word)| word.load(Relaxed) != 0);
        let used: Vec<_> = used.map(|(index, word)| (index, word.load(Relaxed))).collect();
        assert_eq!(used, indices.iter().copied().zip(1..).collect::<Vec<_>>());
        assert_eq!(words.others.iter().filter(|block| block.get().is_some()).count(), 3);
        assert_eq!(words.len(), i32::MAX as usize);
    }

    #[test]
    #[should_panic(expected = "there is no word 3 among 3")]
    fn a_word_behind_the_last_one_is_none() {
        Sparse::<AtomicU32>::new(3).at(3);
    }
}
