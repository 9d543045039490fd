//! Handles: numbers of 32 bits in MPICH's ABI.
//!
//! ```text
//!  31 30 29    26 25                                  0
//!  ┌────┬────────┬────────────────────────────────────┐
//!  │ 11 │ kind   │ index                              │
//!  └────┴────────┴────────────────────────────────────┘
//! ```
//!
//! A predefined handle has the number that MPICH's header gives it; none of them begins with these two bits.
//! Any other consists of the object's kind and the index of its slot. The generation is looked up, so a
//! number whose object is gone may name the next one in its slot, as in Fortran.

use super::constants::{self, BASIC, NUMBERS};
use super::foreign::Foreign;
use heddle_comm::datatype::{self, DERIVED};
use heddle_comm::group::GROUPS;
use heddle_comm::info::INFOS;
use heddle_comm::op::OPS;
use heddle_comm::session::SESSIONS;
use heddle_comm::{COMMS, errhandler};
use heddle_datatype::Bound;
use heddle_p2p::request;
use heddle_rma::WINS;
use heddle_spec::constants::{MPI_COMM_WORLD, MPI_FILE_NULL};
use heddle_spec::handle::*;
use std::ffi::c_int;

const MADE: u32 = 0b11 << 30;
const INDEX_BITS: u32 = 26;
const INDEX: u32 = (1 << INDEX_BITS) - 1;
/// The integers of `MPI_Request_fromint` have more bits; this index there stands for all sends that are done.
const DONE: u32 = (1 << 30) - 1;

/// A handle as functions of the program get it: in a register, or behind a pointer.
pub(super) fn for_program(word: usize) -> usize {
    number(word) as u32 as usize
}

/// The number of a handle of any kind.
#[inline(always)]
fn number(word: usize) -> c_int {
    match NUMBERS.get(word) {
        Some(&number) => number,
        None => (MADE | ((word >> 56) as u32 % 16) << INDEX_BITS | (word as u32 & INDEX)) as c_int,
    }
}

/// The index of a number's object, if it is of this kind and not predefined.
#[inline(always)]
fn index(number: c_int, kind: u32) -> Option<u32> {
    let number = number as u32;
    (number >> INDEX_BITS == MADE >> INDEX_BITS | kind).then_some(number & INDEX)
}

macro_rules! foreign {
    ($($handle:ident kind $kind:literal: $usual:expr, $predefined:expr, $of_index:expr;)*) => {$(
        impl Foreign for $handle {
            type Number = c_int;

            #[inline(always)]
            fn of_number(number: c_int) -> Self {
                #[inline(never)]
                fn other(number: c_int) -> usize {
                    match index(number, $kind) {
                        Some(index) => $of_index(index).unwrap_or(0),
                        None => $predefined(number),
                    }
                }
                match Self::usual(number).0 {
                    0 => $handle(other(number)),
                    word => $handle(word),
                }
            }

            #[inline(always)]
            fn usual(number: c_int) -> Self {
                $handle($usual(number))
            }

            #[inline(always)]
            fn of_word(word: usize) -> Self {
                $handle(word)
            }

            #[inline(always)]
            fn word(self) -> usize {
                self.0
            }

            #[inline(always)]
            fn number(self) -> c_int {
                number(self.0)
            }
        }
    )*};
}

/// A file is a pointer there as well, but the null handle is another one.
impl Foreign for FileHandle {
    type Number = usize;

    fn of_number(number: usize) -> FileHandle {
        FileHandle(if number == 0 { MPI_FILE_NULL } else { number })
    }

    fn usual(_: usize) -> FileHandle {
        FileHandle(0)
    }

    fn of_word(word: usize) -> FileHandle {
        FileHandle(word)
    }

    fn word(self) -> usize {
        self.0
    }

    fn number(self) -> usize {
        if self.0 == MPI_FILE_NULL { 0 } else { self.0 }
    }
}

// The kinds are those of `heddle_objects::table::ObjectKind`. The first function knows the usual numbers.
foreign! {
    CommHandle kind 1: world, constants::word_of_COMMS, |index| COMMS.handle_of_index(index);
    GroupHandle kind 2: nothing, constants::word_of_GROUPS, |index| GROUPS.handle_of_index(index);
    DatatypeHandle kind 3: basic, pair_or_mark, |index| DERIVED.handle_of_index(index);
    OpHandle kind 4: constants::word_of_OPS, constants::word_of_OPS, |index| OPS.handle_of_index(index);
    ErrhandlerHandle kind 5: nothing, constants::word_of_ERRHANDLERS, errhandler::handle_of_index;
    InfoHandle kind 6: nothing, constants::word_of_INFOS, |index| INFOS.handle_of_index(index);
    MessageHandle kind 7: nothing, constants::word_of_MESSAGES, heddle_p2p::message_of_index;
    RequestHandle kind 8: nothing, constants::word_of_REQUESTS, |index| {
        request::handle_of_index(if index == INDEX { DONE } else { index })
    };
    SessionHandle kind 9: nothing, constants::word_of_SESSIONS, |index| SESSIONS.handle_of_index(index);
    WinHandle kind 10: nothing, constants::word_of_WINS, |index| WINS.handle_of_index(index);
}

/// No number is usual.
#[inline(always)]
fn nothing(_: c_int) -> usize {
    0
}

/// The world's communicator.
#[inline(always)]
fn world(number: c_int) -> usize {
    if number == constants::WORLD { MPI_COMM_WORLD } else { 0 }
}

/// The word of a basic datatype.
#[inline(always)]
fn basic(number: c_int) -> usize {
    let (known, word) = BASIC[number as usize % BASIC.len()];
    if known == number { usize::from(word) } else { 0 }
}

/// `MPI_LB` and `MPI_UB`, which MPICH's header still has and the standard's ABI has not.
const MARKS: [(c_int, Bound); 2] = [(0x4c00_0010, Bound::Lower), (0x4c00_0011, Bound::Upper)];

/// The word of a predefined datatype that is rarely used.
#[cold]
fn pair_or_mark(number: c_int) -> usize {
    match MARKS.iter().find(|(known, _)| *known == number) {
        // Without memory for it the program has an unknown handle.
        Some((_, bound)) => datatype::bound_mark(*bound).unwrap_or(0),
        None => constants::word_of_PAIRS(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_spec::constants as mpi;

    #[test]
    fn predefined_handles_have_mpich_s_numbers() {
        for (number, word) in [(0x4400_0000, MPI_COMM_WORLD), (0x0400_0000, mpi::MPI_COMM_NULL)] {
            assert_eq!(CommHandle::of_number(number), CommHandle(word));
            assert_eq!(CommHandle(word).number(), number);
        }
        let pair = 0x8c00_0000_u32 as c_int;
        for (number, word) in [(0x4c00_0405, mpi::MPI_INT), (pair, mpi::MPI_FLOAT_INT)] {
            assert_eq!(DatatypeHandle::of_number(number), DatatypeHandle(word));
            assert_eq!(DatatypeHandle(word).number(), number);
        }
        assert_eq!(DatatypeHandle::of_number(0x4c00_0805), DatatypeHandle(0), "the size is another");
        assert_eq!(DatatypeHandle::of_number(0x4c00_0246), DatatypeHandle(0), "MPIX_C_FLOAT16");
        assert_eq!(CommHandle::of_number(0x4c00_0405), CommHandle(0), "a datatype");
    }

    #[test]
    fn made_handles_keep_their_kind_and_index() {
        let info = heddle_comm::info::new_handle(Vec::new());
        let number = InfoHandle(info).number();
        assert_eq!(number as u32 >> INDEX_BITS, 0b11_0110);
        assert_eq!(InfoHandle::of_number(number), InfoHandle(info));
        assert_eq!(OpHandle::of_number(number), OpHandle(0), "an info object");
        let done = RequestHandle(request::SEND_DONE);
        assert_eq!(RequestHandle::of_number(done.number()), done);
    }
}
