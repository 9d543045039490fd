//! Broadcast by leaders: the root, which is the leader of its machine, and the other leaders have one among
//! themselves; then each leader gives the data to the ranks of its machine.

use crate::conversation::{Conversation, Leaders};
use crate::ranks::Circle;
use heddle_comm::error::Result;

/// `bcast` is the broadcast among the ranks that act.
///
/// # Errors
/// Those of `bcast`.
pub(super) fn bcast<'a>(
    talk: &mut Conversation<'a>,
    leaders: Leaders<'a>,
    bcast: impl Fn(&mut Conversation<'a>, Circle) -> Result<()>,
) -> Result<()> {
    if leaders.is_one() {
        talk.among_leaders(leaders, |talk| {
            bcast(talk, Circle { root: leaders.of_root(), size: talk.size() })
        })?;
    }
    talk.on_machine(leaders, |talk| bcast(talk, Circle { root: leaders.here(), size: talk.size() }))
}
