//! Buffers of `mpi_f08` that are array sections with gaps (MPI 5.0, section 19.1.12). C gets the section with
//! a datatype that skips the gaps, or, where there is none, a copy. `heddle_spec::gaps` says which buffers
//! may be described.

use crate::constants::{MPI_DATATYPE_NULL, MPI_ERR_BUFFER, MPI_SUCCESS};
use crate::copies::Copy;
use crate::descriptor::Descriptor;
use crate::handle::Handle;
use crate::section::Section;
use crate::section_type::{Datatype, Described, describe};
use crate::special;
use crate::subroutines as c;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

/// A buffer for C.
pub(crate) struct Buffer {
    pub(crate) address: *mut c_void,
    pub(crate) count: i64,
    pub(crate) datatype: Handle,
    /// The datatype that was made for it.
    _made: Option<Datatype>,
    /// The copy that C gets.
    pub(crate) copy: Option<Copy>,
}

/// How a buffer is used.
#[derive(Debug, Clone, std::marker::Copy)]
pub(crate) struct Use {
    /// True if MPI writes to it.
    pub(crate) is_out: bool,
    /// True if a copy may take its place, since it is known when the operation is complete.
    pub(crate) may_be_copied: bool,
}

/// The reasons why a section is refused.
#[derive(Debug, Clone, std::marker::Copy)]
pub(crate) enum Refusal {
    Kept,
    TooShort,
    Undescribed,
}

impl Refusal {
    /// An error code of the class `MPI_ERR_BUFFER` whose text says the reason.
    fn code(self) -> c_int {
        static KEPT: OnceLock<c_int> = OnceLock::new();
        static TOO_SHORT: OnceLock<c_int> = OnceLock::new();
        static UNDESCRIBED: OnceLock<c_int> = OnceLock::new();
        let (code, text) = match self {
            Refusal::Kept => (
                &KEPT,
                c"MPI_ERR_BUFFER: an array section with gaps cannot be memory of MPI: pass a contiguous array",
            ),
            Refusal::TooShort => (
                &TOO_SHORT,
                c"MPI_ERR_BUFFER: the array section has fewer elements than the count asks for",
            ),
            Refusal::Undescribed => (
                &UNDESCRIBED,
                c"MPI_ERR_BUFFER: no datatype describes this array section with gaps here: pass a contiguous array",
            ),
        };
        *code.get_or_init(|| new_code(text))
    }

    /// Calls the error handler of an object with the error code, and returns the code.
    pub(crate) fn raise(self, call: unsafe extern "C" fn(Handle, c_int) -> c_int, object: Handle) -> c_int {
        let code = self.code();
        // SAFETY: the MPI library checks the handle.
        unsafe { call(object, code) };
        code
    }
}

fn new_code(text: &CStr) -> c_int {
    let mut code = MPI_ERR_BUFFER;
    // SAFETY: there is room for a code, and the text is only read.
    let made = unsafe { c::PMPI_Add_error_code(MPI_ERR_BUFFER, &raw mut code) };
    if made == MPI_SUCCESS {
        // SAFETY: the text ends with a null, and is only read.
        unsafe { c::PMPI_Add_error_string(code, text.as_ptr().cast_mut()) };
    }
    code
}

/// A buffer of `count` elements of a datatype, or, without a count, of several messages with such elements.
pub(crate) fn described(
    descriptor: &Descriptor,
    count: Option<i64>,
    datatype: Handle,
    of: Use,
) -> Result<Buffer, Refusal> {
    let address = special::buffer(descriptor.address);
    let as_it_is = Buffer { address, count: count.unwrap_or(0), datatype, _made: None, copy: None };
    // C complains of a wrong count or no datatype.
    if !descriptor.has_gaps() || count.is_some_and(|count| count <= 0) || datatype == MPI_DATATYPE_NULL {
        return Ok(as_it_is);
    }
    let section = Section::of(descriptor);
    let (mut made, count) = match describe(&section, count, datatype) {
        Some(Described::Element(made)) => (made, as_it_is.count),
        Some(Described::Whole(made)) => (made, 1),
        Some(Described::TooShort) => return Err(Refusal::TooShort),
        None if of.may_be_copied => return Ok(copied_section(section, as_it_is, of.is_out)),
        None => return Err(Refusal::Undescribed),
    };
    match made.committed() {
        Some(datatype) => Ok(Buffer { count, datatype, _made: Some(made), ..as_it_is }),
        None => Err(Refusal::Undescribed),
    }
}

/// A buffer whose elements cannot be described.
pub(crate) fn copied(descriptor: &Descriptor, is_out: bool) -> Buffer {
    let address = special::buffer(descriptor.address);
    let as_it_is = Buffer { address, count: 0, datatype: MPI_DATATYPE_NULL, _made: None, copy: None };
    if descriptor.has_gaps() { copied_section(Section::of(descriptor), as_it_is, is_out) } else { as_it_is }
}

fn copied_section(section: Section, buffer: Buffer, is_out: bool) -> Buffer {
    let mut copy = Copy::new(section, is_out);
    Buffer { address: copy.as_mut_ptr(), copy: Some(copy), ..buffer }
}
