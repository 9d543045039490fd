//! Handles as words, and the slots that they name.

/// The kinds of objects, as they stand in handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ObjectKind {
    /// Communicator.
    Comm = 1,
    /// Group of processes.
    Group,
    /// Derived datatype.
    Datatype,
    /// User-defined reduction operator.
    Op,
    /// User-defined error handler.
    Errhandler,
    /// Info object.
    Info,
    /// Matched message.
    Message,
    /// Request.
    Request,
    /// Session.
    Session,
    /// Window.
    Win,
}

/// Slots of the first block; block *b* has this many times 2^b. In a model there is one, of a few slots.
pub(super) const FIRST_BLOCK: u32 = if cfg!(loom) { 4 } else { 64 };
pub(super) const BLOCKS: usize = if cfg!(loom) { 1 } else { 24 };
pub(super) const GENERATION_MASK: u32 = 0x00ff_ffff;

/// A decoded handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleParts {
    /// Slot index.
    pub index: u32,
    /// Generation, 24 bits.
    pub generation: u32,
}

/// Makes a handle.
#[inline(always)]
pub fn encode(kind: ObjectKind, parts: HandleParts) -> usize {
    (upper_half(kind, parts.generation) as usize) << 32 | parts.index as usize
}

/// The upper half of a handle: its kind and generation. The lower half is the index.
#[inline(always)]
pub fn upper_half(kind: ObjectKind, generation: u32) -> u32 {
    (0x80 + kind as u32) << 24 | generation
}

/// Takes a handle apart; `None` if it is of another kind.
#[inline(always)]
pub fn decode(kind: ObjectKind, handle: usize) -> Option<HandleParts> {
    if handle >> 56 != 0x80 + kind as usize {
        return None;
    }
    Some(HandleParts { index: handle as u32, generation: (handle >> 32) as u32 & GENERATION_MASK })
}

/// The block of an index and the offset in it.
#[inline(always)]
pub(super) fn locate(index: u32) -> (usize, usize) {
    let shifted = u64::from(index) + u64::from(FIRST_BLOCK);
    let block = (63 - shifted.leading_zeros()) as usize - FIRST_BLOCK.trailing_zeros() as usize;
    (block, (shifted - (u64::from(FIRST_BLOCK) << block)) as usize)
}

/// The number of slots of a block.
pub(super) fn block_len(block: usize) -> usize {
    (FIRST_BLOCK as usize) << block
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn locate_covers_all_indices_once() {
        let mut expected = (0, 0);
        for index in 0..100_000 {
            assert_eq!(locate(index), expected);
            expected.1 += 1;
            if expected.1 == block_len(expected.0) {
                expected = (expected.0 + 1, 0);
            }
        }
        assert!(locate(u32::MAX).0 > BLOCKS, "the last index is beyond all blocks");
    }
}
