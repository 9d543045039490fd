//! The critical sections that a thread enters to use shared state.

mod call;
mod combined;
mod guarded;
mod lock;
mod offload;
mod one_lock;
mod sections;
mod standing_back;

pub use call::CallSection;
pub use guarded::{Attempt, Guarded, Refusal};
pub(crate) use lock::{SectionLock, SectionToken};
pub use offload::{OffloadServer, OffloadTurn};
pub use sections::{Objects, Sections};
pub(crate) use standing_back::Issuers;
pub use standing_back::set_cores;
