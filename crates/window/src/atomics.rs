//! Accumulates of elements of 1, 2, 4 and 8 bytes by processor atomics, and the same by other instructions
//! for threads that change them alone.

use crate::means::{ChangeKind, Means};
use heddle_datatype::{Kernel, Op};
use heddle_platform::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

/// An operator on a type, for the elements of an accumulate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) op: Op,
    /// True if `op` is the processor's operation on integers, where the type is one.
    pub(crate) integer: bool,
    pub(crate) kernel: Kernel,
}

impl Operation {
    /// How it changes elements, with results or without.
    pub(crate) fn kind(&self, has_results: bool) -> ChangeKind {
        match self.op {
            Op::NoOp => ChangeKind::Moved,
            Op::Replace if !has_results => ChangeKind::Moved,
            _ => ChangeKind::Computed,
        }
    }
}

/// An unsigned integer with its atomic.
trait Element: Copy {
    type Cell;

    fn wrapping_add(self, value: Self) -> Self;
    fn load(cell: &Self::Cell) -> Self;
    fn store(cell: &Self::Cell, value: Self);
    fn swap(cell: &Self::Cell, value: Self) -> Self;
    fn add(cell: &Self::Cell, value: Self) -> Self;
    fn and(cell: &Self::Cell, value: Self) -> Self;
    fn or(cell: &Self::Cell, value: Self) -> Self;
    fn xor(cell: &Self::Cell, value: Self) -> Self;
    /// Stores `value` if the cell holds `expected`; returns the value before, as an
    /// error if it is another one.
    fn exchange(cell: &Self::Cell, expected: Self, value: Self) -> Result<Self, Self>;
}

macro_rules! elements {
    ($($integer:ty, $cell:ty;)*) => {
        $(impl Element for $integer {
            type Cell = $cell;

            #[inline(always)]
            fn wrapping_add(self, value: $integer) -> $integer {
                <$integer>::wrapping_add(self, value)
            }
            #[inline(always)]
            fn load(cell: &$cell) -> $integer {
                cell.load(Ordering::SeqCst)
            }
            #[inline(always)]
            fn store(cell: &$cell, value: $integer) {
                cell.store(value, Ordering::Release);
            }
            #[inline(always)]
            fn swap(cell: &$cell, value: $integer) -> $integer {
                cell.swap(value, Ordering::SeqCst)
            }
            #[inline(always)]
            fn add(cell: &$cell, value: $integer) -> $integer {
                cell.fetch_add(value, Ordering::SeqCst)
            }
            #[inline(always)]
            fn and(cell: &$cell, value: $integer) -> $integer {
                cell.fetch_and(value, Ordering::SeqCst)
            }
            #[inline(always)]
            fn or(cell: &$cell, value: $integer) -> $integer {
                cell.fetch_or(value, Ordering::SeqCst)
            }
            #[inline(always)]
            fn xor(cell: &$cell, value: $integer) -> $integer {
                cell.fetch_xor(value, Ordering::SeqCst)
            }
            #[inline(always)]
            fn exchange(cell: &$cell, expected: $integer, value: $integer) -> Result<$integer, $integer> {
                cell.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst)
            }
        })*
    };
}

elements! {
    u8, AtomicU8;
    u16, AtomicU16;
    u32, AtomicU32;
    u64, AtomicU64;
}

/// Returns true if elements of this size at this address are accumulated by processor atomics.
#[inline(always)]
pub(crate) fn can_be_atomic(size: usize, address: *const u8) -> bool {
    matches!(size, 1 | 2 | 4 | 8) && is_aligned(size, address)
}

/// Returns true if the processor takes an element of this size, a power of two, at this address as one.
#[inline(always)]
fn is_aligned(size: usize, address: *const u8) -> bool {
    // A remainder would be a division.
    address.addr() & (size - 1) == 0
}

/// Applies an operation to `count` elements of `size` bytes each. `operands` may be null under `MPI_NO_OP`;
/// `results`, unless it is null, receives the values before.
///
/// # Safety
/// The elements are [atomic](can_be_atomic) and valid, in the target for every access, in the others for
/// reads and writes; all processes access those of the target as atomics or not at all meanwhile.
pub(crate) unsafe fn accumulate(
    operation: &Operation,
    size: usize,
    target: *mut u8,
    operands: *const u8,
    results: *mut u8,
    count: usize,
) {
    let each = match size {
        1 => each::<u8>,
        2 => each::<u16>,
        4 => each::<u32>,
        _ => each::<u64>,
    };
    // SAFETY: the caller's promise; the elements have this size.
    unsafe { each(operation, target, operands, results, count) };
}

/// # Safety
/// The same as for [`accumulate`].
unsafe fn each<E: Element>(
    operation: &Operation,
    target: *mut u8,
    operands: *const u8,
    results: *mut u8,
    count: usize,
) {
    let Operation { op, integer, kernel } = *operation;
    if op == Op::Replace && results.is_null() && count > 1 {
        // SAFETY: the caller's promise.
        return unsafe { store_each::<E>(target, operands, count) };
    }
    for index in 0..count {
        let at = index * size_of::<E>();
        let cell = target.wrapping_add(at).cast::<E::Cell>();
        // SAFETY: the caller vouches for the elements.
        let cell = unsafe { &*cell };
        let operand = || {
            let from = operands.wrapping_add(at).cast::<E>();
            // SAFETY: the caller vouches for the operands, where the operation has
            // some; they may be unaligned.
            unsafe { from.read_unaligned() }
        };
        let before = match op {
            Op::NoOp => E::load(cell),
            Op::Replace => E::swap(cell, operand()),
            Op::Sum if integer => E::add(cell, operand()),
            Op::Band => E::and(cell, operand()),
            Op::Bor => E::or(cell, operand()),
            Op::Bxor => E::xor(cell, operand()),
            // SAFETY: the kernel is for elements of this type.
            _ => unsafe { by_exchange(kernel, cell, operand()) },
        };
        if !results.is_null() {
            // SAFETY: the caller vouches for the results; they may be unaligned.
            unsafe { results.wrapping_add(at).cast::<E>().write_unaligned(before) };
        }
    }
}

/// Replaces elements whose values before nobody wants. A store is as atomic as an exchange, and takes the
/// processor a cycle instead of twenty; all of them are visible when the function returns.
///
/// # Safety
/// The same as for [`accumulate`].
#[inline(always)]
unsafe fn store_each<E: Element>(target: *mut u8, operands: *const u8, count: usize) {
    for index in 0..count {
        let at = index * size_of::<E>();
        // SAFETY: the caller vouches for the elements.
        let cell = unsafe { &*target.wrapping_add(at).cast::<E::Cell>() };
        // SAFETY: the caller vouches for the operands, which may be unaligned.
        E::store(cell, unsafe { operands.wrapping_add(at).cast::<E>().read_unaligned() });
    }
    fence(Ordering::SeqCst);
}

/// Repeats an exchange until nobody else has changed the element meanwhile.
///
/// # Safety
/// The kernel is for elements of this type.
unsafe fn by_exchange<E: Element>(kernel: Kernel, cell: &E::Cell, operand: E) -> E {
    let mut before = E::load(cell);
    loop {
        let mut value = before;
        // SAFETY: two elements that do not overlap.
        unsafe { kernel((&raw const operand).cast(), (&raw mut value).cast(), 1) };
        match E::exchange(cell, before, value) {
            Ok(_) => return before,
            Err(now) => before = now,
        }
    }
}

/// Stores `value` in an element of `size` bytes if it holds `expected`; `result` receives the value before.
///
/// # Safety
/// The element is [atomic](can_be_atomic); all four are valid.
pub(crate) unsafe fn compare_and_swap(
    size: usize,
    target: *mut u8,
    expected: *const u8,
    value: *const u8,
    result: *mut u8,
) {
    let exchange = match size {
        1 => exchange::<u8>,
        2 => exchange::<u16>,
        4 => exchange::<u32>,
        _ => exchange::<u64>,
    };
    // SAFETY: the caller's promise; the element has this size.
    unsafe { exchange(target, expected, value, result) };
}

/// # Safety
/// The same as for [`compare_and_swap`].
#[inline(always)]
unsafe fn exchange<E: Element>(target: *mut u8, expected: *const u8, value: *const u8, result: *mut u8) {
    // SAFETY: the caller vouches for the element.
    let cell = unsafe { &*target.cast::<E::Cell>() };
    // SAFETY: the caller vouches for the operand, which may be unaligned.
    let expected = unsafe { expected.cast::<E>().read_unaligned() };
    // SAFETY: the caller vouches for the operand, which may be unaligned.
    let value = unsafe { value.cast::<E>().read_unaligned() };
    let (Ok(before) | Err(before)) = E::exchange(cell, expected, value);
    // SAFETY: the caller vouches for the result, which may be unaligned.
    unsafe { result.cast::<E>().write_unaligned(before) };
}

/// Stores the second value in the target if that holds the first; `result` gets the element before.
///
/// # Safety
/// `size` bytes are valid at all addresses, and nobody else changes those of the target.
pub(crate) unsafe fn swap_alone(
    size: usize,
    target: *mut u8,
    (expected, value): (*const u8, *const u8),
    result: *mut u8,
) {
    // SAFETY: by the caller's promise.
    let now = unsafe { std::slice::from_raw_parts(target, size) };
    // SAFETY: by the caller's promise.
    let wanted = unsafe { std::slice::from_raw_parts(expected, size) };
    let before = if now == wanted {
        // SAFETY: by the caller's promise.
        unsafe { target.copy_from(value, size) };
        expected
    } else {
        target
    };
    // SAFETY: by the caller's promise. The result may be where one of the others is, so it comes last.
    unsafe { result.copy_from(before, size) };
}

/// The size of an integer that the express path serves: 4 or 8 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Width(usize);

impl Width {
    /// That of a predefined integer type, by its handle.
    #[inline(always)]
    pub fn of(datatype: usize) -> Option<Width> {
        let bytes = heddle_datatype::integer_bytes(datatype);
        matches!(bytes, 4 | 8).then_some(Width(bytes))
    }

    /// The number of bytes.
    #[inline(always)]
    pub fn bytes(self) -> usize {
        self.0
    }

    /// Returns true if an integer at this address is accumulated by processor atomics.
    #[inline(always)]
    pub fn is_aligned(self, address: *const u8) -> bool {
        is_aligned(self.0, address)
    }

    /// Stores `value` in the target if that holds `expected`; `result` receives the value before.
    ///
    /// # Safety
    /// All four are valid; the target is aligned, and others access it as an atomic at most, or not at all if
    /// [any means](Means) will do.
    #[inline(always)]
    pub unsafe fn compare_and_swap(
        self,
        means: Means,
        target: *mut u8,
        expected: *const u8,
        value: *const u8,
        result: *mut u8,
    ) {
        match (means, self.0) {
            // SAFETY: the caller's promise; the elements have 8 bytes.
            (Means::Atomics, 8) => unsafe { exchange::<u64>(target, expected, value, result) },
            // SAFETY: the caller's promise; the elements have 4 bytes.
            (Means::Atomics, _) => unsafe { exchange::<u32>(target, expected, value, result) },
            // SAFETY: the caller's promise.
            (Means::Any, size) => unsafe { swap_alone(size, target, (expected, value), result) },
        }
    }
}

/// `MPI_SUM` or `MPI_REPLACE`, on integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainOperation {
    /// `MPI_SUM`.
    Add,
    /// `MPI_REPLACE`.
    Replace,
}

impl PlainOperation {
    /// That of an operator, by its handle.
    #[inline(always)]
    pub fn new(op: usize) -> Option<PlainOperation> {
        match op {
            op if op == Op::Sum as usize => Some(PlainOperation::Add),
            op if op == Op::Replace as usize => Some(PlainOperation::Replace),
            _ => None,
        }
    }

    /// How it changes integers, with results or without.
    #[inline(always)]
    pub fn kind(self, has_results: bool) -> ChangeKind {
        match self {
            PlainOperation::Replace if !has_results => ChangeKind::Moved,
            PlainOperation::Add | PlainOperation::Replace => ChangeKind::Computed,
        }
    }

    /// Applies it to one integer; `result` receives the value before.
    ///
    /// # Safety
    /// Integers are valid at all addresses; that of the target is aligned, and others access it as an atomic
    /// at most, or not at all if [any means](Means) will do.
    #[inline(always)]
    pub unsafe fn fetch(
        self,
        means: Means,
        width: Width,
        target: *mut u8,
        operand: *const u8,
        result: *mut u8,
    ) {
        if width.0 == 8 {
            // SAFETY: the caller's promise; the integers have 8 bytes.
            unsafe { self.fetch_one::<u64>(means, target, operand, result) }
        } else {
            // SAFETY: the caller's promise; the integers have 4 bytes.
            unsafe { self.fetch_one::<u32>(means, target, operand, result) }
        }
    }

    /// Applies it to `count` integers.
    ///
    /// # Safety
    /// `count` integers are valid at both addresses; those of the target are aligned, and others access them
    /// as atomics at most, or not at all if [any means](Means) will do.
    #[inline(always)]
    pub unsafe fn apply(
        self,
        means: Means,
        width: Width,
        target: *mut u8,
        operands: *const u8,
        count: usize,
    ) {
        if width.0 == 8 {
            // SAFETY: the caller's promise; the integers have 8 bytes.
            unsafe { self.apply_to::<u64>(means, target, operands, count) }
        } else {
            // SAFETY: the caller's promise; the integers have 4 bytes.
            unsafe { self.apply_to::<u32>(means, target, operands, count) }
        }
    }

    /// # Safety
    /// The same as for [`apply`](Self::apply).
    #[inline(always)]
    unsafe fn apply_to<E: Element>(self, means: Means, target: *mut u8, operands: *const u8, count: usize) {
        match means {
            // SAFETY: the caller's promise.
            Means::Atomics if count == 1 => unsafe {
                self.once::<E>(target.cast(), operands);
            },
            // SAFETY: the caller's promise.
            Means::Atomics => unsafe { self.apply_each::<E>(target, operands, count) },
            // SAFETY: the caller's promise.
            Means::Any => unsafe { self.apply_alone::<E>(target, operands, count) },
        }
    }

    /// # Safety
    /// The same as for [`apply`](Self::apply).
    #[inline(never)]
    unsafe fn apply_each<E: Element>(self, target: *mut u8, operands: *const u8, count: usize) {
        if self == PlainOperation::Replace {
            // SAFETY: the caller's promise.
            return unsafe { store_each::<E>(target, operands, count) };
        }
        for index in 0..count {
            let at = index * size_of::<E>();
            // SAFETY: the caller's promise.
            unsafe { self.once::<E>(target.wrapping_add(at).cast(), operands.wrapping_add(at)) };
        }
    }

    /// By vector instructions.
    ///
    /// # Safety
    /// `count` integers are valid at both addresses, and nobody else accesses those of the target.
    #[inline]
    unsafe fn apply_alone<E: Element>(self, target: *mut u8, operands: *const u8, count: usize) {
        if self == PlainOperation::Replace {
            // SAFETY: the caller's promise.
            return unsafe { target.copy_from(operands, count * size_of::<E>()) };
        }
        let sum = heddle_datatype::sum_of_integers(size_of::<E>());
        // SAFETY: the caller's promise.
        unsafe { sum(operands, target, count) };
    }

    /// # Safety
    /// The same as for [`fetch`](Self::fetch).
    #[inline(always)]
    unsafe fn fetch_one<E: Element>(
        self,
        means: Means,
        target: *mut u8,
        operand: *const u8,
        result: *mut u8,
    ) {
        let before = match means {
            // SAFETY: the caller's promise.
            Means::Atomics => unsafe { self.once::<E>(target.cast(), operand) },
            // SAFETY: the caller's promise.
            Means::Any => unsafe { self.once_alone::<E>(target.cast(), operand) },
        };
        // SAFETY: the caller's promise.
        unsafe { result.cast::<E>().write_unaligned(before) };
    }

    /// # Safety
    /// Integers are valid at both addresses, and that of the target is aligned.
    #[inline(always)]
    unsafe fn once<E: Element>(self, target: *mut E::Cell, operand: *const u8) -> E {
        // SAFETY: the caller's promise.
        let cell = unsafe { &*target };
        // SAFETY: the caller's promise.
        let operand = unsafe { operand.cast::<E>().read_unaligned() };
        match self {
            PlainOperation::Add => E::add(cell, operand),
            PlainOperation::Replace => E::swap(cell, operand),
        }
    }

    /// # Safety
    /// Integers are valid at both addresses; that of the target is aligned, and nobody else accesses it.
    #[inline(always)]
    unsafe fn once_alone<E: Element>(self, target: *mut E, operand: *const u8) -> E {
        // SAFETY: the caller's promise.
        let before = unsafe { target.read() };
        // SAFETY: the caller's promise.
        let operand = unsafe { operand.cast::<E>().read_unaligned() };
        let now = match self {
            PlainOperation::Add => before.wrapping_add(operand),
            PlainOperation::Replace => operand,
        };
        // SAFETY: the caller's promise.
        unsafe { target.write(now) };
        before
    }
}
