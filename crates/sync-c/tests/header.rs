//! `include/heddle_sync.h` is what `cbindgen` makes of the sources.
//!
//! `HEDDLE_UPDATE_HEADER=1 cargo test -p heddle-sync-c --test header` writes it anew.

use std::path::Path;
use std::{env, fs};

const ABOVE: &str = "\
/* The locks and the combining of Heddle for C.
 *
 * Made by cbindgen from crates/sync-c; change it there.
 *
 * Threads: every function may be called by any number of threads at once, on the same handle too, except
 * for the _destroy functions, whose handle no other thread may use. Processes: handles are for threads of
 * one process, and not for the child of a fork.
 *
 * Errors: every function that can fail returns a heddle_status; heddle_last_error() gives the reason in
 * words. A null pointer where none is allowed is HEDDLE_STATUS_NULL_POINTER. A handle that was destroyed, or
 * that is no handle, is not recognised. Memory that is used up ends the program.
 *
 * Link with -lheddle_sync; statically with the output of `pkg-config --static --libs heddle_sync`.
 *
 *     heddle_lock *lock;
 *     if (heddle_lock_create(\"mutex\", &lock) != HEDDLE_STATUS_OK)
 *         die(heddle_last_error());
 *     heddle_lock_acquire(lock);
 *     ...
 *     heddle_lock_release(lock);
 *     heddle_lock_destroy(lock);
 */";

#[test]
fn the_header_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = folder.join("include/heddle_sync.h");
    let mut config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml");
    config.header = Some(ABOVE.to_owned());
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
        "{} is out of date: HEDDLE_UPDATE_HEADER=1 cargo test -p heddle-sync-c --test header",
        header.display()
    );
}
