//! The ABIs for which the subroutines are compiled, each by a package of its own.

use heddle_spec::constant::ConstantKind;
use heddle_spec::foreign::{ForeignAbi, MPICH, OPENMPI};
use heddle_spec::function::{Function, Param, ParamKind};
use std::env;
use std::fmt::Write;

/// The ABI of the MPI library that the subroutines call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abi {
    Standard,
    Mpich,
    OpenMpi,
}

impl Abi {
    /// That of the package which is built.
    pub(crate) fn of_package() -> Abi {
        println!("cargo::rustc-check-cfg=cfg(abi, values(\"standard\", \"mpich\", \"openmpi\"))");
        println!("cargo::rustc-check-cfg=cfg(descriptors)");
        let package = env::var("CARGO_PKG_NAME").expect("cargo sets it for build scripts");
        let (abi, name) = match &*package {
            "heddle-fortran-mpich" => (Abi::Mpich, "mpich"),
            "heddle-fortran-openmpi" => (Abi::OpenMpi, "openmpi"),
            _ => (Abi::Standard, "standard"),
        };
        println!("cargo::rustc-cfg=abi=\"{name}\"");
        if abi.has_descriptors() {
            println!("cargo::rustc-cfg=descriptors");
        }
        abi
    }

    /// The name of the library, by which programs find it.
    pub(crate) fn soname(self) -> &'static str {
        match self {
            Abi::Standard => "libheddle_fortran.so.0",
            Abi::Mpich => "libmpifort.so.12",
            Abi::OpenMpi => "libmpi_mpifh.so.40",
        }
    }

    /// The ABI of other libraries that it is, and the name of the library for C, whose functions are called.
    pub(crate) fn foreign(self) -> Option<(ForeignAbi, &'static str)> {
        match self {
            Abi::Standard => None,
            Abi::Mpich => Some((MPICH, "libmpi.so.12")),
            Abi::OpenMpi => Some((OPENMPI, "libmpi.so.40")),
        }
    }

    /// Returns true if buffers of `mpi_f08` come with a descriptor, and not by their address, and counts may
    /// be large there.
    pub(crate) fn has_descriptors(self) -> bool {
        self != Abi::OpenMpi
    }

    /// Returns true if predefined handles are quickly told from others, and are the same number in both
    /// languages.
    pub(crate) fn has_small_constants(self) -> bool {
        self == Abi::Standard
    }

    /// Returns true if texts of `mpi_f08` come with a descriptor, and not with their length behind all
    /// arguments.
    pub(crate) fn describes_texts(self) -> bool {
        self == Abi::Standard
    }

    /// Returns true if `mpi_f08` has a subroutine of its own for this form, as its arguments are not those of
    /// `mpif.h`.
    pub(crate) fn has_own_f08(self, function: &Function, large: bool) -> bool {
        let differs = |param: &Param| self.has_descriptors() && param.is_buffer() || is_detached(param);
        match self {
            Abi::Standard => true,
            Abi::Mpich => large || function.params.iter().any(differs),
            Abi::OpenMpi => function.params.iter().any(differs),
        }
    }
}

/// Returns true for the address of a buffer that is detached: `mpif.h` has no use for it (MPI 5.0, section
/// 3.6).
pub(crate) fn is_detached(param: &Param) -> bool {
    param.kind == ParamKind::Address && param.name == "buffer_addr"
}

/// C's values of the constants in an ABI of other libraries. A handle that is an address in C has Fortran's
/// integer.
pub(crate) fn foreign_constants(abi: ForeignAbi) -> String {
    let sections = abi.constants().unwrap_or_else(|error| panic!("{error}"));
    let mut out = String::new();
    for section in sections {
        let of = match section.kind {
            ConstantKind::Address => "usize",
            ConstantKind::Offset => continue,
            _ => "std::ffi::c_int",
        };
        for pair in &section.pairs {
            let value = match section.kind {
                ConstantKind::Handle(_) if abi == OPENMPI => pair.integer.unwrap_or(-1).to_string(),
                ConstantKind::Address => format!("{:#x}", pair.theirs as usize),
                _ => (pair.theirs as i32).to_string(),
            };
            _ = writeln!(out, "#[allow(dead_code)]\npub(crate) const {}: {of} = {value};", pair.name);
        }
        if section.group == "KEYVALS" && abi == MPICH {
            let keys: Vec<String> = section.pairs.iter().map(|pair| pair.theirs.to_string()).collect();
            _ = writeln!(out, "pub(crate) const KEYVALS: [std::ffi::c_int; {}] = {keys:?};", keys.len());
        }
    }
    out.replace('"', "")
}
