//! Writes the C entry points and the structures of their arguments from `functions.table`, and names the
//! shared library.

mod build {
    pub(crate) mod argument_sets;
    pub(crate) mod entry_points;
    pub(crate) mod face;
    pub(crate) mod foreign;
    pub(crate) mod foreign_constants;
    pub(crate) mod integer_entries;
    pub(crate) mod parameter;
}

use build::argument_sets::ArgumentSets;
use build::entry_points::entry_points;
use build::face::Face;
use build::foreign::foreign_entries;
use build::foreign_constants::foreign_constants;
use heddle_spec::foreign::{MPICH, OPENMPI};
use heddle_spec::function_table::Functions;
use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
    // The entries of other ABIs call this library's functions, whatever else has their names.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic-functions");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let table = Functions::parse(heddle_spec::FUNCTIONS_TABLE);
    let table = table.unwrap_or_else(|error| panic!("functions.table: {error}"));
    let sets = ArgumentSets::new(&table);
    let write = |name: &str, text: String| fs::write(out.join(name), text).expect("OUT_DIR is writable");
    write("argument_sets.rs", sets.definitions());
    for abi in [MPICH, OPENMPI] {
        let constants = abi.constants().unwrap_or_else(|error| panic!("{error}"));
        let face = Face { abi, constants: &constants };
        write(&format!("{}_constants.rs", abi.name), foreign_constants(face));
        write(&format!("{}_entries.rs", abi.name), foreign_entries(face, &table));
    }
    write("entry_points.rs", entry_points(&table, &sets));
}
