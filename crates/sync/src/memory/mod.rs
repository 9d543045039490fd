//! Where things lie in memory: on cache lines of their own, in blocks that a thread keeps.

pub mod node;
pub mod padded;
