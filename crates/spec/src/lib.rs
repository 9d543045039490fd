//! The MPI standard as data, and nothing of an implementation.
//!
//! Two tables describe the standard's ABI once: `constants.table` every constant, `functions.table` every function.
//! What must agree with it is made from them: the header `mpi.h`, the entry points of the library, the Rust
//! [`constants`], and the README's list of what is missing.

pub mod constant;
pub mod rust;

/// Every constant of the standard under its own name; integers are `i32`, handles and addresses `usize`.
pub mod constants {
    include!(concat!(env!("OUT_DIR"), "/constants.rs"));
}

/// `MPI_Status` as it lies in memory.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status {
    /// `MPI_SOURCE`: the rank of the sender.
    pub source: i32,
    /// `MPI_TAG`: the tag of the message.
    pub tag: i32,
    /// `MPI_ERROR`: an error code, set by the functions that complete several requests.
    pub error: i32,
    /// `MPI_internal`: for the library alone.
    pub internal: [i32; 5],
}

/// The text of `constants.table`.
pub const CONSTANTS_TABLE: &str = include_str!("../constants.table");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_have_their_values() {
        assert_eq!(constants::MPI_ANY_SOURCE, -1);
        assert_eq!(constants::MPI_COMM_WORLD, 0x101);
        assert_eq!(constants::MPI_C_COMPLEX, constants::MPI_C_FLOAT_COMPLEX);
        assert_eq!(constants::MPI_DISPLACEMENT_CURRENT, -1);
        assert!(constants::ERROR_CLASSES.contains(&("MPI_ERR_TRUNCATE", 15)));
    }

    #[test]
    fn a_mistake_in_the_table_is_named() {
        for (text, complaint) in [
            ("MPI_A 1", "line 1: no section is open"),
            ("section A int x\nMPI_A 1\nMPI_A 2", "line 3: defined twice"),
            ("section A int x\nMPI_A one", "line 2: invalid digit"),
            ("section A float x", "line 1: unknown kind"),
            ("section A int x\nMPI_B = MPI_A", "line 2: the other name"),
            ("section A address x\nMPI_B 0", "line 2: an address, and nothing else"),
        ] {
            let error = constant::parse(text).expect_err(text);
            assert!(error.starts_with(complaint), "{error}");
        }
    }
}
