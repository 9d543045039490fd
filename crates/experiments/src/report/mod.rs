//! Results for a reader: charts, numbers, targets, and the verdict on a paper's statement.

pub(crate) mod chart;
pub(crate) mod png;
pub(crate) mod target;
pub(crate) mod verdict;
