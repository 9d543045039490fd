//! The buffer that a program attaches for buffered sends.

use heddle_platform::atomic::{AtomicUsize, Ordering};

/// A buffer that the program has attached.
#[derive(Debug)]
pub struct Attached {
    /// Its address, to be given back at detach.
    pub address: usize,
    /// Its size in bytes; `None` if the library allocates what it needs (`MPI_BUFFER_AUTOMATIC`).
    pub size: Option<usize>,
    /// Bytes that buffered sends hold.
    pub pending: AtomicUsize,
}

impl Attached {
    /// An unused buffer.
    pub fn new(address: usize, size: Option<usize>) -> Attached {
        Attached { address, size, pending: AtomicUsize::new(0) }
    }

    /// Takes room for a message of `share` bytes.
    ///
    /// # Errors
    /// The number of bytes that pending sends hold, if there is no room.
    pub fn reserve(&self, share: usize) -> Result<(), usize> {
        let size = self.size.unwrap_or(usize::MAX);
        let with_share = |pending: usize| pending.checked_add(share).filter(|&sum| sum <= size);
        // Acquire: pairs with the Release in `Staged::drop`.
        self.pending.fetch_update(Ordering::Acquire, Ordering::Acquire, with_share).map(drop)
    }
}
