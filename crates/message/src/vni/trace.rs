//! What tools learn of matching.

use crate::matching::{Key, PLANE};
use heddle_model::Tracepoint;

/// Says that a message with this exact key was matched; `bytes` returns the number of its bytes, and `waited`
/// is true if it came before its receive.
#[inline(always)]
pub(crate) fn matched(key: &Key, bytes: impl FnOnce() -> u64, waited: bool) {
    Tracepoint::Matched.pass(
        #[inline(always)]
        || {
            let [context, bytes, plane, source, tag] = numbers(key, bytes());
            [context, bytes, plane, source, tag, u64::from(waited)]
        },
    );
}

/// Returns true if tools want to know of matched messages. The shortest paths then leave a message to the
/// ordinary ones, which say what they match: so they keep nothing for a tool.
#[inline(always)]
pub(crate) fn is_matching_observed() -> bool {
    Tracepoint::Matched.is_observed()
}

/// Says that a message came before its receive; `bytes` returns the number of its bytes.
#[inline(always)]
pub(crate) fn unexpected(key: &Key, bytes: impl FnOnce() -> u64) {
    Tracepoint::Unexpected.pass(
        #[inline(always)]
        || numbers(key, bytes()),
    );
}

#[inline(always)]
fn numbers(key: &Key, bytes: u64) -> [u64; 5] {
    [key.context & !PLANE, bytes, key.context & PLANE, key.source() as u64, key.tag() as u64]
}
