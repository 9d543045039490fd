//! Vectors whose length a program chooses: a count that it passes, a graph that it describes. Rust's own
//! constructors end the process where there is no memory for them; these return an error instead.

use std::error::Error;
use std::fmt;

/// There is no memory for a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfMemory {
    /// The length of all its items, in bytes.
    pub bytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no memory for {} bytes, which the call needs", self.bytes)
    }
}

impl Error for OutOfMemory {}

#[cold]
fn out_of_memory<T>(len: usize) -> OutOfMemory {
    OutOfMemory { bytes: len.saturating_mul(size_of::<T>()) }
}

/// Makes room for exactly `more` items.
///
/// # Errors
/// The vector is unchanged then.
pub fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    items.try_reserve_exact(more).map_err(|_| out_of_memory::<T>(items.len().saturating_add(more)))
}

/// Appends an item.
///
/// # Errors
/// The vector is unchanged then.
#[inline]
pub fn push<T>(items: &mut Vec<T>, item: T) -> Result<(), OutOfMemory> {
    if items.len() == items.capacity() {
        // The room grows by a factor, so that many pushes cost no more than one allocation.
        items.try_reserve(1).map_err(|_| out_of_memory::<T>(items.len() + 1))?;
    }
    items.push(item);
    Ok(())
}

/// `len` times the same item.
///
/// # Errors
/// There is no memory for them.
pub fn filled<T: Clone>(len: usize, item: T) -> Result<Vec<T>, OutOfMemory> {
    let mut all = Vec::new();
    reserve(&mut all, len)?;
    all.resize(len, item);
    Ok(all)
}

/// A copy of a slice.
///
/// # Errors
/// There is no memory for it.
pub fn copied<T: Clone>(items: &[T]) -> Result<Vec<T>, OutOfMemory> {
    joined(&[items])
}

/// A copy of slices, one behind the other.
///
/// # Errors
/// There is no memory for it.
pub fn joined<T: Clone>(parts: &[&[T]]) -> Result<Vec<T>, OutOfMemory> {
    let mut all = Vec::new();
    reserve(&mut all, parts.iter().map(|part| part.len()).sum())?;
    parts.iter().for_each(|part| all.extend_from_slice(part));
    Ok(all)
}

/// All items of an iterator.
///
/// # Errors
/// There is no memory for them.
pub fn collected<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>, OutOfMemory> {
    let mut items = items.into_iter();
    let (mut all, least) = (Vec::new(), items.size_hint().0);
    reserve(&mut all, least)?;
    all.extend(items.by_ref().take(least));
    items.try_for_each(|item| push(&mut all, item))?;
    Ok(all)
}

/// All items of an iterator, or its first error.
///
/// # Errors
/// The iterator's; there is no memory for the items.
pub fn try_collected<T, E: From<OutOfMemory>>(
    items: impl IntoIterator<Item = Result<T, E>>,
) -> Result<Vec<T>, E> {
    let items = items.into_iter();
    let mut all = Vec::new();
    reserve(&mut all, items.size_hint().0)?;
    for item in items {
        push(&mut all, item?)?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_memory_has_room_for_is_an_error() {
        let too_many = usize::MAX / 8;
        let refused = OutOfMemory { bytes: too_many * 8 };
        assert_eq!(filled(too_many, 0_u64), Err(refused));
        assert_eq!(collected(0..too_many as u64), Err(refused));
        let mut some = vec![1_u64];
        assert_eq!(reserve(&mut some, usize::MAX), Err(OutOfMemory { bytes: usize::MAX }));
        assert_eq!(some, [1]);
    }

    #[test]
    fn vectors_have_what_was_asked_for() {
        assert_eq!(filled(3, 7), Ok(vec![7; 3]));
        assert_eq!(copied(&[1, 2]), Ok(vec![1, 2]));
        assert_eq!(joined(&[&[1][..], &[], &[2, 3]]), Ok(vec![1, 2, 3]));
        assert_eq!(collected((0..9).filter(|number| number % 4 == 0)), Ok(vec![0, 4, 8]));
        let halves = |numbers: &[i32]| {
            try_collected(
                numbers.iter().map(|n| if n % 2 == 0 { Ok(n / 2) } else { Err(OutOfMemory { bytes: 0 }) }),
            )
        };
        assert_eq!((halves(&[4, 6]), halves(&[4, 5])), (Ok(vec![2, 3]), Err(OutOfMemory { bytes: 0 })));
    }
}
