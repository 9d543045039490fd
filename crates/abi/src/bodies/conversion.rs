//! Language bindings: conversion of handles, Fortran types, the ABI.

use crate::argument::Out;
use crate::error::Result;
use heddle_spec::constants as mpi;
use std::ffi::c_int;

pub(crate) fn abi_get_version(major: Out<c_int>, minor: Out<c_int>) -> Result<()> {
    major.set(mpi::MPI_ABI_VERSION)?;
    minor.set(mpi::MPI_ABI_SUBVERSION)
}
