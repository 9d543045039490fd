//! Regions of memory that a process attaches to a dynamic window (MPI 5.0, section 12.2.4).
//! Displacements are addresses.
//!
//! A process lists its regions in its window block, where others find out whether an access lies in one.
//! Only the process itself changes the list; the program detaches no region that others still access. A
//! region of no bytes overlaps nothing and nobody accesses it, so only the process itself remembers it.

use crate::geometry::{Geometry, REGIONS, WordAt};
use crate::remote::Remote;
use heddle_message::error::{Error, Result};
use heddle_spec::constants as mpi;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

#[cold]
fn failed(message: String) -> Error {
    Error::new(mpi::MPI_ERR_RMA_ATTACH, message)
}

/// The attached regions of this process that have no bytes, by their addresses. Its mutex keeps threads of
/// the process from changing the window's list of regions at the same time.
#[derive(Debug, Default)]
pub(crate) struct Empty(Mutex<Vec<u64>>);

/// Adds a region to this process's list.
///
/// # Errors
/// `MPI_ERR_BASE` if it begins at a null pointer; `MPI_ERR_RMA_ATTACH` if it overlaps an attached region,
/// ends beyond all addresses, or if the list is full.
pub(crate) fn attach(remote: &impl Remote, empty: &Empty, own: usize, address: u64, len: u64) -> Result<()> {
    if address == 0 && len > 0 {
        let message = format!("{len} bytes of memory are to be attached at a null pointer");
        return Err(Error::new(mpi::MPI_ERR_BASE, message));
    }
    // Displacements are signed, so no region ends beyond 63 bits.
    if address.checked_add(len).is_none_or(|end| end > i64::MAX as u64) {
        return Err(failed(format!("the {len} bytes at {address:#x} end beyond all addresses")));
    }
    let mut empty = empty.0.lock().unwrap_or_else(PoisonError::into_inner);
    if len == 0 {
        empty.push(address);
        return Ok(());
    }
    let used = remote.load(own, remote.geometry().regions_used()) as usize;
    let mut free = used;
    for index in 0..used {
        let (first, size) = read(remote, own, index);
        if size == 0 {
            free = index;
        } else if address < first + size && first < address + len {
            return Err(failed(format!(
                "the {len} bytes at {address:#x} overlap the {size} bytes at {first:#x}, which are attached already"
            )));
        }
    }
    if free == REGIONS {
        return Err(failed(format!("{REGIONS} regions are attached; detach one before you attach another")));
    }
    let [first, size] = remote.geometry().region(free);
    remote.store(own, first, address);
    // A process that reads the length also reads the address.
    remote.store(own, size, len);
    if free == used {
        remote.store(own, remote.geometry().regions_used(), used as u64 + 1);
    }
    Ok(())
}

/// Removes a region that begins at `address`: one of no bytes first, so that what begins at the same address
/// can be accessed until as many regions are detached as were attached there.
///
/// # Errors
/// `MPI_ERR_RMA_ATTACH` if there is none.
pub(crate) fn detach(remote: &impl Remote, empty: &Empty, own: usize, address: u64) -> Result<()> {
    let mut empty = empty.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = empty.iter().position(|there| *there == address) {
        empty.swap_remove(found);
        return Ok(());
    }
    let used = remote.load(own, remote.geometry().regions_used()) as usize;
    match (0..used).find(|index| matches!(read(remote, own, *index), (first, 1..) if first == address)) {
        Some(index) => {
            remote.store(own, remote.geometry().region(index)[1], 0);
            Ok(())
        }
        None => Err(failed(format!("no region that begins at {address:#x} is attached to this window"))),
    }
}

/// Returns true if the bytes lie in one region that the process has attached, whose words `load` reads.
pub(crate) fn is_in_region(
    geometry: &Geometry,
    load: impl Fn(WordAt) -> u64,
    address: u64,
    len: u64,
) -> bool {
    let used = load(geometry.regions_used()) as usize;
    (0..used.min(REGIONS)).any(|index| {
        let (first, size) = region(geometry, &load, index);
        first <= address && address - first <= size && len <= size - (address - first)
    })
}

/// The attached memory of a process in stretches, from the lowest: regions that touch are one, since data may
/// lie across their border. `load` reads the process's words.
pub(crate) fn stretches(geometry: &Geometry, load: impl Fn(WordAt) -> u64) -> Vec<Range<u64>> {
    let used = load(geometry.regions_used()) as usize;
    let regions = (0..used.min(REGIONS)).map(|index| region(geometry, &load, index));
    joined(
        regions
            .filter(|(_, size)| *size != 0)
            .map(|(first, size)| first..first.saturating_add(size))
            .collect(),
    )
}

/// Sorts regions, and makes one of those that touch.
fn joined(mut regions: Vec<Range<u64>>) -> Vec<Range<u64>> {
    regions.sort_unstable_by_key(|region| region.start);
    regions.dedup_by(|next, before| {
        let touch = next.start <= before.end;
        if touch {
            before.end = before.end.max(next.end);
        }
        touch
    });
    regions
}

/// The number of the stretch in which the bytes lie, if they are attached.
pub(crate) fn stretch_of(stretches: &[Range<u64>], address: u64, len: u64) -> Option<usize> {
    let index = stretches.partition_point(|stretch| stretch.end <= address);
    let stretch = stretches.get(index)?;
    (stretch.start <= address && len <= stretch.end - address).then_some(index)
}

/// A question about attached memory, as it travels.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Question {
    /// 1 if the bytes are attached, otherwise 0.
    IsAttached,
    /// Where the stretch of the bytes begins; 0 if they are not attached.
    Start,
    /// Where it ends; 0 if they are not attached.
    End,
}

impl Question {
    const ALL: [Question; 3] = [Question::IsAttached, Question::Start, Question::End];

    /// The question with this number.
    pub(crate) fn of(number: u64) -> Option<Question> {
        Question::ALL.into_iter().find(|question| *question as u64 == number)
    }

    /// The answer about bytes in these stretches. None begins at 0, where nothing can be attached.
    pub(crate) fn answer(self, stretches: &[Range<u64>], address: u64, len: u64) -> u64 {
        stretch_of(stretches, address, len).map_or(0, |index| match self {
            Question::IsAttached => 1,
            Question::Start => stretches[index].start,
            Question::End => stretches[index].end,
        })
    }
}

fn read(remote: &impl Remote, rank: usize, index: usize) -> (u64, u64) {
    region(remote.geometry(), |word| remote.load(rank, word), index)
}

fn region(geometry: &Geometry, load: impl Fn(WordAt) -> u64, index: usize) -> (u64, u64) {
    let [first, size] = geometry.region(index);
    // The length first: `attach` stores it last.
    let size = load(size);
    (load(first), size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_that_touch_are_one_stretch_whatever_their_order() {
        let stretches = joined(vec![300..400, 100..200, 500..501, 200..300, 501..600]);
        assert_eq!(stretches, [100..400, 500..600]);
        assert_eq!(stretch_of(&stretches, 150, 250), Some(0), "across two borders, up to the end");
        assert_eq!(stretch_of(&stretches, 150, 251), None, "one byte too many");
        assert_eq!(stretch_of(&stretches, 99, 2), None);
        assert_eq!(stretch_of(&stretches, 400, 1), None, "behind the end");
        assert_eq!(stretch_of(&stretches, 500, 100), Some(1));
        assert_eq!(stretch_of(&stretches, 390, 120), None, "across a gap");
        assert_eq!(stretch_of(&stretches, 599, u64::MAX), None);
        assert_eq!(stretch_of(&[], 0, 1), None);
    }

    #[test]
    fn questions_have_numbers_and_answers() {
        let stretches = [100..400, 500..600];
        let ask = |number, address, len| {
            Question::of(number).map(|question| question.answer(&stretches, address, len))
        };
        assert_eq!([0, 1, 2].map(|number| ask(number, 150, 10)), [Some(1), Some(100), Some(400)]);
        assert_eq!([0, 1, 2].map(|number| ask(number, 390, 20)), [Some(0); 3]);
        assert_eq!(ask(3, 150, 10), None);
    }
}
