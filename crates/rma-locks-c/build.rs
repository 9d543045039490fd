//! Names the shared library. Its undefined symbols are those of MPI: the program's MPI library has them.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libheddle_rma_locks.so.0");
}
