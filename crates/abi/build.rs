//! Writes the C entry points and the structures of their arguments from `functions.table`, and names the
//! shared library.

mod build {
    pub(crate) mod argument_sets;
    pub(crate) mod entry_points;
    pub(crate) mod parameter;
}

use build::argument_sets::ArgumentSets;
use build::entry_points::entry_points;
use heddle_spec::function_table::Functions;
use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let table = Functions::parse(heddle_spec::FUNCTIONS_TABLE);
    let table = table.unwrap_or_else(|error| panic!("functions.table: {error}"));
    let sets = ArgumentSets::new(&table);
    let write = |name, text: String| fs::write(out.join(name), text).expect("OUT_DIR is writable");
    write("argument_sets.rs", sets.definitions());
    write("entry_points.rs", entry_points(&table, &sets));
}
