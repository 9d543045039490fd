//! Decides which user of a lock gets its bias, and when: the part that [`biased`](crate::biased) and
//! [`core_biased`](crate::core_biased) share.
//!
//! A user is a number: the identity of a thread, or the number of a core.

mod age;
mod streak;

pub(crate) use age::BiasAge;
pub(crate) use streak::{FIRST_STREAK, Streak};
