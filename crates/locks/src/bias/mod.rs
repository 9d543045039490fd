//! The part that [`biased`](crate::biased) and [`core_biased`](crate::core_biased) share: it decides which
//! user of a lock gets its bias, and when, and lets a revoker wait for the thread that is inside by it.
//!
//! A user is a number: the identity of a thread, or the number of a core.

mod age;
mod exit;
mod streak;

pub(crate) use age::BiasAge;
pub(crate) use exit::Exit;
pub(crate) use streak::{FIRST_STREAK, Streak};
