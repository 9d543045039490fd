//! Turns `constants.table` into the Rust constants of `heddle_spec::constants`.

#[path = "src/constant.rs"]
#[allow(dead_code, unreachable_pub)]
mod constant;
#[path = "src/rust.rs"]
#[allow(dead_code, unreachable_pub)]
mod rust;

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=constants.table");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let text = fs::read_to_string("constants.table").expect("constants.table lies beside build.rs");
    let sections = constant::parse(&text).unwrap_or_else(|error| panic!("constants.table: {error}"));
    fs::write(out.join("constants.rs"), rust::constants(&sections)).expect("OUT_DIR is writable");
}
