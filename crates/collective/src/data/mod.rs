//! Where data lie, and computing with them.
//!
//! | file | idea |
//! |---|---|
//! | `elements.rs` | the program's arrays and blocks |
//! | `memory.rs` | the library's own memory |
//! | `numbers.rs` | counts and displacements, of either width |
//! | `reduction.rs` | computing with an operator |

mod elements;
mod memory;
mod numbers;
mod reduction;

pub(super) use elements::{Blocks, Elements, overlap, same_memory};
pub use elements::{Part, Parts, TypedParts};
pub(super) use memory::Memory;
pub use numbers::Numbers;
pub(super) use reduction::Combiner;
pub use reduction::Reduction;
