//! Which operators are accepted on which types: the standard's table (MPI 5.0, section 6.9.2), and what other
//! libraries accept beyond it.
//!
//! The two tables beyond the standard have what MPICH 5.0, Open MPI 5.0 and Intel MPI 2021 all accept with
//! the same result, as a program found out that tried every operator on every type.

use super::op::Op;
use crate::basic::{Basic, BasicKind, TypeClass};

/// Which combinations of an operator and a type are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorTable {
    /// The standard's, and the logical operators on `MPI_AINT` and its like.
    Standard,
    /// That of reductions in other libraries: `MPI_CHAR` is an integer.
    Reduction,
    /// That of accumulates in other libraries: `MPI_CHAR` and `MPI_CHARACTER` are integers, and logical
    /// operators take some of Fortran's integers.
    Accumulate,
}

impl OperatorTable {
    /// Returns true if the table has the operator on the type.
    #[must_use]
    pub fn has(self, op: Op, basic: &Basic) -> bool {
        in_standard(op, basic.class)
            || match self {
                OperatorTable::Standard => false,
                OperatorTable::Reduction => on_characters(op, basic.class),
                OperatorTable::Accumulate => {
                    on_characters(op, basic.class)
                        || on_fortran_characters(op, basic.class)
                        || on_fortran_integers(op, basic)
                }
            }
    }

    /// Returns true if `MPI_Compare_and_swap` takes the type.
    #[must_use]
    pub fn can_be_compared(self, basic: &Basic) -> bool {
        use TypeClass::{
            Byte, CCharacter, CInteger, FortranCharacter, FortranInteger, Logical, MultiLanguage,
        };
        match basic.class {
            CInteger | FortranInteger | Logical | MultiLanguage | Byte => true,
            CCharacter | FortranCharacter => self == OperatorTable::Accumulate,
            _ => false,
        }
    }
}

fn in_standard(op: Op, class: TypeClass) -> bool {
    use TypeClass::{Byte, CInteger, Complex, Floating, FortranInteger, Logical, MultiLanguage, Pair};
    match op {
        Op::Min | Op::Max => matches!(class, CInteger | FortranInteger | Floating | MultiLanguage),
        Op::Sum | Op::Prod => matches!(class, CInteger | FortranInteger | Floating | Complex | MultiLanguage),
        Op::Land | Op::Lor | Op::Lxor => matches!(class, CInteger | Logical | MultiLanguage),
        Op::Band | Op::Bor | Op::Bxor => matches!(class, CInteger | FortranInteger | Byte | MultiLanguage),
        Op::Minloc | Op::Maxloc => matches!(class, Pair),
        Op::Replace | Op::NoOp => true,
    }
}

fn on_characters(op: Op, class: TypeClass) -> bool {
    class == TypeClass::CCharacter && !matches!(op, Op::Minloc | Op::Maxloc)
}

/// Without the smaller and the greater of two: the libraries disagree about characters above 127.
fn on_fortran_characters(op: Op, class: TypeClass) -> bool {
    class == TypeClass::FortranCharacter && !matches!(op, Op::Min | Op::Max | Op::Minloc | Op::Maxloc)
}

/// Open MPI refuses logical operators on `MPI_INTEGER` and `MPI_INTEGER4`, and lacks `MPI_INTEGER16`.
fn on_fortran_integers(op: Op, basic: &Basic) -> bool {
    matches!(op, Op::Land | Op::Lor | Op::Lxor)
        && basic.class == TypeClass::FortranInteger
        && matches!(basic.kind, BasicKind::I8 | BasicKind::I16 | BasicKind::I64)
}
