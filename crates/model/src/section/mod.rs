//! Sections: what a thread enters to reach state that it shares.

mod call;
mod combined;
mod guarded;
mod lock;
mod sections;
mod service;

pub use call::CallSection;
pub use guarded::{Attempt, Guarded};
pub(crate) use lock::{SectionLock, SectionToken};
pub use sections::{Objects, Sections};
pub use service::{Service, Turn};
