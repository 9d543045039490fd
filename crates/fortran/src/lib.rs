//! MPI for Fortran, as a layer over the C functions of an ABI: `libheddle_fortran.so.0` for the standard's.
//! The packages `heddle-fortran-mpich` and `heddle-fortran-openmpi` make `libmpifort.so.12` for MPICH's and
//! `libmpi_mpifh.so.40` for Open MPI's of the same files.
//!
//! It knows nothing of Heddle's inside, so the first serves the programs of any MPI library with that ABI.
//! Fortran finds the subroutines by their names in the linker's spelling (`mpi_send_`, `pmpi_send_`), passes
//! every argument by its address, and the lengths of character arguments behind all others. The subroutines
//! of the module `mpi_f08` (`mpi_send_f08ts_`) are `bind(C)`: a descriptor comes with buffers and characters.
//!
//! `build.rs` makes the subroutines from the table of the standard. What their arguments are turned into:
//!
//! | file | arguments |
//! |---|---|
//! | `abi` | what differs between the ABIs: handles, descriptors, addresses with a meaning |
//! | `array.rs` | arrays whose elements are converted |
//! | `logical.rs` | truth values |
//! | `attribute.rs` | attributes |
//! | `text.rs` | characters, padded with blanks |
//! | `gaps.rs` | buffers that are array sections with gaps (`section.rs`) |
//! | `section_type.rs` | a datatype for such a section |
//! | `copies.rs` | copies of those that no datatype describes |
//! | `number_of.rs` | how many elements an array has that the communicator determines |
//! | `hand_written.rs` | subroutines whose arguments differ from those in C |
//! | `callbacks.rs`, `large_operator.rs` | functions of the program that MPI calls |
//! | `without_c.rs` | subroutines that C has no function for |
//! | `foreign` | what only the libraries of other ABIs have |

mod abi;
mod array;
mod attribute;
mod callbacks;
#[cfg(descriptors)]
mod copies;
#[cfg(not(abi = "standard"))]
mod foreign;
#[cfg(descriptors)]
mod gaps;
mod hand_written;
#[cfg(descriptors)]
mod large_operator;
mod logical;
mod number_of;
#[cfg(descriptors)]
mod section;
#[cfg(descriptors)]
mod section_type;
mod text;
mod without_c;

#[cfg(descriptors)]
pub(crate) use abi::descriptor;
pub(crate) use abi::{Status, constants, handle, in_c, special};

/// The functions of the MPI library, and the subroutines.
///
/// # Safety
///
/// The standard says which arguments each subroutine takes.
#[allow(non_snake_case, unreachable_pub, missing_docs, clashing_extern_declarations)]
#[allow(clippy::missing_safety_doc, clippy::too_many_arguments, clippy::multiple_unsafe_ops_per_block)]
mod subroutines {
    use crate::Status;
    use crate::constants::MPI_SUCCESS;
    use crate::handle::{FileHandle, Handle};
    use crate::{array, handle, logical, number_of, special, text};
    #[cfg(descriptors)]
    use crate::{constants::MPI_COMM_SELF, copies, descriptor::Descriptor, gaps};
    use std::ffi::{c_char, c_int, c_void};

    include!(concat!(env!("OUT_DIR"), "/subroutines.rs"));
}
