//! Writes the subroutines that Fortran calls, and names the shared library. Its undefined symbols are those
//! of MPI: the program's MPI library has them.

mod build {
    pub(crate) mod abi;
    pub(crate) mod c_form;
    pub(crate) mod conversion;
    pub(crate) mod predefined;
    pub(crate) mod spellings;
    pub(crate) mod subroutine;
}

use build::abi::{Abi, foreign_constants};
use build::spellings::spellings;
use build::subroutine::subroutines;
use heddle_spec::function_table::Functions;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A C function of each kind for each of the procedures that Fortran may hand in (`src/callbacks.rs`), and
/// those for large counts (`src/large_operator.rs`).
fn callbacks() -> (String, String) {
    let handler = |handle| format!("unsafe extern \"C\" fn(*mut {handle}, *mut c_int)");
    let operator = |len| format!("unsafe extern \"C\" fn(*mut c_void, *mut c_void, *mut {len}, *mut Handle)");
    let kinds = [
        ("operator", operator("c_int")),
        ("comm_handler", handler("Handle")),
        ("win_handler", handler("Handle")),
        ("file_handler", handler("FileHandle")),
        ("session_handler", handler("Handle")),
    ];
    let table = |(name, of): &(&str, String)| {
        let functions: Vec<String> = (0..256).map(|number| format!("{name}::<{number}>")).collect();
        let table = name.to_uppercase();
        format!("static {table}_FUNCTIONS: [{of}; MOST] = [{}];\n", functions.join(", "))
    };
    (kinds.iter().map(table).collect(), table(&("large_operator", operator("i64"))))
}

/// Makes the library need the one for C beside it, whose functions it calls. That is made when the build is
/// laid out, so the linker gets an empty library of the name.
fn need_libmpi(out: &Path, name: &str) {
    let library = out.join(name);
    let mut linker = Command::new("cc");
    linker.args([
        "-shared",
        "-nostdlib",
        &format!("-Wl,-soname,{name}"),
        "-x",
        "assembler",
        "/dev/null",
        "-o",
    ]);
    let status = linker.arg(&library).status();
    assert!(status.is_ok_and(|status| status.success()), "cc cannot make an empty library");
    for argument in ["-Wl,--no-as-needed", &library.to_string_lossy(), "-Wl,-rpath,$ORIGIN"] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}

fn main() {
    // The other package's folder lies beside this one's.
    println!("cargo::rerun-if-changed=../fortran/build.rs");
    println!("cargo::rerun-if-changed=../fortran/build");
    let abi = Abi::of_package();
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{}", abi.soname());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let table = Functions::parse(heddle_spec::FUNCTIONS_TABLE);
    let table = table.unwrap_or_else(|error| panic!("functions.table: {error}"));
    let write = |name: &str, text: String| fs::write(out.join(name), text).expect("OUT_DIR is writable");
    write("subroutines.rs", subroutines(&table, abi));
    let (callbacks, large_operators) = callbacks();
    write("callbacks.rs", callbacks);
    write("large_operators.rs", large_operators);
    if let Some((foreign, libmpi)) = abi.foreign() {
        write("constants.rs", foreign_constants(foreign));
        write("spellings.rs", spellings(abi, &table));
        need_libmpi(&out, libmpi);
    }
}
