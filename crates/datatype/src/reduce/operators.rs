//! The operators on single elements.

use half::f16;

/// One operator on one element type.
pub(super) trait Operator<T> {
    /// `a OP b`.
    fn apply(a: T, b: T) -> T;
}

/// Sums and products; integers wrap around.
pub(super) trait Arithmetic: Copy {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
}

macro_rules! arithmetic {
    ($($type:ty: $add:path, $sub:path, $mul:path;)*) => { $(
        impl Arithmetic for $type {
            #[inline(always)]
            fn add(self, other: Self) -> Self { $add(self, other) }
            #[inline(always)]
            fn sub(self, other: Self) -> Self { $sub(self, other) }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { $mul(self, other) }
        }
    )* };
}

macro_rules! integers {
    ($($type:ident)*) => {
        arithmetic! { $($type: $type::wrapping_add, $type::wrapping_sub, $type::wrapping_mul;)* }
    };
}

macro_rules! floats {
    ($($type:ident)*) => {
        arithmetic! { $($type: std::ops::Add::add, std::ops::Sub::sub, std::ops::Mul::mul;)* }
    };
}

integers!(i8 i16 i32 i64 i128 u8 u16 u32 u64);
floats!(f16 f32 f64);

/// `MPI_SUM`
pub(super) struct Sum;
/// `MPI_PROD`
pub(super) struct Product;
/// `MPI_MIN`
pub(super) struct Min;
/// `MPI_MAX`
pub(super) struct Max;
/// `MPI_BAND`
pub(super) struct BitAnd;
/// `MPI_BOR`
pub(super) struct BitOr;
/// `MPI_BXOR`
pub(super) struct BitXor;
/// `MPI_LAND`
pub(super) struct And;
/// `MPI_LOR`
pub(super) struct Or;
/// `MPI_LXOR`
pub(super) struct Xor;

macro_rules! operators {
    ($($name:ident<T: $bound:path> |$a:ident, $b:ident| $result:expr;)*) => { $(
        impl<T: Copy + $bound> Operator<T> for $name {
            #[inline(always)]
            fn apply($a: T, $b: T) -> T { $result }
        }
    )* };
}

operators! {
    Sum<T: Arithmetic> |a, b| a.add(b);
    Product<T: Arithmetic> |a, b| a.mul(b);
    // The comparison that maps to the machine's own minimum and maximum.
    Min<T: PartialOrd> |a, b| if a < b { a } else { b };
    Max<T: PartialOrd> |a, b| if a > b { a } else { b };
}

macro_rules! bits {
    ($($type:ty)*) => { $(
        impl Operator<$type> for BitAnd {
            #[inline(always)]
            fn apply(a: $type, b: $type) -> $type { a & b }
        }
        impl Operator<$type> for BitOr {
            #[inline(always)]
            fn apply(a: $type, b: $type) -> $type { a | b }
        }
        impl Operator<$type> for BitXor {
            #[inline(always)]
            fn apply(a: $type, b: $type) -> $type { a ^ b }
        }
    )* };
}
bits!(u8 u16 u32 u64 u128);

impl Operator<bool> for And {
    #[inline(always)]
    fn apply(a: bool, b: bool) -> bool {
        a & b
    }
}

impl Operator<bool> for Or {
    #[inline(always)]
    fn apply(a: bool, b: bool) -> bool {
        a | b
    }
}

impl Operator<bool> for Xor {
    #[inline(always)]
    fn apply(a: bool, b: bool) -> bool {
        a ^ b
    }
}
