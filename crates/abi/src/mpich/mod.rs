//! The ABI of MPICH, which Intel MPI, MVAPICH and Cray MPICH share: what a program meets that was compiled by
//! that library's `mpicc`.
//!
//! `libmpi.so.12` is a library of jumps, made by `heddle_spec::mpich::stubs`; each leads to an entry here.
//! So all that a process loads, of this ABI and of the standard's, is in one library. Most entries are made
//! from the table of the standard by `build/mpich.rs`: they convert the arguments, call the entry point of
//! the standard's ABI, and convert what comes back.
//!
//! | file | idea |
//! |---|---|
//! | `handle.rs` | handles: numbers of 32 bits |
//! | `entries.rs` | the entries that are made from the table |
//! | `constants.rs` | the values of the ABI's constants |
//! | `constant.rs` | ranks, tags, error codes, addresses with a meaning |
//! | `status.rs` | statuses of five integers |
//! | `array.rs` | arrays of these, converted on the stack |
//! | `number_of.rs` | how long arrays are whose length a communicator knows |
//! | `callback.rs` | functions of the program: what they are called with is converted, too |
//! | `after.rs` | conversions behind a call whose values alone say what they are |
//! | `hand_written.rs` | the other entries that are not made from the table |

mod after;
mod array;
mod callback;
mod constant;
mod constants;
mod entries;
mod hand_written;
mod handle;
mod number_of;
mod status;

#[cfg(target_endian = "big")]
compile_error!("a handle that a program's function reads through a pointer is the lower half of a word");
