//! Who talks to whom: arithmetic on ranks.
//!
//! | file | idea |
//! |---|---|
//! | `circle.rs` | ranks as if the root were rank 0 |
//! | `binomial.rs` | a tree of ⌈log₂ n⌉ rounds |
//! | `fold.rs` | as many ranks as a power of two |
//! | `halving.rs` | what two ranks exchange in each round |
//! | `others.rs` | the blocks that a rank publishes for the others |

mod binomial;
mod circle;
mod fold;
pub(super) mod halving;
mod others;

pub(super) use binomial::Binomial;
pub(super) use circle::Circle;
pub(super) use fold::{Fold, Role};
pub(super) use others::published;
