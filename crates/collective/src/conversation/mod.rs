//! The description of a collective operation, step by step: an algorithm tells a [`Conversation`] what this
//! rank does.
//!
//! A conversation carries each step out at once, or records it in a [`Schedule`](super::steps::Schedule).
//! So each algorithm is written once, for the blocking, the nonblocking and the persistent form of its
//! operation. What it does may depend on ranks and counts, but not on data: a recorded step has not happened
//! yet.
//!
//! | file | idea |
//! |---|---|
//! | `description.rs` | a conversation, and the steps that it takes |
//! | `subgroup.rs` | ranks that act among themselves: those of a machine, or the leaders |
//! | `by_leaders.rs` | the parts of an operation that they have |
//! | `rounds.rs` | an operation that has taken rounds on the blackboard |
//! | `aliased.rs` | buffers that overlap, which is an error of one rank |
//! | `temporaries.rs` | the library's memory for an operation |

mod aliased;
mod by_leaders;
mod description;
mod rounds;
mod subgroup;
mod temporaries;

pub use description::Conversation;
pub(super) use rounds::OnBlackboard;
pub(super) use subgroup::Leaders;
