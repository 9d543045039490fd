//! Basic types: one element as a copy and a reduction see it.

/// How the bytes of one basic element are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BasicKind {
    /// 8-bit signed integer.
    I8,
    /// 16-bit signed integer.
    I16,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// 128-bit signed integer.
    I128,
    /// 8-bit unsigned integer, also one byte of anything.
    U8,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// IEEE binary16.
    F16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// The platform's C `long double`.
    LongDouble,
    /// IEEE binary128.
    F128,
    /// Two binary16.
    C16,
    /// Two binary32.
    C32,
    /// Two binary64.
    C64,
    /// Two C `long double`.
    CLongDouble,
    /// Two binary128.
    C128,
    /// `{ float, int }`.
    F32I32,
    /// `{ double, int }`.
    F64I32,
    /// `{ long, int }`.
    I64I32,
    /// `{ int, int }`.
    I32I32,
    /// `{ short, int }`.
    I16I32,
    /// `{ long double, int }`.
    LongDoubleI32,
    /// `{ float, float }`, Fortran's pair of reals.
    F32F32,
    /// `{ double, double }`, Fortran's pair of double precision reals.
    F64F64,
}

impl BasicKind {
    /// Bytes and alignment of one element; for a pair, of its value and of its index.
    pub(crate) const fn parts(self) -> (Scalar, Option<Scalar>) {
        const fn scalar(bytes: i64) -> Scalar {
            Scalar { size: bytes, align: bytes }
        }
        const fn complex(part: i64) -> Scalar {
            Scalar { size: 2 * part, align: part }
        }
        match self {
            Self::I8 | Self::U8 => (scalar(1), None),
            Self::I16 | Self::U16 | Self::F16 => (scalar(2), None),
            Self::I32 | Self::U32 | Self::F32 => (scalar(4), None),
            Self::I64 | Self::U64 | Self::F64 => (scalar(8), None),
            Self::I128 | Self::LongDouble | Self::F128 => (scalar(16), None),
            Self::C16 => (complex(2), None),
            Self::C32 => (complex(4), None),
            Self::C64 => (complex(8), None),
            Self::CLongDouble | Self::C128 => (complex(16), None),
            Self::F32I32 | Self::I32I32 | Self::F32F32 => (scalar(4), Some(scalar(4))),
            Self::F64I32 | Self::I64I32 => (scalar(8), Some(scalar(4))),
            Self::I16I32 => (scalar(2), Some(scalar(4))),
            Self::LongDoubleI32 => (scalar(16), Some(scalar(4))),
            Self::F64F64 => (scalar(8), Some(scalar(8))),
        }
    }
}

/// Bytes and alignment of an undivided part of a basic type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scalar {
    pub(crate) size: i64,
    pub(crate) align: i64,
}

/// The standard's groups of types, which decide the operators of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TypeClass {
    /// "C integer".
    CInteger,
    /// "Fortran integer".
    FortranInteger,
    /// "Floating point".
    Floating,
    /// "Logical".
    Logical,
    /// "Complex".
    Complex,
    /// "Byte".
    Byte,
    /// "Multi-language types": `MPI_AINT`, `MPI_OFFSET`, `MPI_COUNT`.
    MultiLanguage,
    /// A value and its index, for `MPI_MINLOC` and `MPI_MAXLOC`.
    Pair,
    /// `MPI_CHAR`, which the standard's table lacks.
    CCharacter,
    /// `MPI_CHARACTER`, which the standard's table lacks.
    FortranCharacter,
    /// `MPI_WCHAR` and `MPI_PACKED`: moved, never computed with.
    Opaque,
}

/// A predefined type's identity: handle value, name, and how to compute with it.
#[derive(Debug, PartialEq, Eq)]
pub struct Basic {
    /// The handle's value in the ABI.
    pub handle: usize,
    /// The name that `MPI_Type_get_name` gives until the program sets another.
    pub name: &'static str,
    /// How the bytes of one element are to be read.
    pub kind: BasicKind,
    /// The standard's group for reductions.
    pub class: TypeClass,
}
