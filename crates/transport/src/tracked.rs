//! For the model checker: memory that loom follows, in place of a payload.

use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::cell::UnsafeCell;

/// Memory that loom follows, in place of a payload.
pub(crate) type Tracked = UnsafeCell<[u64; 5]>;

pub(crate) fn untouched() -> Tracked {
    UnsafeCell::new([0; 5])
}

fn tracked<'a>(payload: *const u8) -> &'a Tracked {
    // SAFETY: payloads are tracked cells, in slots and in lines, and live as long as the ring.
    unsafe { &*payload.cast() }
}

pub(crate) fn to_write(payload: *mut u8) -> *mut u8 {
    tracked(payload).with_mut(|bytes| bytes.cast())
}

pub(crate) fn to_read(payload: *const u8) -> *const u8 {
    tracked(payload).with(|bytes| bytes.cast())
}

/// Writes a word that the payload of a whole-slot message may leave where the odd cell has its flag.
pub(crate) fn leave_over(word: &AtomicU64, lap: u32) {
    word.store(u64::from(lap.wrapping_add(2)), Ordering::Relaxed);
}
