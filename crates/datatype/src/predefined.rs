//! The standard's predefined datatypes, found by their handle's value.

use crate::basic::{Basic, Class, Kind};
use crate::datatype::Datatype;

/// The values of predefined datatypes' handles.
const FIRST_HANDLE: usize = 0x200;
const HANDLES: usize = 0x100;

/// Defines each type's constants and the table of all.
macro_rules! predefined {
    ($($name:ident = $handle:literal, $kind:ident, $class:ident;)*) => {
        /// The predefined datatypes, under the standard's names.
        #[allow(non_upper_case_globals, reason = "names of the standard")]
        pub mod types {
            use super::*;
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub static $name: Datatype = Datatype::named(&Basic {
                    handle: $handle,
                    name: stringify!($name),
                    kind: Kind::$kind,
                    class: Class::$class,
                });
            )*
        }

        static TABLE: [Option<&'static Datatype>; HANDLES] = {
            let mut table = [None; HANDLES];
            $(
                assert!(table[$handle - FIRST_HANDLE].is_none(), "two types have one handle");
                table[$handle - FIRST_HANDLE] = Some(&types::$name);
            )*
            table
        };
    };
}

/// The predefined datatype with this handle value, if there is one.
#[inline]
#[must_use]
pub fn predefined(handle: usize) -> Option<&'static Datatype> {
    TABLE.get(handle.wrapping_sub(FIRST_HANDLE)).copied().flatten()
}

/// All predefined datatypes, in the order of their handles.
pub fn all_predefined() -> impl Iterator<Item = &'static Datatype> {
    TABLE.iter().copied().flatten()
}

predefined! {
    MPI_AINT = 0x201, I64, MultiLanguage;
    MPI_COUNT = 0x202, I64, MultiLanguage;
    MPI_OFFSET = 0x203, I64, MultiLanguage;
    MPI_PACKED = 0x207, U8, Opaque;
    MPI_SHORT = 0x208, I16, CInteger;
    MPI_INT = 0x209, I32, CInteger;
    MPI_LONG = 0x20a, I64, CInteger;
    MPI_LONG_LONG = 0x20b, I64, CInteger;
    MPI_UNSIGNED_SHORT = 0x20c, U16, CInteger;
    MPI_UNSIGNED = 0x20d, U32, CInteger;
    MPI_UNSIGNED_LONG = 0x20e, U64, CInteger;
    MPI_UNSIGNED_LONG_LONG = 0x20f, U64, CInteger;
    MPI_FLOAT = 0x210, F32, Floating;
    MPI_C_FLOAT_COMPLEX = 0x212, C32, Complex;
    MPI_CXX_FLOAT_COMPLEX = 0x213, C32, Complex;
    MPI_DOUBLE = 0x214, F64, Floating;
    MPI_C_DOUBLE_COMPLEX = 0x216, C64, Complex;
    MPI_CXX_DOUBLE_COMPLEX = 0x217, C64, Complex;
    MPI_LOGICAL = 0x218, I32, Logical;
    MPI_INTEGER = 0x219, I32, FortranInteger;
    MPI_REAL = 0x21a, F32, Floating;
    MPI_COMPLEX = 0x21b, C32, Complex;
    MPI_DOUBLE_PRECISION = 0x21c, F64, Floating;
    MPI_DOUBLE_COMPLEX = 0x21d, C64, Complex;
    MPI_CHARACTER = 0x21e, U8, Opaque;
    MPI_LONG_DOUBLE = 0x220, LongDouble, Floating;
    MPI_C_LONG_DOUBLE_COMPLEX = 0x224, CLongDouble, Complex;
    MPI_CXX_LONG_DOUBLE_COMPLEX = 0x225, CLongDouble, Complex;
    MPI_FLOAT_INT = 0x228, F32I32, Pair;
    MPI_DOUBLE_INT = 0x229, F64I32, Pair;
    MPI_LONG_INT = 0x22a, I64I32, Pair;
    MPI_2INT = 0x22b, I32I32, Pair;
    MPI_SHORT_INT = 0x22c, I16I32, Pair;
    MPI_LONG_DOUBLE_INT = 0x22d, LongDoubleI32, Pair;
    MPI_2REAL = 0x230, F32F32, Pair;
    MPI_2DOUBLE_PRECISION = 0x231, F64F64, Pair;
    MPI_2INTEGER = 0x232, I32I32, Pair;
    MPI_C_BOOL = 0x238, U8, Logical;
    MPI_CXX_BOOL = 0x239, U8, Logical;
    MPI_WCHAR = 0x23c, I32, Opaque;
    MPI_INT8_T = 0x240, I8, CInteger;
    MPI_UINT8_T = 0x241, U8, CInteger;
    MPI_CHAR = 0x243, U8, Opaque;
    MPI_SIGNED_CHAR = 0x244, I8, CInteger;
    MPI_UNSIGNED_CHAR = 0x245, U8, CInteger;
    MPI_BYTE = 0x247, U8, Byte;
    MPI_INT16_T = 0x248, I16, CInteger;
    MPI_UINT16_T = 0x249, U16, CInteger;
    MPI_INT32_T = 0x250, I32, CInteger;
    MPI_UINT32_T = 0x251, U32, CInteger;
    MPI_INT64_T = 0x258, I64, CInteger;
    MPI_UINT64_T = 0x259, U64, CInteger;
    MPI_LOGICAL1 = 0x2c0, I8, Logical;
    MPI_INTEGER1 = 0x2c1, I8, FortranInteger;
    MPI_LOGICAL2 = 0x2c8, I16, Logical;
    MPI_INTEGER2 = 0x2c9, I16, FortranInteger;
    MPI_REAL2 = 0x2ca, F16, Floating;
    MPI_LOGICAL4 = 0x2d0, I32, Logical;
    MPI_INTEGER4 = 0x2d1, I32, FortranInteger;
    MPI_REAL4 = 0x2d2, F32, Floating;
    MPI_COMPLEX4 = 0x2d3, C16, Complex;
    MPI_LOGICAL8 = 0x2d8, I64, Logical;
    MPI_INTEGER8 = 0x2d9, I64, FortranInteger;
    MPI_REAL8 = 0x2da, F64, Floating;
    MPI_COMPLEX8 = 0x2db, C32, Complex;
    MPI_LOGICAL16 = 0x2e0, I128, Logical;
    MPI_INTEGER16 = 0x2e1, I128, FortranInteger;
    MPI_REAL16 = 0x2e2, F128, Floating;
    MPI_COMPLEX16 = 0x2e3, C64, Complex;
    MPI_COMPLEX32 = 0x2eb, C128, Complex;
}
