//! Operations whose answers have data.

use super::counts::Counts;
use crate::answers::Answers;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A party that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Waiter<'a> {
    /// A thread, until none of these is left.
    Thread(&'a Answers),
    /// The thread that completes the operations of a window on a rank, by their number.
    Window(&'a Arc<Counts>, usize),
}

/// The party, as it is kept while the answer is under way.
#[derive(Debug)]
enum Told {
    Thread(*const Answers),
    /// The window, and the number of the operation.
    Window(Arc<Counts>, u64),
}

/// An answer that is awaited.
#[derive(Debug)]
struct Awaited {
    waiter: Told,
    /// Where its data goes.
    to: *mut u8,
    len: usize,
}

// SAFETY: a thread that waits, or the program, leaves answers and memory alone until this one is there.
unsafe impl Send for Awaited {}

/// The answers that are awaited, by their tokens.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<(u64, HashMap<u64, Awaited>)>);

impl Calls {
    fn lock(&self) -> MutexGuard<'_, (u64, HashMap<u64, Awaited>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Awaits one more answer. Returns its token.
    ///
    /// # Safety
    /// Until the answer is there nobody else uses the `len` bytes at `to`. A thread waits until none of its
    /// answers is [left](Answers::left).
    pub(super) unsafe fn begin(&self, waiter: Waiter<'_>, to: *mut u8, len: usize) -> u64 {
        let waiter = match waiter {
            Waiter::Thread(answers) => {
                answers.await_one();
                Told::Thread(answers)
            }
            Waiter::Window(counts, rank) => Told::Window(Arc::clone(counts), counts.ask(rank)),
        };
        let mut calls = self.lock();
        let (next, awaited) = &mut *calls;
        *next += 1;
        awaited.insert(*next, Awaited { waiter, to, len });
        *next
    }

    /// Takes an answer of a process of the job. Returns false if nobody awaits it, or not in this form.
    pub(super) fn answer(&self, process: usize, token: u64, value: u64, data: &[u8]) -> bool {
        let Some(Awaited { waiter, to, len }) = self.lock().1.remove(&token) else { return false };
        if data.len() != len {
            return false;
        }
        if len > 0 {
            // SAFETY: the memory has room for the answer, and nobody else uses it, by the promise to `begin`.
            unsafe { to.copy_from_nonoverlapping(data.as_ptr(), len) };
        }
        match waiter {
            // SAFETY: they live until none is left, by the promise to `begin`.
            Told::Thread(answers) => unsafe { &*answers }.take_one(value),
            Told::Window(counts, number) => return counts.end(process, number),
        }
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
        let tokens = [0, 2].map(|at| unsafe { calls.begin(Waiter::Thread(&call), to.wrapping_add(at), 2) });
        assert!(calls.answer(5, tokens[1], 7, &[3, 4]));
        assert_eq!((call.left(), call.value()), (1, 7));
        assert!(!calls.answer(5, tokens[1], 7, &[3, 4]), "it was there already");
        assert!(calls.answer(5, tokens[0], 8, &[1, 2]));
        assert_eq!((call.left(), data), (0, [1, 2, 3, 4]));
        assert!(!calls.answer(5, 99, 0, &[]));
    }

    #[test]
    fn answers_to_a_window_are_counted() {
        let (calls, counts, mut data) = (Calls::default(), Arc::new(Counts::new(vec![Some(5)])), [0u8; 4]);
        // SAFETY: the array outlives the answers.
        let tokens =
            [0, 1, 2].map(|_| unsafe { calls.begin(Waiter::Window(&counts, 0), data.as_mut_ptr(), 4) });
        assert!(calls.answer(5, tokens[1], 0, &[1; 4]));
        assert_eq!((counts.asked(0), counts.done(0), data), (3, 0, [1; 4]), "the first one is not there");
        assert!(calls.answer(5, tokens[0], 0, &[2; 4]));
        assert_eq!((counts.done(0), data), (2, [2; 4]));
        assert!(!calls.answer(6, tokens[2], 0, &[3; 4]), "another process answers");
    }

    #[test]
    fn an_answer_of_another_length_is_not_taken() {
        let (calls, call, mut data) = (Calls::default(), Answers::default(), [0u8; 4]);
        // SAFETY: the answers' counter and the array outlive the answer.
        let token = unsafe { calls.begin(Waiter::Thread(&call), data.as_mut_ptr(), 4) };
        assert!(!calls.answer(5, token, 0, &[1; 5]));
        assert_eq!(data, [0; 4]);
    }
}
