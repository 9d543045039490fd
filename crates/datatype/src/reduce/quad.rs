//! Fortran's `REAL(16)`: IEEE binary128, computed by the compiler's runtime library.
//!
//! The runtime's functions take and return vector registers, which stable Rust cannot declare for foreign
//! functions; so they are called from assembly. Elsewhere than on x86-64 the kernels are never chosen.

use std::cmp::Ordering;

use super::operators::Arithmetic;

/// A number as it lies in memory.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Quad(pub(super) [u8; 16]);

#[cfg(target_arch = "x86_64")]
mod runtime {
    use super::Quad;
    use std::arch::asm;
    use std::arch::x86_64::__m128i;

    // Declared without their parameters: only their addresses are used.
    unsafe extern "C" {
        fn __addtf3();
        fn __subtf3();
        fn __multf3();
        fn __letf2();
        fn __unordtf2();
    }

    fn load(number: Quad) -> __m128i {
        // SAFETY: both are sixteen bytes of which every value is valid.
        unsafe { std::mem::transmute(number) }
    }

    macro_rules! binary {
        ($name:ident, $function:ident) => {
            #[inline]
            pub(super) fn $name(a: Quad, b: Quad) -> Quad {
                let mut result = load(a);
                // SAFETY: calls a function of the C convention with its arguments in the registers where it
                // expects them; it has no other effects.
                unsafe {
                    asm!(
                        "call {function}@PLT",
                        function = sym $function,
                        inout("xmm0") result,
                        inout("xmm1") load(b) => _,
                        clobber_abi("C"),
                    );
                }
                // SAFETY: both are sixteen bytes of which every value is valid.
                unsafe { std::mem::transmute(result) }
            }
        };
    }
    binary!(add, __addtf3);
    binary!(sub, __subtf3);
    binary!(mul, __multf3);

    macro_rules! comparison {
        ($name:ident, $function:ident) => {
            #[inline]
            pub(super) fn $name(a: Quad, b: Quad) -> i32 {
                let result: i32;
                // SAFETY: calls a function of the C convention with its arguments in the registers where it
                // expects them, and takes the result from `eax`; it has no other effects.
                unsafe {
                    asm!(
                        "call {function}@PLT",
                        function = sym $function,
                        inout("xmm0") load(a) => _,
                        inout("xmm1") load(b) => _,
                        lateout("eax") result,
                        clobber_abi("C"),
                    );
                }
                result
            }
        };
    }
    comparison!(compare, __letf2);
    comparison!(unordered, __unordtf2);
}

#[cfg(not(target_arch = "x86_64"))]
mod runtime {
    use super::Quad;

    pub(super) fn add(_: Quad, _: Quad) -> Quad {
        unreachable!("no kernel on binary128 is chosen on this platform")
    }
    pub(super) use add as mul;
    pub(super) use add as sub;
    pub(super) fn compare(_: Quad, _: Quad) -> i32 {
        unreachable!("no kernel on binary128 is chosen on this platform")
    }
    pub(super) use compare as unordered;
}

impl Arithmetic for Quad {
    #[inline]
    fn add(self, other: Self) -> Self {
        runtime::add(self, other)
    }

    #[inline]
    fn sub(self, other: Self) -> Self {
        runtime::sub(self, other)
    }

    #[inline]
    fn mul(self, other: Self) -> Self {
        runtime::mul(self, other)
    }
}

impl PartialEq for Quad {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Quad {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (runtime::unordered(*self, *other) == 0).then(|| runtime::compare(*self, *other).cmp(&0))
    }
}
