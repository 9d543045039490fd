//! A value that several owners share, as in `Arc`, but where there is no memory for it, it is an error.
//! Nobody asks about the owners, so the model checker has nothing to explore here.

use crate::allocate::OutOfMemory;
use std::alloc::{Layout, alloc};
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
// Under the model checker, too: it does not know of owners outside of its models.
#[allow(clippy::disallowed_types)]
use std::sync::atomic::{AtomicUsize, Ordering, fence};

#[allow(clippy::disallowed_types)]
struct Counted<T> {
    owners: AtomicUsize,
    value: T,
}

/// A value that lives as long as its last owner.
pub struct Shared<T>(NonNull<Counted<T>>);

// SAFETY: owners in several threads read the value, and the last of them drops it.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: a reference to an owner gives another owner.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// A value with one owner.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new(value: T) -> Result<Shared<T>, OutOfMemory> {
        let layout = Layout::new::<Counted<T>>();
        // SAFETY: the layout has the counter, so it is not empty.
        let place = unsafe { alloc(layout) };
        let place = NonNull::new(place).ok_or(OutOfMemory { bytes: layout.size() })?.cast::<Counted<T>>();
        // SAFETY: the memory was allocated just now with this layout.
        unsafe { place.write(Counted { owners: AtomicUsize::new(1), value }) };
        Ok(Shared(place))
    }

    fn counted(&self) -> &Counted<T> {
        // SAFETY: the value lives as long as this owner of it.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.counted().value
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        // Relaxed: this owner keeps the value until the new one has it. The count cannot overflow, since
        // there is no memory for so many owners.
        self.counted().owners.fetch_add(1, Ordering::Relaxed);
        Shared(self.0)
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // Release: pairs with the fence of the last owner, which drops what the others have read.
        if self.counted().owners.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: no owner is left, and the memory was allocated as that of a box is.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_last_owner_drops_the_value() {
        let inside = Arc::new(5);
        let one = Shared::new(Arc::clone(&inside)).expect("memory");
        let others: Vec<_> = (0..4).map(|_| one.clone()).collect();
        let readers = others.into_iter().map(|owner| std::thread::spawn(move || **owner));
        assert_eq!(readers.map(|reader| reader.join().expect("it ends")).collect::<Vec<_>>(), [5; 4]);
        assert_eq!((**one, Arc::strong_count(&inside)), (5, 2));
        drop(one);
        assert_eq!(Arc::strong_count(&inside), 1);
    }
}
