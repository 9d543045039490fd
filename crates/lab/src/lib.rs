//! A machine of many cores in virtual time, for unmodified MPI programs (docs/lab.md).
//!
//! | module | what it has |
//! |---|---|
//! | [`machine`] | sockets, clusters, cores, and what each part costs |
//! | [`shared`] | what processes share: the token, cores and their queues, the directory of cache lines |
//! | [`run`] | the supervisor: starts programs on the machine, and stops its time while others work |
//! | [`thread`] | a thread's clock, its view of the caches, when it runs |

pub mod machine;
pub mod run;
pub mod shared;
pub mod thread;

#[cfg(test)]
mod testing;
