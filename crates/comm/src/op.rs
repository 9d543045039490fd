//! Reduction operators: the standard's and the program's (MPI 5.0, section 6.9).

use crate::error::{Error, Result};
use crate::program::ProgramFunction;
use heddle_datatype::Op;
use heddle_objects::table::{ObjectKind, Ref, Table};
use heddle_spec::constants as mpi;
use std::ffi::{c_int, c_void};

/// `MPI_User_function`: computes `inout = in OP inout` on `count` elements of a datatype.
pub type UserFunction = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut usize);

/// `MPI_User_function_c`: the same with 64-bit counts.
pub type LargeUserFunction = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut i64, *mut usize);

/// The program's function, in one of its two forms.
#[derive(Debug, Clone, Copy)]
pub enum OpFunction {
    /// Of `MPI_Op_create`.
    Int(ProgramFunction<UserFunction>),
    /// Of `MPI_Op_create_c`.
    Large(ProgramFunction<LargeUserFunction>),
}

/// An operator that the program made.
#[derive(Debug)]
pub struct UserOp {
    function: OpFunction,
    commutes: bool,
}

/// All operators that the program made.
pub static OPS: Table<UserOp> = Table::new(ObjectKind::Op);

impl UserOp {
    /// An operator of a function of the program.
    ///
    /// # Safety
    /// The function may be called with any two arrays of elements of the datatypes that
    /// the program uses it with.
    pub unsafe fn new(function: OpFunction, commutes: bool) -> UserOp {
        UserOp { function, commutes }
    }

    /// Computes `inout = in OP inout` on `count` elements, `extent` bytes apart.
    ///
    /// # Safety
    /// Both arrays hold `count` elements of the datatype that `datatype` is the
    /// handle of, and do not overlap.
    pub unsafe fn call(
        &self,
        mut input: *mut u8,
        mut inout: *mut u8,
        count: i64,
        extent: i64,
        datatype: usize,
    ) {
        let mut datatype = datatype;
        match self.function {
            OpFunction::Large(function) => {
                datatype = (function.abi().handle)(datatype);
                let mut len = count;
                // SAFETY: the caller vouches for the arrays, `new` for the function.
                let call = |of: LargeUserFunction| unsafe {
                    of(input.cast(), inout.cast(), &raw mut len, &raw mut datatype)
                };
                function.call(call);
            }
            OpFunction::Int(function) => {
                datatype = (function.abi().handle)(datatype);
                // Elements without extent have no data, or the program's results would overlap: 2^63 of
                // them are worth no more than one call.
                let mut rest = if extent == 0 { count.min(i64::from(c_int::MAX)) } else { count };
                while rest > 0 {
                    let part = rest.min(i64::from(c_int::MAX));
                    let mut len = part as c_int;
                    // SAFETY: the caller vouches for the arrays, `new` for the function.
                    let call = |of: UserFunction| unsafe {
                        of(input.cast(), inout.cast(), &raw mut len, &raw mut datatype)
                    };
                    function.call(call);
                    let bytes = part.wrapping_mul(extent) as isize;
                    (input, inout) = (input.wrapping_offset(bytes), inout.wrapping_offset(bytes));
                    rest -= part;
                }
            }
        }
    }
}

/// An operator in use.
#[derive(Debug, Clone)]
pub enum OpRef {
    /// One of the standard's.
    Predefined(Op),
    /// One of the program's.
    User(Ref<UserOp>),
}

impl OpRef {
    /// The operator of a handle.
    ///
    /// # Errors
    /// `MPI_ERR_OP` for anything that is not a live operator's handle.
    pub fn from_handle(handle: usize) -> Result<OpRef> {
        if let Some(op) = Op::from_handle(handle) {
            return Ok(OpRef::Predefined(op));
        }
        OPS.get(handle).map(OpRef::User).ok_or_else(|| bad_handle(handle))
    }

    /// Returns true if the order of its operands does not matter.
    pub fn commutes(&self) -> bool {
        match self {
            OpRef::Predefined(op) => op.is_commutative(),
            OpRef::User(op) => op.commutes,
        }
    }
}

/// Frees an operator; reductions that use it complete.
///
/// # Errors
/// `MPI_ERR_OP` for a predefined operator, or for an invalid handle.
pub fn free(handle: usize) -> Result<()> {
    if let Some(op) = Op::from_handle(handle) {
        let message = format!("{} is predefined and cannot be freed", op.name());
        return Err(Error::new(mpi::MPI_ERR_OP, message));
    }
    OPS.remove(handle).map(drop).ok_or_else(|| bad_handle(handle))
}

#[cold]
fn bad_handle(handle: usize) -> Error {
    let what = if handle == mpi::MPI_OP_NULL {
        "MPI_OP_NULL is not an operator to work with".to_owned()
    } else {
        format!("{handle:#x} is not an operator: never made, or freed already")
    };
    Error::new(mpi::MPI_ERR_OP, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn subtract(input: *mut c_void, inout: *mut c_void, len: *mut c_int, _: *mut usize) {
        // SAFETY: the test passes a valid length.
        let len = unsafe { *len } as usize;
        // SAFETY: the test passes arrays of `len` elements.
        let input = unsafe { std::slice::from_raw_parts(input.cast::<i32>(), len) };
        // SAFETY: the test passes arrays of `len` elements.
        let inout = unsafe { std::slice::from_raw_parts_mut(inout.cast::<i32>(), len) };
        for (a, b) in input.iter().zip(inout) {
            *b = a - *b;
        }
    }

    #[test]
    fn user_operators_are_called_in_order_and_die_with_free() {
        // SAFETY: the function is used with arrays of `i32` only.
        let handle =
            OPS.insert(unsafe { UserOp::new(OpFunction::Int(ProgramFunction::new(subtract)), false) });
        let op = OpRef::from_handle(handle).expect("live");
        assert!(!op.commutes());
        free(handle).expect("live");
        assert_eq!(OpRef::from_handle(handle).map(|_| ()).map_err(|e| e.code()), Err(mpi::MPI_ERR_OP));
        let OpRef::User(op) = op else { panic!("a user's operator") };
        let (mut a, mut b) = ([5, 7, 9], [1, 2, 3]);
        // SAFETY: arrays of three elements.
        unsafe { op.call(a.as_mut_ptr().cast(), b.as_mut_ptr().cast(), 3, 4, mpi::MPI_INT) };
        assert_eq!(b, [4, 5, 6]);
        assert_eq!(free(mpi::MPI_SUM).map_err(|e| e.code()), Err(mpi::MPI_ERR_OP));
        assert_eq!(free(mpi::MPI_OP_NULL).map_err(|e| e.code()), Err(mpi::MPI_ERR_OP));
    }
}
