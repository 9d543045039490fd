//! `include/heddle_rma_locks.h` is what `cbindgen` makes of the sources.
//!
//! `HEDDLE_UPDATE_HEADER=1 cargo test -p heddle-rma-locks-c --test header` writes it anew.

#[path = "../../c-interface/tests/header/mod.rs"]
mod header;

const ABOVE: &str = "\
/* Distributed locks over remote memory access for C programs with MPI.
 *
 * Made by cbindgen from crates/rma-locks-c; change it there.
 *
 * MPI: any library with the standard ABI of MPI 5.0. A lock is a window with a few words at each process. A
 * process that waits calls MPI again and again, at first at once, then with yields and short sleeps in
 * between. Whether others can take a lock while a process that keeps its words computes is up to the MPI
 * library (progress of passive targets); Heddle needs no call by that process.
 *
 * Threads: with MPI_THREAD_MULTIPLE every function may be called by any number of threads at once, on the
 * same handle too, except for heddle_rma_lock_free, whose handle no other thread may use. To other processes
 * this process is one participant: threads that want to write wait for each other in the process first.
 *
 * Errors: every function that can fail returns a heddle_rma_status; heddle_rma_last_error() gives the reason
 * in words. A null pointer where none is allowed is HEDDLE_RMA_STATUS_NULL_POINTER. A handle that was freed,
 * or that is no handle, is not recognised. Memory that is used up ends the program.
 *
 * Link with -lheddle_rma_locks and the MPI library: mpicc program.c -lheddle_rma_locks; statically with the
 * output of `pkg-config --static --libs heddle_rma_locks`.
 *
 *     heddle_rma_lock *lock;
 *     if (heddle_rma_lock_create(MPI_COMM_WORLD, \"rma-rw\", NULL, &lock) != HEDDLE_RMA_STATUS_OK)
 *         die(heddle_rma_last_error());
 *     heddle_rma_lock_acquire_write(lock);
 *     ... MPI_Put(.., window); MPI_Win_flush(.., window);
 *     heddle_rma_lock_release_write(lock);
 *     heddle_rma_lock_free(lock);
 */";

#[test]
fn the_header_is_up_to_date() {
    header::compare(env!("CARGO_PKG_NAME"), env!("CARGO_MANIFEST_DIR"), "heddle_rma_locks.h", ABOVE);
}
