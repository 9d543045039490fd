//! On which VNI a communicator's messages of this process to itself are ([`own`](crate::own)).

use super::mapping::{BY_SOURCE, BY_TAG, NAMED, PLANE, steps};
use super::{Comm, Plane};
use crate::matching::Key;
use crate::own::{Own, Route};
use crate::process::Process;
use crate::vni;
use heddle_spec::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG};

/// Whether they may be elsewhere than at home, in a context of processes with so many VNIs.
pub(super) fn may_move(context: u64, vnis: usize) -> bool {
    vnis > 1 && context & (BY_TAG | BY_SOURCE | NAMED) == 0
}

impl Comm {
    /// Whether such messages are, or may come to be, elsewhere than all others.
    #[inline(always)]
    pub(crate) fn moves_own(&self) -> bool {
        !self.own.is_settled()
    }

    /// Whether a receive or probe with this key may want such messages, and these are not where all others are.
    #[inline(always)]
    pub(crate) fn is_own(&self, key: &Key) -> bool {
        self.moves_own() && (key.source() == self.rank() as i32 || key.source() == MPI_ANY_SOURCE)
    }

    /// Where such a message is to be sent, or received; `None` if it is as any other.
    #[inline(always)]
    pub(crate) fn route(&self, process: &Process, context: u64, tag: i32) -> Option<Route<'_>> {
        if context & PLANE != 0 {
            return None;
        }
        let home = self.vni();
        self.own.route(home, || place(home, tag, process.vnis().len() as u32))
    }

    /// After a message was sent on that route: spreads them if threads take turns.
    #[inline(always)]
    pub(crate) fn spread_if_crowded(&self, process: &Process, taken: Route<'_>) {
        if taken.is_crowded() {
            self.spread_own(process);
        }
    }

    #[cold]
    fn spread_own(&self, process: &Process) {
        let (home, vnis) = (self.vni(), process.vnis());
        let vni_of = |key: &Key| place(home, key.tag(), vnis.len() as u32);
        vni::spread(&self.own, vnis, self.own_messages(), vni_of);
    }

    /// Before a receive with this key is posted: one with wildcards needs to find all that it may want at home.
    pub(crate) fn settle_for(&self, process: &Process, key: &Key) {
        let has_wildcards = key.source() == MPI_ANY_SOURCE || key.tag() == MPI_ANY_TAG;
        if has_wildcards && key.context & PLANE == 0 && self.is_own(key) {
            self.settle(process);
        }
    }

    /// From now on they are at home.
    #[cold]
    pub(crate) fn settle(&self, process: &Process) {
        vni::settle(&self.own, process.vnis(), self.own_messages());
    }

    fn own_messages(&self) -> Own {
        Own { context: self.context(Plane::PointToPoint), source: self.rank() as i32, home: self.vni() }
    }
}

/// The VNI of a tag, of a communicator at home there.
#[inline(always)]
fn place(home: u32, tag: i32, vnis: u32) -> u32 {
    let tag = tag as u32;
    // Of tags in a row, which are the usual ones, none needs a division.
    let at = home + if tag < vnis { tag } else { steps(tag, vnis) % vnis };
    if at < vnis { at } else { at - vnis }
}
