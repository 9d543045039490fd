//! Datatypes behind handles.
//!
//! | file | idea |
//! |---|---|
//! | `object.rs` | the layouts of `heddle-datatype` behind handles |
//! | `annotations.rs` | attributes and names |
//! | `management.rs` | making, copying and freeing them |
//! | `unnamed.rs` | those of Fortran's kinds of numbers, and marks of bounds |

mod annotations;
mod management;
mod object;
mod unnamed;

pub use annotations::{TypeAttributes, of_type, set_type_name, type_name};
pub use management::{dup, free, insert, not_made};
pub use object::{DERIVED, KeptType, TypeInUse, TypeObject, for_communication, from_handle, to_build_on};
pub use unnamed::{bound_mark, f90_complex, f90_integer, f90_real, handle_of_unnamed};
