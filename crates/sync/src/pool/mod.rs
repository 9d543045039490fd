//! Objects that are made once and lent again and again, mostly from the thread's stock.
//!
//! **What it gives.** Taking an object and giving it back touch only the calling thread's cache: no lock and
//! no atomic instruction, and the taken object is the one given last. Every 128th time a whole batch is
//! exchanged with one of the pool's shards, under that shard's lock. Objects stay in place and are never
//! dropped before the pool, so they may hold data that outlives a loan (a generation number, a buffer). A
//! thread may only take and another only give: batches wander between them.
//!
//! **Source.** Thread-local request pools: Balaji, Buntinas, Goodell, Gropp, Thakur: *Fine-grained
//! multithreading support for hybrid threaded MPI programming*, IJHPCA 24(1), 2010,
//! doi:10.1177/1094342009360206; refilled in batches, typically of 128: Goodell, Balaji, Buntinas,
//! Dózsa, Gropp, Kumar, de Supinski, Thakur: *Minimizing MPI resource contention in multithreaded
//! multicore environments*, IEEE Cluster 2010. The two chains of a cache are the magazines of Bonwick
//! and Adams: *Magazines and vmem*, USENIX ATC 2001: a thread at the edge between two batches does not
//! exchange one every time. We depart from them in one point: a batch is a chain through the objects
//! themselves and needs no extra memory.
//!
//! ```text
//!   Cache (one thread):  loaded  o-o-o-o      take / give at its head
//!                        spare   o-o-…-o      empty or full: 0 or a batch
//!                           |  ^
//!             full: give    v  |  fetch: when both are empty
//!   Shard (its lock):    [ chain | chain | … ]      one a group of hardware threads; empty ones are passed over
//!                           ^
//!   Pool:                blocks of a batch each, made when no shard has a chain
//! ```
//!
//! **Invariants.**
//!
//! 1. Every object is in exactly one place: in one chain (of a cache or a shard), or in one
//!    [`PooledObject`]. A chain's slots are touched by its owner: the cache's thread, or the holder of the
//!    shard's lock.
//! 2. A chain in a shard has 1 to `batch` objects; a cache or an [`PooledObject`] that is dropped returns its
//!    objects. So `made` = out + cached + [`idle`](Pool::idle), and a cache holds at most twice the batch.
//! 3. A shard's `filled` is a hint, written under its lock. A thread that misses a chain because of it
//!    makes one block more than needed, nothing worse; a chain given before (in the order of
//!    synchronisation) is seen.
//!
//! **Orderings.** Chains change owner under a shard's lock, which orders all accesses to their objects.
//!
//! **Liveness.** A thread that is stopped within an exchange holds one shard's lock: others of that shard
//! wait, one time in 128. A thread that is stopped elsewhere keeps at most two batches from the others,
//! which then make new ones.
//!
//! There are two kinds of cache: [`Pool::cache`] gives an explicit one, on every platform; [`LocalPool`]
//! keeps one for each thread and returns the objects of a thread that ends.

mod cache;
mod chain;
#[cfg(not(loom))]
mod local;
mod object;
mod shards;

pub use cache::Cache;
#[cfg(not(loom))]
pub use local::{LocalPool, Pooled};
pub use object::PooledObject;
pub use shards::{BATCH, Pool};
