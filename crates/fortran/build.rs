//! Writes the subroutines that Fortran calls, and names the shared library. Its undefined symbols are those
//! of MPI: the program's MPI library has them.

mod build {
    pub(crate) mod c_form;
    pub(crate) mod conversion;
    pub(crate) mod subroutine;
}

use build::subroutine::subroutines;
use heddle_spec::function_table::Functions;
use std::path::PathBuf;
use std::{env, fs};

/// A C function of each kind for each of the procedures that Fortran may hand in (`src/callbacks.rs`).
fn callbacks() -> String {
    const HANDLER: &str = "unsafe extern \"C\" fn(*mut Handle, *mut c_int)";
    let operator = |len| format!("unsafe extern \"C\" fn(*mut c_void, *mut c_void, *mut {len}, *mut Handle)");
    let kinds = [
        ("operator", operator("c_int")),
        ("large_operator", operator("i64")),
        ("comm_handler", HANDLER.into()),
        ("win_handler", HANDLER.into()),
        ("file_handler", HANDLER.into()),
        ("session_handler", HANDLER.into()),
    ];
    kinds
        .iter()
        .map(|(name, of)| {
            let functions: Vec<String> = (0..256).map(|number| format!("{name}::<{number}>")).collect();
            let table = name.to_uppercase();
            format!("static {table}_FUNCTIONS: [{of}; MOST] = [{}];\n", functions.join(", "))
        })
        .collect()
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libheddle_fortran.so.0");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let table = Functions::parse(heddle_spec::FUNCTIONS_TABLE);
    let table = table.unwrap_or_else(|error| panic!("functions.table: {error}"));
    fs::write(out.join("subroutines.rs"), subroutines(&table)).expect("OUT_DIR is writable");
    fs::write(out.join("callbacks.rs"), callbacks()).expect("OUT_DIR is writable");
}
