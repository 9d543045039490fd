//! Parts that the benchmarks of MPI and of locks share: the machine, its load, the commit, rounds, targets,
//! pictures, the folder of a run, and the verdict on a paper's statement.

pub(crate) mod chart;
pub(crate) mod commit;
pub(crate) mod error;
pub(crate) mod load;
pub(crate) mod machine;
pub(crate) mod png;
pub(crate) mod rounds;
pub(crate) mod run;
pub(crate) mod target;
pub(crate) mod verdict;
