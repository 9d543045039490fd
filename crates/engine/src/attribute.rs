//! Cached attributes (MPI 5.0, chapter 7.7).

use std::sync::Mutex;

/// The attributes of one object: key and value, in the order in which they were set.
#[derive(Debug, Default)]
pub struct Attributes {
    /// Keyval and value.
    pub values: Mutex<Vec<(i32, usize)>>,
}
