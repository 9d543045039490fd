//! The standard's predefined datatypes, found by their handle's value.

use crate::basic::{Basic, BasicKind, TypeClass};
use crate::datatype::Datatype;
use heddle_spec::constants;

/// The handles of predefined datatypes follow that of `MPI_DATATYPE_NULL`.
const FIRST_HANDLE: usize = constants::MPI_DATATYPE_NULL;
const HANDLES: usize = 0x100;

/// Defines each type's constants and the table of all.
macro_rules! predefined {
    ($($name:ident: $kind:ident, $class:ident;)*) => {
        /// The predefined datatypes, under the standard's names.
        #[allow(non_upper_case_globals, reason = "names of the standard")]
        pub mod types {
            use super::*;
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub static $name: Datatype = Datatype::named(&Basic {
                    handle: constants::$name,
                    name: stringify!($name),
                    kind: BasicKind::$kind,
                    class: TypeClass::$class,
                });
            )*
        }

        static TABLE: [Option<&'static Datatype>; HANDLES] = {
            let mut table = [None; HANDLES];
            $(
                assert!(table[constants::$name - FIRST_HANDLE].is_none(), "two types have one handle");
                table[constants::$name - FIRST_HANDLE] = Some(&types::$name);
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

/// The size in bytes of each predefined datatype that has no gaps and starts at its address; 0 for
/// all others. The index is the whole handle, since a subtraction would cost every call an
/// instruction and a register.
static PLAIN_BYTES: [u8; FIRST_HANDLE + HANDLES] = {
    let mut bytes = [0; FIRST_HANDLE + HANDLES];
    let mut handle = 0;
    while handle < HANDLES {
        if let Some(datatype) = TABLE[handle] {
            bytes[FIRST_HANDLE + handle] = datatype.plain_bytes();
        }
        handle += 1;
    }
    bytes
};

/// The size in bytes of an element of the predefined datatype with this handle, if its elements have no gaps
/// and start at the buffer's address; otherwise 0.
#[inline(always)]
#[must_use]
pub fn plain_bytes(handle: usize) -> usize {
    PLAIN_BYTES.get(handle).map_or(0, |bytes| usize::from(*bytes))
}

/// The size in bytes of each predefined integer type on which sums are defined; 0 for all other types.
static INTEGER_BYTES: [u8; HANDLES] = {
    let mut bytes = [0; HANDLES];
    let mut handle = 0;
    while handle < HANDLES {
        if let Some(datatype) = TABLE[handle]
            && let Some(basic) = datatype.basic
            && matches!(
                basic.class,
                TypeClass::CInteger | TypeClass::FortranInteger | TypeClass::MultiLanguage
            )
        {
            bytes[handle] = datatype.plain_bytes();
        }
        handle += 1;
    }
    bytes
};

/// The size in bytes of the predefined integer type with this handle, if sums are defined on it; otherwise 0.
#[inline(always)]
#[must_use]
pub fn integer_bytes(handle: usize) -> usize {
    INTEGER_BYTES.get(handle.wrapping_sub(FIRST_HANDLE)).map_or(0, |bytes| usize::from(*bytes))
}

/// All predefined datatypes, in the order of their handles.
pub fn all_predefined() -> impl Iterator<Item = &'static Datatype> {
    TABLE.iter().copied().flatten()
}

predefined! {
    MPI_AINT: I64, MultiLanguage;
    MPI_COUNT: I64, MultiLanguage;
    MPI_OFFSET: I64, MultiLanguage;
    MPI_PACKED: U8, Opaque;
    MPI_SHORT: I16, CInteger;
    MPI_INT: I32, CInteger;
    MPI_LONG: I64, CInteger;
    MPI_LONG_LONG_INT: I64, CInteger;
    MPI_UNSIGNED_SHORT: U16, CInteger;
    MPI_UNSIGNED: U32, CInteger;
    MPI_UNSIGNED_LONG: U64, CInteger;
    MPI_UNSIGNED_LONG_LONG: U64, CInteger;
    MPI_FLOAT: F32, Floating;
    MPI_C_COMPLEX: C32, Complex;
    MPI_CXX_FLOAT_COMPLEX: C32, Complex;
    MPI_DOUBLE: F64, Floating;
    MPI_C_DOUBLE_COMPLEX: C64, Complex;
    MPI_CXX_DOUBLE_COMPLEX: C64, Complex;
    MPI_LOGICAL: I32, Logical;
    MPI_INTEGER: I32, FortranInteger;
    MPI_REAL: F32, Floating;
    MPI_COMPLEX: C32, Complex;
    MPI_DOUBLE_PRECISION: F64, Floating;
    MPI_DOUBLE_COMPLEX: C64, Complex;
    MPI_CHARACTER: U8, FortranCharacter;
    MPI_LONG_DOUBLE: LongDouble, Floating;
    MPI_C_LONG_DOUBLE_COMPLEX: CLongDouble, Complex;
    MPI_CXX_LONG_DOUBLE_COMPLEX: CLongDouble, Complex;
    MPI_FLOAT_INT: F32I32, Pair;
    MPI_DOUBLE_INT: F64I32, Pair;
    MPI_LONG_INT: I64I32, Pair;
    MPI_2INT: I32I32, Pair;
    MPI_SHORT_INT: I16I32, Pair;
    MPI_LONG_DOUBLE_INT: LongDoubleI32, Pair;
    MPI_2REAL: F32F32, Pair;
    MPI_2DOUBLE_PRECISION: F64F64, Pair;
    MPI_2INTEGER: I32I32, Pair;
    MPI_C_BOOL: U8, Logical;
    MPI_CXX_BOOL: U8, Logical;
    MPI_WCHAR: I32, Opaque;
    MPI_INT8_T: I8, CInteger;
    MPI_UINT8_T: U8, CInteger;
    MPI_CHAR: U8, CCharacter;
    MPI_SIGNED_CHAR: I8, CInteger;
    MPI_UNSIGNED_CHAR: U8, CInteger;
    MPI_BYTE: U8, Byte;
    MPI_INT16_T: I16, CInteger;
    MPI_UINT16_T: U16, CInteger;
    MPI_INT32_T: I32, CInteger;
    MPI_UINT32_T: U32, CInteger;
    MPI_INT64_T: I64, CInteger;
    MPI_UINT64_T: U64, CInteger;
    MPI_LOGICAL1: I8, Logical;
    MPI_INTEGER1: I8, FortranInteger;
    MPI_LOGICAL2: I16, Logical;
    MPI_INTEGER2: I16, FortranInteger;
    MPI_REAL2: F16, Floating;
    MPI_LOGICAL4: I32, Logical;
    MPI_INTEGER4: I32, FortranInteger;
    MPI_REAL4: F32, Floating;
    MPI_COMPLEX4: C16, Complex;
    MPI_LOGICAL8: I64, Logical;
    MPI_INTEGER8: I64, FortranInteger;
    MPI_REAL8: F64, Floating;
    MPI_COMPLEX8: C32, Complex;
    MPI_LOGICAL16: I128, Logical;
    MPI_INTEGER16: I128, FortranInteger;
    MPI_REAL16: F128, Floating;
    MPI_COMPLEX16: C64, Complex;
    MPI_COMPLEX32: C128, Complex;
}
