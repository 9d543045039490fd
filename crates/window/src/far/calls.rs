//! Operations that wait for their answers.

use crate::answers::Answers;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An answer that is awaited.
#[derive(Debug)]
struct Awaited {
    answers: *const Answers,
    /// Where its data goes.
    to: *mut u8,
    len: usize,
}

// SAFETY: the thread that waits leaves the answers and the memory alone until this one is there.
unsafe impl Send for Awaited {}

/// The answers that are awaited, by their tokens.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<(u64, HashMap<u64, Awaited>)>);

impl Calls {
    fn lock(&self) -> MutexGuard<'_, (u64, HashMap<u64, Awaited>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Awaits one more of the answers. Returns its token.
    ///
    /// # Safety
    /// The caller waits until none is [left](Answers::left), and until then nobody else uses the
    /// `len` bytes at `to`.
    pub(super) unsafe fn begin(&self, answers: &Answers, to: *mut u8, len: usize) -> u64 {
        answers.await_one();
        let mut calls = self.lock();
        let (next, awaited) = &mut *calls;
        *next += 1;
        awaited.insert(*next, Awaited { answers, to, len });
        *next
    }

    /// Takes an answer. Returns false if nobody awaits it, or not in this form.
    pub(super) fn answer(&self, token: u64, value: u64, data: &[u8]) -> bool {
        let Some(Awaited { answers, to, len }) = self.lock().1.remove(&token) else { return false };
        if data.len() != len {
            return false;
        }
        if len > 0 {
            // SAFETY: the memory has room for the answer, and nobody else uses it, by the promise to `begin`.
            unsafe { to.copy_from_nonoverlapping(data.as_ptr(), len) };
        }
        // SAFETY: they live until none is left, by the promise to `begin`.
        unsafe { &*answers }.take_one(value);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_any_order_and_each_once() {
        let (calls, call, mut data) = (Calls::default(), Answers::default(), [0u8; 4]);
        let to = data.as_mut_ptr();
        // SAFETY: the answers' counter and the array outlive the answers.
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
        let (calls, call, mut data) = (Calls::default(), Answers::default(), [0u8; 4]);
        // SAFETY: the answers' counter and the array outlive the answer.
        let token = unsafe { calls.begin(&call, data.as_mut_ptr(), 4) };
        assert!(!calls.answer(token, 0, &[1; 5]));
        assert_eq!(data, [0; 4]);
    }
}
