//! Elements in memory: unaligned, complex, logical.

use std::marker::PhantomData;

use super::operators::{Arithmetic, Operator};

/// An element at any address.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub(super) struct Packed<T>(pub(super) T);

/// A complex number as C and Fortran lay it out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub(super) struct Complex<T> {
    pub(super) re: T,
    pub(super) im: T,
}

impl<T: Arithmetic> Arithmetic for Complex<T> {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { re: self.re.add(other.re), im: self.im.add(other.im) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { re: self.re.sub(other.re), im: self.im.sub(other.im) }
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re.mul(other.re).sub(self.im.mul(other.im)),
            im: self.re.mul(other.im).add(self.im.mul(other.re)),
        }
    }
}

/// A logical operator on integers: anything but zero is true, and the results are one and zero.
pub(super) struct Truth<O>(PhantomData<O>);

macro_rules! truth {
    ($($type:ty)*) => { $(
        impl<O: Operator<bool>> Operator<$type> for Truth<O> {
            #[inline(always)]
            fn apply(a: $type, b: $type) -> $type {
                <$type>::from(O::apply(a != 0, b != 0))
            }
        }
    )* };
}
truth!(u8 u16 u32 u64 u128);
