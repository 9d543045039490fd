//! Blocks of any lengths in one round, one for each process: behind a table that says where each begins.
//!
//! ```text
//!   where the block of each process begins (u32) │ the blocks, in the order of the processes
//! ```
//!
//! A block ends where the next one begins. One for which there is no room stays in the memory of the process
//! that publishes it: it is exposed, and in its place stand its length and its address there.

use crate::limits::Limits;
use crate::published::{Data, Published};
use heddle_message::buffer::Buffer;
use heddle_transport::Stores;

/// The place of a block in the table.
type Entry = u32;

const ENTRY: usize = size_of::<Entry>();

/// Beside the beginning of a block: it is exposed.
const EXPOSED: Entry = 1 << 31;

/// The length and the address of an exposed block, which stand in its place.
type Elsewhere = [u64; 2];

const ELSEWHERE: usize = size_of::<Elsewhere>();

const LINE: usize = 64;

/// Blocks for all processes, to be [published](crate::Blackboard::publish_blocks) in one round.
#[derive(Debug)]
pub struct BlockTable {
    blocks: Box<[Buffer]>,
    /// For each block: true if it is exposed. Empty if none is.
    exposed: Box<[bool]>,
    /// Where the first block begins.
    first: usize,
    /// The bytes to publish.
    len: usize,
}

impl BlockTable {
    /// Returns true if so many processes may publish blocks of any lengths within these limits.
    #[must_use]
    pub fn fits(processes: usize, limits: &Limits) -> bool {
        limits.takes_all() && processes * (ENTRY + ELSEWHERE) <= limits.bytes
    }

    /// A block for each process, within limits where they [fit](Self::fits). `in_one_piece` returns where the
    /// data of a block that is going to be exposed are without gaps.
    ///
    /// # Errors
    /// Those of `in_one_piece`.
    pub fn new<E>(
        mut blocks: Box<[Buffer]>,
        limits: &Limits,
        mut in_one_piece: impl FnMut(&Buffer) -> Result<Buffer, E>,
    ) -> Result<BlockTable, E> {
        let data = blocks.iter().fold(0_usize, |sum, block| sum.saturating_add(block.len()));
        let table = blocks.len() * ENTRY;
        // Long blocks are copied quicker to the beginning of a line.
        let aligned = table.next_multiple_of(LINE);
        if data >= blocks.len() * LINE && data <= limits.bytes.saturating_sub(aligned) {
            return Ok(BlockTable { blocks, exposed: Box::default(), first: aligned, len: aligned + data });
        }
        if data <= limits.bytes - table {
            return Ok(BlockTable { blocks, exposed: Box::default(), first: table, len: table + data });
        }
        // Each block has its share of the room, and a longer one is exposed. That others leave room is no
        // reason to copy it: the process has to wait for readers anyway.
        let share = (limits.bytes - table) / blocks.len();
        let exposed: Box<[bool]> = blocks.iter().map(|block| block.len() > share).collect();
        let mut len = table;
        for (block, is_exposed) in blocks.iter_mut().zip(&exposed) {
            if *is_exposed {
                *block = in_one_piece(block)?;
            }
            len += if *is_exposed { ELSEWHERE } else { block.len() };
        }
        Ok(BlockTable { blocks, exposed, first: table, len })
    }

    /// The blocks.
    #[must_use]
    pub fn blocks(&self) -> &[Buffer] {
        &self.blocks
    }

    /// Returns true if a block is exposed. Such ones belong to the readers until those have finished the
    /// round.
    #[must_use]
    pub fn has_exposed(&self) -> bool {
        self.exposed.contains(&true)
    }

    /// The bytes to publish.
    #[expect(clippy::len_without_is_empty, reason = "the table is never empty")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Writes the table and the blocks behind it.
    ///
    /// # Safety
    /// There is room for [`len`](Self::len) bytes at `to`, which nobody reads.
    pub(crate) unsafe fn write(&self, to: *mut u8, stores: Stores) {
        let mut start = self.first;
        for (number, block) in self.blocks.iter().enumerate() {
            let is_exposed = self.exposed.get(number) == Some(&true);
            let entry = start as Entry | if is_exposed { EXPOSED } else { 0 };
            // SAFETY: the caller's promise; the table is the first part of the whole.
            unsafe { to.wrapping_add(number * ENTRY).cast::<Entry>().write_unaligned(entry) };
            let at = to.wrapping_add(start);
            if is_exposed {
                let Some(address) = block.contiguous() else {
                    unreachable!("data with gaps cannot be exposed")
                };
                let elsewhere = [block.len() as u64, address.expose_provenance() as u64];
                // SAFETY: the caller's promise; there is room for the place of the block.
                unsafe { at.cast::<Elsewhere>().write_unaligned(elsewhere) };
                start += ELSEWHERE;
            } else {
                // SAFETY: the same, for the block.
                unsafe { block.copy_part_out_as(0, (at, stores), block.len()) };
                start += block.len();
            }
        }
    }
}

impl Published {
    /// The block of the process `rank`, of so many, among [blocks](BlockTable) that were published, as if it
    /// had been published alone. `None` if there was no memory for them, or no block.
    #[must_use]
    pub fn block(&self, rank: usize, processes: usize) -> Option<Published> {
        let Data::Mapped(table) = self.data else { return None };
        if processes * ENTRY > self.len {
            return None;
        }
        let entry = |rank: usize| {
            // SAFETY: the table lies in the published data, which nobody changes until this process has
            // finished the round.
            unsafe { table.wrapping_add(rank * ENTRY).cast::<Entry>().read_unaligned() }
        };
        let start = |entry: Entry| (entry & !EXPOSED) as usize;
        let own = entry(rank);
        let end = if rank + 1 < processes { start(entry(rank + 1)) } else { self.len };
        let len = end.min(self.len).checked_sub(start(own))?;
        let at = table.wrapping_add(start(own));
        if own & EXPOSED == 0 {
            return Some(Published { what: self.what, len, data: Data::Mapped(at) });
        }
        if len < ELSEWHERE {
            return None;
        }
        // SAFETY: it lies in the published data, by the lengths; all values are valid.
        let [len, address] = unsafe { at.cast::<Elsewhere>().read_unaligned() };
        Some(Published { what: self.what, len: len as usize, data: Data::Exposed(address) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    const LIMITS: Limits = Limits { bytes: 112, parts: 1, exposed: Some(113), each_has_a_core: false };

    fn as_it_is(buffer: &Buffer) -> Result<Buffer, Infallible> {
        Ok(*buffer)
    }

    /// Publishes blocks of these lengths, of which each byte is the number of its block, and returns for
    /// each reader whether its block was exposed.
    fn are_exposed(lengths: &[usize]) -> Vec<bool> {
        let mut bytes: Vec<Vec<u8>> = (0u8..).zip(lengths).map(|(number, len)| vec![number; *len]).collect();
        // SAFETY: the bytes outlive the buffers.
        let buffers = bytes.iter_mut().map(|bytes| unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) });
        let Ok(blocks) = BlockTable::new(buffers.collect(), &LIMITS, as_it_is);
        assert!(blocks.len() <= LIMITS.bytes);
        let mut room = vec![0u8; LIMITS.bytes];
        // SAFETY: there is room for what is within the limits.
        unsafe { blocks.write(room.as_mut_ptr(), Stores::Cached) };
        let published = Published { what: 7, len: blocks.len(), data: Data::Mapped(room.as_ptr()) };
        let is_exposed = |(rank, bytes): (usize, &Vec<u8>)| {
            let block = published.block(rank, lengths.len()).expect("a block for each");
            assert_eq!((block.what, block.len), (7, bytes.len()));
            match block.data {
                Data::Exposed(address) => {
                    assert_eq!(address, bytes.as_ptr().addr() as u64);
                    true
                }
                Data::Mapped(data) => {
                    // SAFETY: it lies in the room.
                    assert_eq!(unsafe { std::slice::from_raw_parts(data, block.len) }, bytes);
                    false
                }
                Data::InMessage | Data::Nowhere => panic!("there was memory"),
            }
        };
        let all: Vec<bool> = bytes.iter().enumerate().map(is_exposed).collect();
        assert_eq!(blocks.has_exposed(), all.contains(&true));
        all
    }

    #[test]
    fn blocks_are_exposed_where_there_is_no_room() {
        // 96 bytes behind a table of four, so each block has a share of 24.
        assert_eq!(are_exposed(&[0; 4]), [false; 4]);
        assert_eq!(are_exposed(&[24; 4]), [false; 4]);
        assert_eq!(are_exposed(&[96, 0, 0, 0]), [false; 4], "all fit");
        assert_eq!(are_exposed(&[97, 0, 0, 0]), [true, false, false, false]);
        assert_eq!(are_exposed(&[60, 1, 60, 24]), [true, false, true, false]);
        assert_eq!(are_exposed(&[100; 4]), [true; 4]);
    }

    #[test]
    fn each_process_has_room_for_a_block_that_is_elsewhere() {
        let fits = |processes| BlockTable::fits(processes, &LIMITS);
        assert!(fits(5) && !fits(6));
        assert!(!BlockTable::fits(2, &Limits { exposed: None, ..LIMITS }));
        assert!(!BlockTable::fits(2, &Limits { exposed: Some(1000), ..LIMITS }), "some lengths fit nowhere");
    }

    #[test]
    fn a_table_of_another_operation_is_no_danger() {
        let garbage: [u32; 6] = [8, 20, 10, u32::MAX, 1 << 31 | 16, 30];
        let published =
            Published { what: 1, len: size_of_val(&garbage), data: Data::Mapped(garbage.as_ptr().cast()) };
        let lengths = |rank| published.block(rank, 6).map(|block| block.len);
        assert_eq!([0, 1, 2, 3, 4, 5].map(lengths), [Some(12), None, Some(14), None, None, None]);
        assert!(published.block(6, 7).is_none(), "no such entry");
        assert!(Published { data: Data::Nowhere, ..published }.block(0, 6).is_none());
    }
}
