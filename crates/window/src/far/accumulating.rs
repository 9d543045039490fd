//! Accumulates at their target.

use super::part::Part;
use crate::atomics::{self, can_be_atomic};
use crate::control::{LONGEST_PARK, POLLS};
use crate::means::{ChangeKind, Means};
use crate::operator::{Accumulate, unaligned};
use crate::target::Way;
use heddle_datatype::{Op, OperatorTable, Run};
use heddle_objects::lifetime::hazard::thread_number;
use heddle_platform::Scope;
use heddle_platform::hint::spin_loop;
use heddle_sync::SharedBias;
use heddle_sync::shared_bias::Alone;

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
        let (size, operation) = (accumulate.atomic_size(), &accumulate.operation);
        let results = if before.is_empty() { std::ptr::null_mut() } else { before.as_mut_ptr() };
        let operands = operands.as_ptr();
        let element = accumulate.element.size() as usize;
        let kind = operation.kind(!results.is_null());
        let change = |means| match means {
            // SAFETY: by the caller's promise.
            Means::Atomics => unsafe {
                atomics::accumulate(operation, size, to, operands, results, len / size);
            },
            // SAFETY: the same.
            Means::Any if accumulate.element.is_contiguous() => unsafe {
                unaligned(accumulate, to, operands, results, len);
            },
            // SAFETY: the same; one element.
            Means::Any => unsafe { accumulate.one_with_gaps(to, operands, results) },
        };
        self.in_turn(can_be_atomic(size, to), kind.gain(len / element), change);
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
        let (expected, value) = (expected.as_ptr(), value.as_ptr());
        let change = |means| match means {
            // SAFETY: by the caller's promise.
            Means::Atomics => unsafe { atomics::compare_and_swap(size, to, expected, value, result) },
            // SAFETY: the same.
            Means::Any => unsafe { atomics::swap_alone(size, to, (expected, value), result) },
        };
        self.in_turn(can_be_atomic(size, to), ChangeKind::Computed.gain(1), change);
    }

    /// Changes elements, in the same ways as the processes of this machine. It does not close the accumulate
    /// lock, and opens it if closing it does not pay.
    fn in_turn(&self, is_atomic: bool, gain: i32, change: impl FnOnce(Means)) {
        let lock = self.control.accumulate_lock();
        if is_atomic && self.way == Way::Atomics {
            return change(Means::Atomics);
        }
        let is_shared = is_atomic && self.way == Way::Chosen;
        loop {
            if is_shared && let Some(_mark) = self.control.marks().enter(thread_number(), lock.bias()) {
                return change(Means::Atomics);
            }
            let alone = take_alone(lock.bias());
            if is_shared && alone.is_open() {
                // It was opened meanwhile.
                continue;
            }
            let is_alone = !is_shared || alone.is_closed();
            change(if is_alone { Means::Any } else { Means::Atomics });
            lock.leave(alone, gain);
            return;
        }
    }
}

/// Takes an accumulate lock alone. Those that have it wait for nothing that this thread does.
fn take_alone(lock: &SharedBias) -> Alone<'_> {
    let mut polls = 0;
    loop {
        if let Some(alone) = lock.try_alone() {
            return alone;
        }
        lock.say_waiting();
        polls += 1;
        if polls < POLLS {
            spin_loop();
            continue;
        }
        let ticket = lock.event().prepare();
        if let Some(alone) = lock.try_alone() {
            return alone;
        }
        ticket.sleep(Some(LONGEST_PARK), Scope::Machine);
    }
}
