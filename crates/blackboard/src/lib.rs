//! The blackboard of a communicator: memory that its processes share, on which each writes for all others.
//!
//! Collective operations on it go in **rounds** ([`heddle_sync::queues::publications`]): a process
//! [publishes](Blackboard::publish) its data in a cell of its own, [looks](Blackboard::look) at those of the
//! others, and [finishes](Blackboard::finish) the round. No message is sent, and no process does anything in
//! another one's place, so with more processes than cores a round takes one switch of each process.
//!
//! Rounds go in **lanes**, each with cells, pages and numbers of its own. In lane 0 all operations follow
//! each other as the program begins them. The other lanes belong to one persistent operation each, since
//! those may be started in any order.
//!
//! ```text
//!   line 0         who waits for room │ how long the slots of pages are
//!   each process   a line: rounds finished, and where its pages are │ a line: the same rounds of the other lanes
//!                  the cells of lane 0 │ the cells of the other lanes
//! ```
//!
//! A cell has room for a few numbers. Larger data lie in pages, memory that a process allocates when it needs
//! it first. Longer ones yet are published in pieces, a round each, or they are
//! [exposed](Blackboard::expose): the process publishes their address, and the readers copy them straight
//! from its memory.
//!
//! The crate stands on `heddle-message`, in whose domain the processes of a blackboard wait. `heddle-comm`
//! keeps a [`BoardPlace`] for one in each communicator, and `heddle-collective` writes on it.
//!
//! | module | idea |
//! |---|---|
//! | `limits` | the limits of what an operation publishes in a lane |
//! | `published` | rounds, and what a process publishes in one |
//! | `cell` | where the words and cells are |
//! | `pages` | memory for larger data |
//! | `exposed` | copies from and to the memory of another process |
//! | `block_table` | blocks of any lengths in one round |
//! | `board` | a process's view of a blackboard |
//! | `retired` | blackboards of freed communicators, on which other processes may still read |

mod block_table;
mod board;
mod cell;
mod exposed;
mod limits;
mod pages;
mod published;
mod retired;

pub use block_table::BlockTable;
pub use board::Blackboard;
pub use limits::Limits;
pub use pages::AHEAD;
pub use published::{Data, Published, Round, Span};
pub use retired::BoardPlace;
