//! What differs between the ABIs for which the subroutines are compiled. Each has a folder here, with the
//! same names in the same files:
//!
//! | name | what it is |
//! |---|---|
//! | `handle` | handles in C, and their integers in Fortran |
//! | `descriptor` | what the compiler passes for buffers of `mpi_f08`, unless that is their address |
//! | `special` | addresses with a meaning of their own |
//! | `constants` | C's values of the constants |
//! | `Status` | a status, which is the same in both languages |
//! | `in_c` | the key of a predefined attribute in C |
//!
//! The build script says which ABI a package is for (`build/abi.rs`).

#[cfg(descriptors)]
mod dimension;
#[cfg(descriptors)]
pub(crate) use dimension::Dimension;

#[cfg(abi = "standard")]
mod standard;
#[cfg(abi = "standard")]
pub(crate) use standard::*;

#[cfg(abi = "mpich")]
mod mpich;
#[cfg(abi = "mpich")]
pub(crate) use mpich::*;

#[cfg(abi = "openmpi")]
mod openmpi;
#[cfg(abi = "openmpi")]
pub(crate) use openmpi::*;
