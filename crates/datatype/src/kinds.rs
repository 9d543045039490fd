//! Datatypes for Fortran's kinds of numbers (MPI 5.0, section 19.1.10): the predefined type with the least
//! range that a program has asked for.

use crate::construct::{Constructed, Shape};
use crate::contents::{Combiner, Form};
use crate::datatype::{Contents, Datatype};
use crate::error::TypeError;
use crate::predefined::types;
use heddle_spec::constants::MPI_UNDEFINED;

/// A kind of real numbers: its decimal digits, its decimal exponents, its real and its complex type.
type Real = (i32, i32, &'static Datatype, &'static Datatype);

/// The kinds of `selected_real_kind`, least range first. gfortran and flang have C's `long double` on x86-64.
static REALS: &[Real] = &[
    (6, 37, &types::MPI_REAL4, &types::MPI_COMPLEX8),
    (15, 307, &types::MPI_REAL8, &types::MPI_COMPLEX16),
    #[cfg(target_arch = "x86_64")]
    (18, 4931, &types::MPI_LONG_DOUBLE, &types::MPI_C_LONG_DOUBLE_COMPLEX),
    (33, 4931, &types::MPI_REAL16, &types::MPI_COMPLEX32),
];

/// The kinds of `selected_int_kind`: their decimal digits and their type.
static INTEGERS: [(i32, &Datatype); 5] = [
    (2, &types::MPI_INTEGER1),
    (4, &types::MPI_INTEGER2),
    (9, &types::MPI_INTEGER4),
    (18, &types::MPI_INTEGER8),
    (38, &types::MPI_INTEGER16),
];

fn real(p: i32, r: i32) -> Result<&'static Real, TypeError> {
    let none = TypeError::NoKind { p, r };
    if (p, r) == (MPI_UNDEFINED, MPI_UNDEFINED) {
        return Err(none);
    }
    // A number that is not given asks for nothing, and neither does a negative one.
    REALS.iter().find(|(digits, exponents, ..)| p <= *digits && r <= *exponents).ok_or(none)
}

impl Datatype {
    /// The type that Fortran's `selected_real_kind(p, r)` has. A number that is not given is
    /// `MPI_UNDEFINED`.
    ///
    /// # Errors
    /// There is no such kind.
    pub fn f90_real(p: i32, r: i32) -> Constructed {
        unnamed(Combiner::F90Real, &[p, r], real(p, r)?.2)
    }

    /// The type of complex numbers whose parts are of `selected_real_kind(p, r)`.
    ///
    /// # Errors
    /// There is no such kind.
    pub fn f90_complex(p: i32, r: i32) -> Constructed {
        unnamed(Combiner::F90Complex, &[p, r], real(p, r)?.3)
    }

    /// The type that Fortran's `selected_int_kind(r)` has.
    ///
    /// # Errors
    /// There is no such kind.
    pub fn f90_integer(r: i32) -> Constructed {
        let found = INTEGERS.iter().find(|(digits, _)| r <= *digits);
        let (_, of) = found.ok_or(TypeError::NoKind { p: MPI_UNDEFINED, r })?;
        unnamed(Combiner::F90Integer, &[r], of)
    }
}

/// The same data as a predefined type has, but with contents. It can be used at once.
fn unnamed(combiner: Combiner, arguments: &[i32], of: &'static Datatype) -> Constructed {
    let integers = arguments.iter().map(|&argument| argument.into()).collect();
    let contents = Contents::new(combiner, Form::Small, integers, Vec::new(), Vec::new())?;
    let made = Shape::of(of).build(&of.into(), contents)?;
    made.commit();
    Ok(made)
}
