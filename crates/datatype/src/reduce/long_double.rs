//! C's `long double` on x86-64: the x87 unit's 80-bit numbers in 16 bytes.
//!
//! Rust has no such type, so this file has the few instructions. Other processors have no arithmetic for it
//! here, and the kernels are never chosen there.

use std::cmp::Ordering;

use super::operators::Arithmetic;

/// A number as it lies in memory; the last six bytes mean nothing.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct LongDouble(pub(super) [u8; 16]);

#[cfg(target_arch = "x86_64")]
mod x87 {
    use super::LongDouble;
    use std::arch::asm;

    macro_rules! binary {
        ($name:ident, $instruction:literal) => {
            #[inline(always)]
            pub(super) fn $name(a: LongDouble, mut b: LongDouble) -> LongDouble {
                // SAFETY: reads ten bytes of each operand and writes ten of one; both have sixteen. The
                // register stack is empty before, as the calling convention demands, and after.
                unsafe {
                    asm!(
                        "fld tbyte ptr [{a}]",
                        "fld tbyte ptr [{b}]",
                        $instruction,
                        "fstp tbyte ptr [{b}]",
                        a = in(reg) a.0.as_ptr(),
                        b = in(reg) b.0.as_mut_ptr(),
                        out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                        out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                        options(nostack),
                    );
                }
                b
            }
        };
    }
    binary!(add, "faddp st(1), st");
    binary!(sub, "fsubp st(1), st");
    binary!(mul, "fmulp st(1), st");

    /// Compares. Returns the processor's flags "below" (`a < b`), "equal" and
    /// "unordered", which sets all three.
    #[inline(always)]
    pub(super) fn order(a: LongDouble, b: LongDouble) -> (bool, bool, bool) {
        let (below, equal, unordered): (u8, u8, u8);
        // SAFETY: reads ten bytes of each operand, which have sixteen; the register stack is left empty.
        unsafe {
            asm!(
                "fld tbyte ptr [{b}]",
                "fld tbyte ptr [{a}]",
                "fucomip st, st(1)",
                "setb {below}",
                "sete {equal}",
                "setp {unordered}",
                "fstp st(0)",
                a = in(reg) a.0.as_ptr(),
                b = in(reg) b.0.as_ptr(),
                below = out(reg_byte) below,
                equal = out(reg_byte) equal,
                unordered = out(reg_byte) unordered,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack, readonly),
            );
        }
        (below != 0, equal != 0, unordered != 0)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod x87 {
    use super::LongDouble;

    pub(super) fn add(_: LongDouble, _: LongDouble) -> LongDouble {
        unreachable!("no kernel on long double is chosen on this platform")
    }
    pub(super) use add as mul;
    pub(super) use add as sub;
    pub(super) fn order(_: LongDouble, _: LongDouble) -> (bool, bool, bool) {
        unreachable!("no kernel on long double is chosen on this platform")
    }
}

impl Arithmetic for LongDouble {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        x87::add(self, other)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        x87::sub(self, other)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        x87::mul(self, other)
    }
}

impl PartialEq for LongDouble {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for LongDouble {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match x87::order(*self, *other) {
            (_, _, true) => None,
            (_, true, _) => Some(Ordering::Equal),
            (true, ..) => Some(Ordering::Less),
            _ => Some(Ordering::Greater),
        }
    }
}
