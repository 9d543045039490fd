//! MPI datatypes as memory layouts, and the predefined reductions on them.
//!
//! A [`Datatype`] says where the bytes of a message lie in memory. [`Datatype::pack`] and
//! [`Datatype::unpack`] move them from any position to any other, [`Datatype::fill_runs`] lists them
//! for a copy by the kernel, and [`reduce()`] computes with them. There are no communicators,
//! handles or entry points here.
//!
//! The crate uses `heddle-spec`, for the predefined types, and the vectors of `heddle-platform`, of which a
//! lack of memory is an error. `heddle-message` and `heddle-window` copy by its layouts, `heddle-comm` puts
//! handles before them; the crates above use both.

mod array;
mod basic;
mod bound_marks;
mod bounds;
mod construct;
mod contents;
mod cursor;
mod datatype;
mod elements;
mod error;
mod kinds;
mod plan;
mod predefined;
mod reduce;
mod walk;

pub use array::{
    DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG, DISTRIBUTE_NONE, Distributed, ORDER_C,
    ORDER_FORTRAN,
};
pub use basic::{Basic, BasicKind, TypeClass};
pub use bound_marks::Bound;
pub use construct::Constructed;
pub use contents::{Combiner, Form};
pub use cursor::{Cursor, Run, Runs};
pub use datatype::{Contents, Datatype, TypeRef};
pub use error::TypeError;
pub use predefined::{all_predefined, integer_bytes, plain_bytes, predefined, types};
pub use reduce::{Kernel, Op, OperatorTable, ReduceError, kernel, reduce, sum_of_integers, supports};
