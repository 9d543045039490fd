//! `include/heddle_sync.h` is what `cbindgen` makes of the sources.
//!
//! `HEDDLE_UPDATE_HEADER=1 cargo test -p heddle-sync-c --test header` writes it anew.

#[path = "../../c-interface/tests/header/mod.rs"]
mod header;

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
    header::compare(env!("CARGO_PKG_NAME"), env!("CARGO_MANIFEST_DIR"), "heddle_sync.h", ABOVE);
}
