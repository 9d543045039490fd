//! The memory that processes on a simulated machine share: one mapping, which the holder of the token reads
//! and writes.
//!
//! Times are virtual picoseconds. One thread of all processes runs at a time; it holds the [`Token`]. So
//! nothing here needs a lock, and what happens is the same on any host.

mod ages;
mod cores;
mod directory;
mod hand_over;
mod hot_lines;
mod lab;
mod layout;
mod limits;
mod line;
mod line_queue;
mod memory;
mod new_processes;
mod objects;
mod poll_ends;
mod polls;
mod prices;
mod schedule;
mod sleepers;
mod stats;
mod token;

pub use hot_lines::HotLine;
pub use lab::{Core, SharedLab, Slot, State};
pub use layout::CoreLayout;
pub use limits::{CORES, NEVER, NONE, SLOTS};
pub use line::{Access, Line, LineIndex};
pub use line_queue::Foreseen;
pub use memory::LabMemory;
pub use new_processes::{NewProcess, NewProcesses};
pub use polls::Polls;
pub use prices::{Fetch, LineOrigin};
pub use schedule::NextHolder;
pub use stats::{Counts, LineMover};
pub use token::{SUPERVISOR, Token};
