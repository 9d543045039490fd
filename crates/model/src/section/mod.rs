//! The critical sections that a thread enters to use shared state.

mod call;
mod combined;
mod guarded;
mod lock;
mod offload;
mod one_lock;
mod sections;

pub use call::CallSection;
pub use guarded::{Attempt, Guarded, Refusal};
pub(crate) use lock::{SectionLock, SectionToken};
pub use offload::{OffloadServer, OffloadTurn};
pub use sections::{Objects, Sections};
