//! The errors of datatype constructors.

use heddle_platform::allocate::OutOfMemory;
use thiserror::Error;

/// Why a datatype could not be constructed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TypeError {
    /// A count or a block length is negative.
    #[error("{what} is {value}, but it may not be negative")]
    Negative {
        /// The argument, as the standard names it.
        what: &'static str,
        /// Its value.
        value: i64,
    },
    /// The size, a bound or a displacement of the new datatype does not fit into 64 bits.
    #[error("the size or a bound of the new datatype exceeds 63 bits; use smaller counts or displacements")]
    Overflow,
    /// Argument arrays that belong together have different lengths.
    #[error("{what} has {found} entries where {expected} are needed")]
    Length {
        /// The argument, as the standard names it.
        what: &'static str,
        /// Entries needed.
        expected: usize,
        /// Entries given.
        found: usize,
    },
    /// An argument of an array constructor is outside its range.
    #[error("{what} is {value} in dimension {dimension}, which is outside of {low}..={high}")]
    Range {
        /// The argument, as the standard names it.
        what: &'static str,
        /// The dimension, from 0.
        dimension: usize,
        /// Its value.
        value: i64,
        /// The smallest legal value.
        low: i64,
        /// The largest legal value.
        high: i64,
    },
    /// The storage order is neither `MPI_ORDER_C` nor `MPI_ORDER_FORTRAN`, or a distribution is unknown.
    #[error("{what} has the value {value}, which is not one of the standard's constants for it")]
    Constant {
        /// The argument, as the standard names it.
        what: &'static str,
        /// Its value.
        value: i64,
    },
    /// Fortran has no numbers with that range.
    #[error("no kind of numbers has the range p = {p}, r = {r} (MPI_UNDEFINED, -32766: not given)")]
    NoKind {
        /// The decimal digits.
        p: i32,
        /// The decimal exponents; of integers, the digits.
        r: i32,
    },
    /// An array must have at least one dimension.
    #[error("ndims is 0, but an array has at least one dimension")]
    NoDimensions,
    /// The size of the process grid differs from the number of processes.
    #[error("the product of array_of_psizes is {grid}, but it must be size, {size}")]
    Grid {
        /// Processes in the grid.
        grid: i64,
        /// Processes there are.
        size: i64,
    },
    /// The rank is not one of the processes.
    #[error("rank is {rank}, but there are only {size} processes")]
    Rank {
        /// The rank.
        rank: i64,
        /// Processes there are.
        size: i64,
    },
    /// There is no memory for the new datatype, or for a list on the way to it.
    #[error(transparent)]
    NoMemory(#[from] OutOfMemory),
}
