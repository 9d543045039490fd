//! Operations that wait for their answers.

use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A thread's wait for one answer or several.
#[derive(Debug, Default)]
pub(crate) struct Call {
    /// The answers that are not there.
    left: AtomicU32,
    /// The value of the last one.
    value: AtomicU64,
}

impl Call {
    /// The number of answers that are not there. Their data is visible to a thread that reads 0.
    pub(super) fn left(&self) -> u32 {
        self.left.load(Ordering::SeqCst)
    }

    pub(super) fn value(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }
}

/// An answer that is awaited.
#[derive(Debug)]
struct Awaited {
    call: *const Call,
    /// Where its data goes.
    to: *mut u8,
    len: usize,
}

// SAFETY: the thread that waits leaves the call and the memory alone until the answer is there.
unsafe impl Send for Awaited {}

/// The answers that are awaited, by their tokens.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<(u64, HashMap<u64, Awaited>)>);

impl Calls {
    fn lock(&self) -> MutexGuard<'_, (u64, HashMap<u64, Awaited>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Awaits one more answer in a call. Returns its token.
    ///
    /// # Safety
    /// The caller waits until nothing is [left](Call::left) of the call, and until then nobody else uses the
    /// `len` bytes at `to`.
    pub(super) unsafe fn begin(&self, call: &Call, to: *mut u8, len: usize) -> u64 {
        call.left.fetch_add(1, Ordering::Relaxed);
        let mut calls = self.lock();
        let (next, awaited) = &mut *calls;
        *next += 1;
        awaited.insert(*next, Awaited { call, to, len });
        *next
    }

    /// Takes an answer. Returns false if nobody awaits it, or not in this form.
    pub(super) fn answer(&self, token: u64, value: u64, data: &[u8]) -> bool {
        let Some(Awaited { call, to, len }) = self.lock().1.remove(&token) else { return false };
        if data.len() != len {
            return false;
        }
        if len > 0 {
            // SAFETY: the memory has room for the answer, and nobody else uses it, by the promise to `begin`.
            unsafe { to.copy_from_nonoverlapping(data.as_ptr(), len) };
        }
        // SAFETY: the call lives until nothing is left of it, by the promise to `begin`.
        let call = unsafe { &*call };
        call.value.store(value, Ordering::Relaxed);
        call.left.fetch_sub(1, Ordering::SeqCst);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_any_order_and_each_once() {
        let (calls, call, mut data) = (Calls::default(), Call::default(), [0u8; 4]);
        let to = data.as_mut_ptr();
        // SAFETY: the call and the array outlive the answers.
        let tokens = [0, 2].map(|at| unsafe { calls.begin(&call, to.wrapping_add(at), 2) });
        assert!(calls.answer(tokens[1], 7, &[3, 4]));
        assert_eq!((call.left(), call.value()), (1, 7));
        assert!(!calls.answer(tokens[1], 7, &[3, 4]), "it was there already");
        assert!(calls.answer(tokens[0], 8, &[1, 2]));
        assert_eq!((call.left(), data), (0, [1, 2, 3, 4]));
        assert!(!calls.answer(99, 0, &[]));
    }

    #[test]
    fn an_answer_of_another_length_is_not_taken() {
        let (calls, call, mut data) = (Calls::default(), Call::default(), [0u8; 4]);
        // SAFETY: the call and the array outlive the answer.
        let token = unsafe { calls.begin(&call, data.as_mut_ptr(), 4) };
        assert!(!calls.answer(token, 0, &[1; 5]));
        assert_eq!(data, [0; 4]);
    }
}
