//! The ABIs for which the subroutines are compiled, each by a package of its own.

use heddle_spec::constant::ConstantKind;
use heddle_spec::function::{Function, Param, ParamKind};
use std::env;
use std::fmt::Write;

/// The ABI of the MPI library that the subroutines call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abi {
    Standard,
    Mpich,
}

impl Abi {
    /// That of the package which is built.
    pub(crate) fn of_package() -> Abi {
        println!("cargo::rustc-check-cfg=cfg(abi, values(\"mpich\"))");
        match &*env::var("CARGO_PKG_NAME").expect("cargo sets it for build scripts") {
            "heddle-fortran-mpich" => {
                println!("cargo::rustc-cfg=abi=\"mpich\"");
                Abi::Mpich
            }
            _ => Abi::Standard,
        }
    }

    /// The name of the library, by which programs find it.
    pub(crate) fn soname(self) -> &'static str {
        match self {
            Abi::Standard => "libheddle_fortran.so.0",
            Abi::Mpich => "libmpifort.so.12",
        }
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
        let differs = |param: &Param| param.is_buffer() || is_detached(param);
        self == Abi::Standard || large || function.params.iter().any(differs)
    }
}

/// Returns true for the address of a buffer that is detached: `mpif.h` has no use for it (MPI 5.0, section
/// 3.6).
pub(crate) fn is_detached(param: &Param) -> bool {
    param.kind == ParamKind::Address && param.name == "buffer_addr"
}

/// C's values of the constants in MPICH's ABI.
pub(crate) fn mpich_constants() -> String {
    let sections = heddle_spec::foreign::MPICH.constants().unwrap_or_else(|error| panic!("{error}"));
    let mut out = String::new();
    for section in sections {
        let of = match section.kind {
            ConstantKind::Address => "usize",
            ConstantKind::Offset => continue,
            _ => "std::ffi::c_int",
        };
        for pair in &section.pairs {
            let value = match section.kind {
                ConstantKind::Address => format!("{:#x}", pair.theirs as usize),
                _ => (pair.theirs as i32).to_string(),
            };
            _ = writeln!(out, "#[allow(dead_code)]\npub(crate) const {}: {of} = {value};", pair.name);
        }
        if section.group == "KEYVALS" {
            let keys: Vec<String> = section.pairs.iter().map(|pair| pair.theirs.to_string()).collect();
            _ = writeln!(out, "pub(crate) const KEYVALS: [std::ffi::c_int; {}] = {keys:?};", keys.len());
        }
    }
    out.replace('"', "")
}
