//! The lock that [`biased`](crate::biased) and [`core_biased`](crate::core_biased) are: a lock with a bias to
//! an [`BiasOwner`], which is a thread or a core.
//!
//! | file | idea |
//! |---|---|
//! | `streak.rs` | which user gets the bias, and when |
//! | `age.rs` | whether a bias is old enough to be revoked without regret |
//! | `exit.rs` | a revoker waits for the thread that is inside by the bias |
//! | `owner.rs` | what a kind of owner does |
//! | `observer.rs` | who sees each change of a bias |
//! | `lock.rs` | [`BiasedLock`] |

mod age;
mod exit;
mod lock;
mod observer;
mod owner;
mod streak;

pub(crate) use age::BiasAge;
pub use exit::Exit;
pub use lock::BiasedLock;
pub use observer::BiasObserver;
pub use owner::{BiasOffer, BiasOwner};
pub(crate) use streak::{FIRST_STREAK, Streak};
