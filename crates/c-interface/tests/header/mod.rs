//! A header is what `cbindgen` makes of the sources of a crate, whose folder has its `cbindgen.toml`.
//!
//! With `HEDDLE_UPDATE_HEADER=1` the test writes it anew.

use std::path::Path;
use std::{env, fs};

/// Compares `include/NAME` in the folder of `package` with what its sources make, below these words.
pub(crate) fn compare(package: &str, folder: &str, name: &str, above: &str) {
    let folder = Path::new(folder);
    let header = folder.join("include").join(name);
    let mut config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml");
    config.header = Some(above.to_owned());
    let bindings = cbindgen::Builder::new().with_crate(folder).with_config(config).generate();
    let mut made = Vec::new();
    bindings.expect("cbindgen understands the sources").write(&mut made);
    // rustdoc's heading means little in C.
    let made = String::from_utf8(made).expect("a header is text").replace("# Safety", "The caller promises:");
    if env::var_os("HEDDLE_UPDATE_HEADER").is_some() {
        fs::write(&header, &made).expect("the header can be written");
    }
    let there = fs::read_to_string(&header).unwrap_or_default();
    assert!(
        there == made,
        "{} is out of date: HEDDLE_UPDATE_HEADER=1 cargo test -p {package} --test header",
        header.display()
    );
}
