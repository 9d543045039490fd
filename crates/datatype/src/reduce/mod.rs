//! The predefined reduction operators on the predefined types.
//!
//! A [`Kernel`] computes `inout = in OP inout` element by element. Buffers may be unaligned, as in
//! packed messages, so elements are read as packed structures. That costs nothing on x86-64 and aarch64,
//! and the compiler vectorises the loops. A [`OperatorTable`] says which operators a type has.

mod computation;
mod element;
mod long_double;
mod op;
mod operators;
mod pair;
mod quad;
mod table;

use std::ffi::c_char;
use std::ptr;

use thiserror::Error;

use crate::basic::{Basic, BasicKind, TypeClass};
use crate::datatype::Datatype;
pub use computation::Kernel;
use element::{Complex, Packed};
use half::f16;
use long_double::LongDouble;
pub use op::Op;
use operators::{And, BitAnd, BitOr, BitXor, Max, Min, Operator, Or, Product, Sum, Xor};
use quad::Quad;
pub use table::OperatorTable;

/// Why a reduction is not possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ReduceError {
    /// The table does not have the operator on the type.
    #[error(
        "{op} is not defined on {datatype}; see the standard's table of predefined reductions, or use MPI_Op_create"
    )]
    NotAllowed {
        /// The operator's name.
        op: &'static str,
        /// The datatype's name.
        datatype: &'static str,
    },
    /// Predefined operators work on predefined types only.
    #[error(
        "{op} is a predefined operator and works on predefined datatypes only, not on derived ones; use MPI_Op_create"
    )]
    Derived {
        /// The operator's name.
        op: &'static str,
    },
    /// There is no arithmetic for this type on this platform.
    #[error("{datatype} can be sent and received, but there is no arithmetic for it on this platform")]
    NoArithmetic {
        /// The datatype's name.
        datatype: &'static str,
    },
}

/// Returns true if the table has the operator on the type, and there is arithmetic for it on this platform.
#[must_use]
pub fn supports(op: Op, datatype: &Datatype, table: OperatorTable) -> bool {
    kernel(op, datatype, table).is_ok()
}

/// The kernel for an operator and a predefined datatype.
///
/// # Errors
/// A derived datatype; an operator that the table does not have on the type; a type without arithmetic here.
pub fn kernel(op: Op, datatype: &Datatype, table: OperatorTable) -> Result<Kernel, ReduceError> {
    let basic = datatype.predefined_basic().ok_or(ReduceError::Derived { op: op.name() })?;
    if !table.has(op, basic) {
        return Err(ReduceError::NotAllowed { op: op.name(), datatype: basic.name });
    }
    select(op, basic).ok_or(ReduceError::NoArithmetic { datatype: basic.name })
}

/// Computes `inout = in OP inout` on `count` elements.
///
/// # Errors
/// The same as for [`kernel`].
///
/// # Safety
/// The same as for [`Kernel`].
pub unsafe fn reduce(
    op: Op,
    datatype: &Datatype,
    table: OperatorTable,
    input: *const u8,
    inout: *mut u8,
    count: usize,
) -> Result<(), ReduceError> {
    let kernel = kernel(op, datatype, table)?;
    // SAFETY: the caller vouches for the buffers.
    unsafe { kernel(input, inout, count) };
    Ok(())
}

/// The kernel of an operator on an element type, with the widest vectors that the processor has.
fn computing<T: Copy, O: Operator<T>>() -> Kernel {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return by_avx2::<T, O>;
    }
    apply::<T, O>
}

/// `MPI_SUM` on integers of 8 bytes, or of 4.
pub fn sum_of_integers(bytes: usize) -> Kernel {
    if bytes == 8 { computing::<u64, Sum>() } else { computing::<u32, Sum>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn by_avx2<T: Copy, O: Operator<T>>(input: *const u8, inout: *mut u8, count: usize) {
    // SAFETY: the kernel's caller vouches for the elements.
    unsafe { apply::<T, O>(input, inout, count) };
}

/// One kernel: an operator on an element type.
#[inline(always)]
unsafe fn apply<T: Copy, O: Operator<T>>(input: *const u8, inout: *mut u8, count: usize) {
    if count == 0 {
        return;
    }
    // SAFETY: the kernel's caller vouches for `count` elements, and a packed type needs no alignment.
    let input = unsafe { std::slice::from_raw_parts(input.cast::<Packed<T>>(), count) };
    // SAFETY: the kernel's caller vouches for `count` elements that do not overlap the input.
    let inout = unsafe { std::slice::from_raw_parts_mut(inout.cast::<Packed<T>>(), count) };
    for (a, b) in input.iter().zip(inout) {
        b.0 = O::apply(a.0, b.0);
    }
}

/// `MPI_REPLACE` on types of `SIZE` bytes without gaps.
unsafe fn replace<const SIZE: usize>(input: *const u8, inout: *mut u8, count: usize) {
    // SAFETY: the kernel's caller vouches for `count` elements in buffers that do not overlap.
    unsafe { ptr::copy_nonoverlapping(input, inout, SIZE * count) };
}

/// `MPI_NO_OP`.
unsafe fn keep(_input: *const u8, _inout: *mut u8, _count: usize) {}

/// How an element is computed with: a C character is the integer that the compiler takes it for.
fn computed_as(basic: &Basic) -> BasicKind {
    match basic.class {
        TypeClass::CCharacter if c_char::MIN != 0 => BasicKind::I8,
        _ => basic.kind,
    }
}

fn select(op: Op, basic: &Basic) -> Option<Kernel> {
    let kind = computed_as(basic);
    match op {
        Op::Sum => arithmetic::<Sum>(kind),
        Op::Prod => arithmetic::<Product>(kind),
        Op::Min => ordered::<Min>(kind),
        Op::Max => ordered::<Max>(kind),
        Op::Band => bitwise::<BitAnd>(kind),
        Op::Bor => bitwise::<BitOr>(kind),
        Op::Bxor => bitwise::<BitXor>(kind),
        Op::Land => logical::<And>(kind),
        Op::Lor => logical::<Or>(kind),
        Op::Lxor => logical::<Xor>(kind),
        Op::Minloc => pair::kernel::<pair::Least>(kind),
        Op::Maxloc => pair::kernel::<pair::Greatest>(kind),
        Op::Replace if basic.class == TypeClass::Pair => pair::kernel::<pair::Input>(kind),
        Op::Replace => copying(kind),
        Op::NoOp => Some(keep),
    }
}

/// The element type of a kind, for operators that are defined on it.
macro_rules! by_kind {
    ($kind:expr, $operator:ident: $($name:ident $type:ty),* $(; if $available:expr => $($late:ident $late_type:ty),*)?) => {
        match $kind {
            $(BasicKind::$name => Some(computing::<$type, $operator>()),)*
            $($(BasicKind::$late if $available => Some(computing::<$late_type, $operator>()),)*)?
            _ => None,
        }
    };
}

fn arithmetic<O>(kind: BasicKind) -> Option<Kernel>
where
    O: Operator<i8> + Operator<i16> + Operator<i32> + Operator<i64> + Operator<i128>,
    O: Operator<u8> + Operator<u16> + Operator<u32> + Operator<u64>,
    O: Operator<f16> + Operator<f32> + Operator<f64> + Operator<LongDouble> + Operator<Quad>,
    O: Operator<Complex<f16>> + Operator<Complex<f32>> + Operator<Complex<f64>>,
    O: Operator<Complex<LongDouble>> + Operator<Complex<Quad>>,
{
    by_kind!(kind, O: I8 i8, I16 i16, I32 i32, I64 i64, I128 i128, U8 u8, U16 u16, U32 u32, U64 u64,
        F16 f16, F32 f32, F64 f64, C16 Complex<f16>, C32 Complex<f32>, C64 Complex<f64>;
        if cfg!(target_arch = "x86_64") =>
        LongDouble LongDouble, F128 Quad, CLongDouble Complex<LongDouble>, C128 Complex<Quad>)
}

fn ordered<O>(kind: BasicKind) -> Option<Kernel>
where
    O: Operator<i8> + Operator<i16> + Operator<i32> + Operator<i64> + Operator<i128>,
    O: Operator<u8> + Operator<u16> + Operator<u32> + Operator<u64>,
    O: Operator<f16> + Operator<f32> + Operator<f64> + Operator<LongDouble> + Operator<Quad>,
{
    by_kind!(kind, O: I8 i8, I16 i16, I32 i32, I64 i64, I128 i128, U8 u8, U16 u16, U32 u32, U64 u64,
        F16 f16, F32 f32, F64 f64; if cfg!(target_arch = "x86_64") => LongDouble LongDouble, F128 Quad)
}

fn bitwise<O>(kind: BasicKind) -> Option<Kernel>
where
    O: Operator<u8> + Operator<u16> + Operator<u32> + Operator<u64> + Operator<u128>,
{
    by_kind!(kind, O: I8 u8, I16 u16, I32 u32, I64 u64, I128 u128, U8 u8, U16 u16, U32 u32, U64 u64)
}

fn logical<O>(kind: BasicKind) -> Option<Kernel>
where
    O: Operator<bool>,
{
    type T<O> = element::Truth<O>;
    match kind {
        BasicKind::I8 | BasicKind::U8 => Some(computing::<u8, T<O>>()),
        BasicKind::I16 | BasicKind::U16 => Some(computing::<u16, T<O>>()),
        BasicKind::I32 | BasicKind::U32 => Some(computing::<u32, T<O>>()),
        BasicKind::I64 | BasicKind::U64 => Some(computing::<u64, T<O>>()),
        BasicKind::I128 => Some(computing::<u128, T<O>>()),
        _ => None,
    }
}

fn copying(kind: BasicKind) -> Option<Kernel> {
    match kind.parts() {
        (scalar, None) => match scalar.size {
            1 => Some(replace::<1>),
            2 => Some(replace::<2>),
            4 => Some(replace::<4>),
            8 => Some(replace::<8>),
            16 => Some(replace::<16>),
            32 => Some(replace::<32>),
            _ => None,
        },
        _ => None,
    }
}
