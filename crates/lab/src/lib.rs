//! A machine of many cores in virtual time, for unmodified MPI programs (docs/lab.md).
//!
//! | module | what it has |
//! |---|---|
//! | [`machine`] | sockets, clusters, cores, and what each part costs |

pub mod machine;
