//! Put, get and accumulates, with datatypes and operators behind handles.

use crate::object::Win;
use heddle_comm::datatype;
use heddle_comm::error::{Error, Result};
use heddle_comm::op::OpRef;
use heddle_datatype::{Datatype, Op, OperatorTable};
use heddle_message::buffer::Buffer;
use heddle_spec::constants as mpi;
use heddle_window::{Accumulate, TargetLocation};

/// Data within a target's memory, as the program gives it.
#[derive(Debug, Clone, Copy)]
pub struct Far {
    /// The target's rank.
    pub rank: i32,
    /// The displacement.
    pub disp: i64,
    /// Elements.
    pub count: i64,
    /// Handle of their datatype.
    pub datatype: usize,
}

impl Far {
    fn at<'a>(&self, datatype: &'a Datatype) -> TargetLocation<'a> {
        TargetLocation { rank: self.rank, disp: self.disp, count: self.count, datatype }
    }
}

/// `MPI_Put`.
///
/// # Errors
/// `MPI_ERR_TYPE`; those of [`Window::place`](heddle_window::Window::place)
/// and [`Place::put`](heddle_window::Place::put).
pub fn put(win: &Win, origin: &Buffer, far: &Far) -> Result<()> {
    let datatype = datatype::for_communication(far.datatype)?;
    win.window.place(&far.at(&datatype))?.map_or(Ok(()), |place| place.put(origin))
}

/// `MPI_Get`.
///
/// # Errors
/// The same as for [`put`].
pub fn get(win: &Win, origin: &Buffer, far: &Far) -> Result<()> {
    let datatype = datatype::for_communication(far.datatype)?;
    win.window.place(&far.at(&datatype))?.map_or(Ok(()), |place| place.get(origin))
}

/// `MPI_Accumulate`, and with a result `MPI_Get_accumulate`. `origin` has the data and its datatype; it is
/// not called under `MPI_NO_OP`.
///
/// # Errors
/// `MPI_ERR_OP` unless the operator is predefined and defined on the type; `MPI_ERR_TYPE` if the types
/// differ; those of [`Window::place`](heddle_window::Window::place).
pub fn accumulate<T: AsRef<Datatype>>(
    win: &Win,
    op: usize,
    origin: impl FnOnce() -> Result<(T, Buffer)>,
    result: Option<(&Datatype, &Buffer)>,
    far: &Far,
) -> Result<()> {
    let op = predefined(op)?;
    let datatype = datatype::for_communication(far.datatype)?;
    let Some(place) = win.window.place(&far.at(&datatype))? else {
        // Wrong operands are an error for MPI_PROC_NULL, too.
        return if op == Op::NoOp { Ok(()) } else { origin().map(drop) };
    };
    if place.is_empty() {
        // There is no element that the operator could be defined on, or not.
        return if op == Op::NoOp { Ok(()) } else { place.put(&origin()?.1) };
    }
    let accumulate = Accumulate::new(op, &datatype, table())?;
    result.map_or(Ok(()), |(datatype, _)| accumulate.check(datatype))?;
    let result = result.map(|(_, buffer)| buffer);
    if op == Op::NoOp {
        return place.accumulate(&accumulate, None, result);
    }
    let (origin_type, origin) = origin()?;
    accumulate.check(origin_type.as_ref())?;
    place.accumulate(&accumulate, Some(&origin), result)
}

/// `MPI_Compare_and_swap`, for an element of a predefined datatype.
///
/// # Errors
/// `MPI_ERR_TYPE`; those of [`Window::place`](heddle_window::Window::place).
///
/// # Safety
/// `value` and `expected` are valid for reads of an element, `result` for writes.
pub unsafe fn compare_and_swap(
    win: &Win,
    value: *const u8,
    expected: *const u8,
    result: *mut u8,
    far: &Far,
) -> Result<()> {
    let datatype = datatype::for_communication(far.datatype)?;
    match win.window.place(&far.at(&datatype))? {
        // SAFETY: the caller's promise.
        Some(place) => unsafe { place.compare_and_swap(value, expected, result, table()) },
        None => Ok(()),
    }
}

/// Checks that an operation on one element has a predefined datatype, as `MPI_Fetch_and_op` and
/// `MPI_Compare_and_swap` demand.
///
/// # Errors
/// `MPI_ERR_TYPE`.
pub fn check_predefined(datatype: usize) -> Result<()> {
    if datatype::for_communication(datatype)?.predefined_basic().is_some() {
        return Ok(());
    }
    let message = "MPI_Fetch_and_op and MPI_Compare_and_swap take predefined datatypes only";
    Err(Error::new(mpi::MPI_ERR_TYPE, message))
}

/// The operators that accumulates accept on a type.
fn table() -> OperatorTable {
    if heddle_settings::is_strict() { OperatorTable::Standard } else { OperatorTable::Accumulate }
}

fn predefined(op: usize) -> Result<Op> {
    match OpRef::from_handle(op)? {
        OpRef::Predefined(op) => Ok(op),
        OpRef::User(_) => {
            let message = "accumulates take predefined operators only, not those of MPI_Op_create";
            Err(Error::new(mpi::MPI_ERR_OP, message))
        }
    }
}
