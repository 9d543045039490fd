//! The MPI standard as data, and nothing of an implementation.
//!
//! Two tables describe the standard's ABI once: `constants.table` lists every constant, `functions.table`
//! every function. The header `mpi.h`, the entry points of the library, the Rust [`constants`] and the tables
//! of missing functions are made from them, so that all agree. `mpich.table` and `openmpi.table` have the
//! values that other libraries' programs know the constants by.
//!
//! The crate uses no other one. `heddle-abi` makes its entry points from it; every crate that needs a
//! constant or a handle of MPI takes it from here.

pub mod constant;
pub mod foreign;
mod fortran;
pub mod function;
pub mod function_table;
pub mod gaps;
pub mod handle;
pub mod header;
pub mod missing;
pub mod mpi_f08;
pub mod mpif;
mod removed;
pub mod rust;
pub mod stubs;

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

/// The text of `functions.table`.
pub const FUNCTIONS_TABLE: &str = include_str!("../functions.table");

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
    fn both_forms_follow_from_one_line() {
        let functions = function_table::Functions::parse(FUNCTIONS_TABLE).expect("the table is well formed");
        let prototypes = |name: &str| -> Vec<String> {
            let function = functions.all().find(|f| f.name == name).expect(name);
            function.forms().map(|(form, large)| header::prototype(function, &form, large)).collect()
        };
        assert_eq!(
            prototypes("Pack_external_size"),
            [
                "int MPI_Pack_external_size(const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size)",
                "int MPI_Pack_external_size_c(const char *datarep, MPI_Count incount, MPI_Datatype datatype, \
                 MPI_Count *size)"
            ]
        );
        assert_eq!(prototypes("Wtime"), ["double MPI_Wtime(void)"]);
        assert_eq!(function_table::names().len(), 664);
    }

    #[test]
    fn a_mistake_among_functions_is_named() {
        for (text, complaint) in [
            ("Send | comm", "line 1: no chapter is open"),
            ("chapter p2p P\nSend large", "line 2: expected NAME"),
            ("chapter p2p P\nSend huge | comm", "line 2: unknown attribute huge"),
            ("chapter p2p P\nSend | comm:com", "line 2: unknown kind com"),
            ("chapter p2p P\nSend | comm[2]", "line 2: comm[2] has a length"),
            ("chapter p2p P\nSend | f:fn(F)", "line 2: unknown callback F"),
            ("chapter p2p P\nSend | ..Recv", "line 2: the function whose parameters"),
            ("chapter p2p P\nSend | comm\nSend | comm", "line 3: Send is defined twice"),
            ("chapter p2p P\nSend errors=win | comm", "line 2: errors= names no parameter"),
        ] {
            let error = function_table::Functions::parse(text).expect_err(text);
            assert!(error.starts_with(complaint), "{error}");
        }
    }

    #[test]
    fn a_mistake_among_constants_is_named() {
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
