//! Writes the subroutines that Fortran calls, and names the shared library. Its undefined symbols are those
//! of MPI: the program's MPI library has them.

mod build {
    pub(crate) mod subroutine;
}

use build::subroutine::subroutines;
use heddle_spec::function_table::Functions;
use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libheddle_fortran.so.0");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let table = Functions::parse(heddle_spec::FUNCTIONS_TABLE);
    let table = table.unwrap_or_else(|error| panic!("functions.table: {error}"));
    fs::write(out.join("subroutines.rs"), subroutines(&table)).expect("OUT_DIR is writable");
}
