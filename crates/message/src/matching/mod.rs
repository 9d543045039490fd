//! Matching of messages and receives, in a time that does not depend on how many are waiting.
//!
//! Two sets wait for each other: posted receives and unexpected messages. Both are kept in lists by
//! key, and a key is (context, source, tag), where source or tag of a *receive* may be a wildcard. The
//! lists are found by hashing.
//!
//! ```text
//!  message  (c, s, t)  searches posted:      (c, s, t)  (c, s, *)  (c, *, t)  (c, *, *)   oldest post wins
//!  receive  (c, s, *)  searches unexpected:             (c, s, *)                          oldest arrival wins
//! ```
//!
//! - A posted receive stands in one list, that of its own key. The lists with wildcards are searched only
//!   while some receive with such wildcards is posted.
//! - An unexpected message stands in the list of its exact key and, once any wildcard receive or probe was
//!   seen here, in the three wildcard lists as well: a program without wildcards does not pay for them.
//!
//! Order: lists are first in, first out, and of several lists the smallest sequence number wins, which is
//! MPI's non-overtaking rule (MPI 5.0, section 3.5).

mod buckets;
mod key;
mod lists;
mod moved;
mod posted;
mod sets;

pub use key::{Key, PLANE};
pub use sets::Matching;
