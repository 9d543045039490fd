//! Handles: addresses in Open MPI's ABI.
//!
//! A predefined handle is the address of an object of `libmpi.so.40` with the name that Open MPI's header
//! gives it. An executable may have such an object in its own memory (a copy relocation), so the addresses
//! are known once the library is loaded: it then hands over a table of them, and of the words of the
//! standard's ABI that they stand for. Any other handle is such a word itself: it has a bit that no address
//! has.

use super::constants::INTEGERS;
use super::foreign::{Foreign, Number};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_spec::handle::*;
use std::ffi::c_int;

/// The bit of words that are handles, and not predefined ones.
const MADE: usize = 1 << 63;
/// The number of words that predefined handles may have.
const WORDS: usize = 1024;

/// The address for each word.
static ADDRESSES: [AtomicUsize; WORDS] = [const { AtomicUsize::new(0) }; WORDS];
/// Addresses with their words, in places that follow from the addresses; in the next that was free, if
/// another one had the place.
static PLACES: [(AtomicUsize, AtomicUsize); WORDS] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; WORDS];

#[inline(always)]
fn place_of(address: usize) -> usize {
    (address >> 4 ^ address >> 12) % WORDS
}

/// The word of a predefined handle, or 0, which no handle has.
#[inline(always)]
fn word_of(address: usize) -> usize {
    let mut place = place_of(address);
    loop {
        let (known, word) = &PLACES[place];
        match known.load(Ordering::Relaxed) {
            found if found == address => return word.load(Ordering::Relaxed),
            0 => return 0,
            _ => place = (place + 1) % WORDS,
        }
    }
}

/// Takes over the addresses of the predefined handles, and their words.
///
/// # Safety
/// The table has so many rows. No other thread is in the library: the loader calls this.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn heddle_openmpi_loaded(table: *const [usize; 2], length: usize) {
    // SAFETY: the caller's promise.
    for &[address, word] in unsafe { std::slice::from_raw_parts(table, length) } {
        ADDRESSES[word].store(address, Ordering::Relaxed);
        let free = (0..WORDS).map(|after| (place_of(address) + after) % WORDS);
        let mut free = free.filter(|&place| PLACES[place].0.load(Ordering::Relaxed) == 0);
        // There are fewer handles than places, however often the library is loaded anew.
        if word_of(address) == 0
            && let Some(place) = free.next()
        {
            PLACES[place].1.store(word, Ordering::Relaxed);
            PLACES[place].0.store(address, Ordering::Relaxed);
        }
    }
}

/// The program's handle for a word of any kind.
#[inline(always)]
fn number(word: usize) -> usize {
    match ADDRESSES.get(word) {
        Some(address) => address.load(Ordering::Relaxed),
        None => word,
    }
}

/// The word that a number stands for.
#[inline(always)]
fn word(number: usize) -> usize {
    if number & MADE != 0 { number } else { word_of(number) }
}

/// The integer that Fortran has for a handle: Open MPI's for a predefined one, and that of the standard's
/// ABI, which `other` knows, for any other.
pub(super) fn integer<H: Foreign>(handle: H, other: unsafe extern "C" fn(H) -> c_int) -> c_int {
    match INTEGERS.get(handle.word()) {
        Some(&integer) if integer >= 0 => integer,
        // SAFETY: the function takes any handle.
        _ => unsafe { other(handle) },
    }
}

/// The program's handle for an integer. `words` are those of the predefined handles of the kind, or 0.
/// The standard's integers are greater than all places of these.
pub(super) fn of_integer<H: Foreign>(
    integer: c_int,
    words: &[u16],
    other: unsafe extern "C" fn(c_int) -> H,
) -> Number<H> {
    let word = usize::try_from(integer).ok().and_then(|place| words.get(place));
    match word {
        Some(&word) if word != 0 => H::of_word(usize::from(word)).number(),
        // SAFETY: the function takes any integer.
        _ => unsafe { other(integer) }.number(),
    }
}

/// A handle as functions of the program get it: in a register, or behind a pointer.
pub(super) fn for_program(word: usize) -> usize {
    number(word)
}

macro_rules! foreign {
    ($($handle:ident)*) => {$(
        impl Foreign for $handle {
            type Number = usize;

            #[inline(always)]
            fn of_number(number: usize) -> Self {
                $handle(word(number))
            }

            #[inline(always)]
            fn usual(number: usize) -> Self {
                Self::of_number(number)
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
            fn number(self) -> usize {
                number(self.0)
            }
        }
    )*};
}

foreign! {
    CommHandle GroupHandle DatatypeHandle OpHandle ErrhandlerHandle InfoHandle MessageHandle RequestHandle
    SessionHandle WinHandle FileHandle
}

#[cfg(test)]
mod tests {
    use super::super::constants::DATATYPE_OF_INTEGERS;
    use super::*;
    use heddle_spec::constants as mpi;

    #[test]
    fn addresses_are_found_wherever_they_are() {
        // The same place for three of them, the last but one at the end of the table.
        let (world, own, int) = (0x1000_3ff0, 0x2000_3ff0, 0x7fff_0000_3ff0);
        assert_eq!([world, own, int].map(place_of), [place_of(world); 3]);
        let table = [[world, mpi::MPI_COMM_WORLD], [own, mpi::MPI_COMM_SELF], [int, mpi::MPI_INT]];
        for _ in 0..2 {
            // SAFETY: the table is ours; no other test uses the module's.
            unsafe { heddle_openmpi_loaded(table.as_ptr(), table.len()) };
        }
        assert_eq!(CommHandle::of_number(world), CommHandle(mpi::MPI_COMM_WORLD));
        assert_eq!(DatatypeHandle::of_number(int), DatatypeHandle(mpi::MPI_INT));
        assert_eq!(DatatypeHandle(mpi::MPI_INT).number(), int);
        assert_eq!(CommHandle(mpi::MPI_COMM_SELF).number(), own);
        for wrong in [0, 8, 0x3000_3ff0, mpi::MPI_COMM_WORLD] {
            assert_eq!(CommHandle::of_number(wrong).word(), 0);
        }
    }

    #[test]
    fn predefined_handles_have_the_integers_of_the_header() {
        extern "C" fn other_integer(_: DatatypeHandle) -> c_int {
            -7
        }
        extern "C" fn other_handle(integer: c_int) -> DatatypeHandle {
            DatatypeHandle(MADE | integer as usize)
        }
        let words = &DATATYPE_OF_INTEGERS;
        for (of_header, word) in [(7, mpi::MPI_INTEGER), (17, mpi::MPI_DOUBLE_PRECISION)] {
            assert_eq!(integer(DatatypeHandle(word), other_integer), of_header);
            assert_eq!(usize::from(words[of_header as usize]), word);
        }
        // Two of types that only Open MPI has, and one that none has.
        for other in [3, 27, 9999] {
            assert_eq!(of_integer(other, words, other_handle), MADE | other as usize);
        }
        assert_eq!(integer(DatatypeHandle(mpi::MPI_LOGICAL16), other_integer), -7);
    }

    #[test]
    fn made_handles_are_words() {
        let info = heddle_comm::info::new_handle(Vec::new());
        assert_eq!(InfoHandle(info).number(), info);
        assert_eq!(InfoHandle::of_number(info), InfoHandle(info));
    }
}
