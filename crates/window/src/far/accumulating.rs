//! Accumulates at their target.

use super::part::Part;
use crate::atomics::{self, can_be_atomic};
use crate::control::{LONGEST_PARK, POLLS};
use crate::operator::{Accumulate, unaligned};
use heddle_datatype::{Op, OperatorTable, Run};
use heddle_platform::Scope;
use heddle_platform::atomic::Ordering;
use heddle_platform::hint::spin_loop;

impl Accumulate {
    /// An operator on elements of a predefined type, as another process names them.
    pub(super) fn named(op: u16, handle: u64) -> Option<Accumulate> {
        let element = heddle_datatype::predefined(usize::try_from(handle).ok()?)?;
        // The process that asks has checked the operator by its own table.
        Accumulate::new(Op::from_handle(op.into())?, element, OperatorTable::Accumulate).ok()
    }

    /// Returns true if `len` bytes of packed elements are whole elements, and one if they have gaps.
    fn are_whole(&self, len: usize) -> bool {
        let size = self.element.size() as usize;
        match len {
            0 => false,
            _ if self.element.is_contiguous() => len.is_multiple_of(size),
            _ => len == size,
        }
    }

    /// Returns true if the operator needs operands.
    pub(super) fn has_operands(&self) -> bool {
        self.operation.op != Op::NoOp
    }
}

impl Part {
    /// Where `len` bytes of packed elements lie here, if they are in the memory. What lies in an element's
    /// gap need not be.
    pub(super) fn elements_at(&self, address: u64, accumulate: &Accumulate, len: usize) -> Option<*mut u8> {
        let element = accumulate.element;
        if !accumulate.are_whole(len) {
            return None;
        }
        if element.is_contiguous() {
            return self.at(address, len as u64);
        }
        let run_at = |run: Run| self.at(address.checked_add_signed(run.offset)?, run.len as u64);
        let first = element.runs(1, 0).next()?;
        let all = element.runs(1, 0).all(|run| run_at(run).is_some());
        all.then_some(run_at(first)?.wrapping_offset(-(first.offset as isize)))
    }

    /// Combines `len` bytes of packed operands with the elements at `to`, and copies those before to `before`
    /// unless that is empty.
    ///
    /// # Safety
    /// The elements lie in the window's memory; `operands` is as long if the operator needs some.
    pub(super) unsafe fn accumulate(
        &self,
        accumulate: &Accumulate,
        to: *mut u8,
        operands: &[u8],
        before: &mut [u8],
        len: usize,
    ) {
        let size = accumulate.atomic_size();
        let results = if before.is_empty() { std::ptr::null_mut() } else { before.as_mut_ptr() };
        let operands = operands.as_ptr();
        if self.takes_atomics && can_be_atomic(size, to) {
            // SAFETY: by the caller's promise.
            unsafe {
                atomics::accumulate(&accumulate.operation, size, to, operands, results, len / size);
            };
        } else if accumulate.element.is_contiguous() {
            // SAFETY: by the caller's promise.
            self.in_accumulate_lock(|| unsafe { unaligned(accumulate, to, operands, results, len) });
        } else {
            self.in_accumulate_lock(|| {
                // SAFETY: by the caller's promise; one element with gaps.
                unsafe { accumulate.one_with_gaps(to, operands, results) };
            });
        }
    }

    /// Stores the second value in the element at `to` if that holds the first; `before` gets the element
    /// before.
    ///
    /// # Safety
    /// The element lies in the window's memory and is as long as the three others.
    pub(super) unsafe fn compare_and_swap(
        &self,
        to: *mut u8,
        (expected, value): (&[u8], &[u8]),
        before: &mut [u8],
    ) {
        let (size, result) = (before.len(), before.as_mut_ptr());
        if self.takes_atomics && can_be_atomic(size, to) {
            // SAFETY: by the caller's promise.
            return unsafe {
                atomics::compare_and_swap(size, to, expected.as_ptr(), value.as_ptr(), result);
            };
        }
        self.in_accumulate_lock(|| {
            // SAFETY: by the caller's promise.
            unsafe { result.copy_from(to, size) };
            if *before == *expected {
                // SAFETY: by the caller's promise.
                unsafe { to.copy_from(value.as_ptr(), size) };
            }
        });
    }

    /// Runs `change` while no other thread and no process of this machine is in the accumulate lock. Those
    /// hold it for copies alone, and wait for nothing that this thread does.
    fn in_accumulate_lock(&self, change: impl FnOnce()) {
        let lock = self.control.geometry().accumulate_lock();
        let (word, event) = (self.control.word(lock), self.control.event(lock));
        let mut polls = 0;
        while word.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            polls += 1;
            if polls < POLLS {
                spin_loop();
                continue;
            }
            let ticket = event.prepare();
            if word.load(Ordering::SeqCst) != 0 {
                ticket.sleep(Some(LONGEST_PARK), Scope::Machine);
            }
        }
        change();
        word.store(0, Ordering::SeqCst);
        event.wake(Scope::Machine);
    }
}
