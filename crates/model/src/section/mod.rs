//! The critical sections that a thread enters to use shared state.

mod call;
mod combined;
mod guarded;
mod lock;
mod sections;
mod service;

pub use call::CallSection;
pub use guarded::{Attempt, Guarded, Refusal};
pub(crate) use lock::{SectionLock, SectionToken};
pub use sections::{Objects, Sections};
pub use service::{Service, Turn};
