//! The VNI of a communicator's self messages.

use super::vni;
use crate::context::{Context, PLANE, Plane, steps};
use crate::domain::Domain;
use crate::matching::Key;
use heddle_objects::resharding::{Route, SelfMessages};
use heddle_spec::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG};

impl Context {
    /// Whether such messages are, or may come to be, elsewhere than all others.
    #[inline(always)]
    pub fn moves_self_messages(&self) -> bool {
        !self.self_messages.is_pinned()
    }

    /// Whether a receive or probe with this key may want such messages, and these are not where all others are.
    #[inline(always)]
    pub fn wants_self_messages(&self, key: &Key) -> bool {
        self.moves_self_messages() && (key.source() == self.rank() as i32 || key.source() == MPI_ANY_SOURCE)
    }

    /// Where such a message is to be sent, or received; `None` if it is as any other.
    #[inline(always)]
    pub fn route(&self, domain: &Domain, context: u64, tag: i32) -> Option<Route<'_>> {
        if context & PLANE != 0 {
            return None;
        }
        let default_vni = self.vni();
        self.self_messages.route(default_vni, || vni_of_tag(default_vni, tag, domain.vnis().len() as u32))
    }

    /// The route of a self message while all of them are on the default VNI; `None` if they are sharded.
    #[inline(always)]
    pub fn route_to_default(&self) -> Option<Route<'_>> {
        self.self_messages.route_to_default(self.vni())
    }

    /// After a message was sent on that route: spreads them if threads take turns.
    #[inline(always)]
    pub fn shard_if_contended(&self, domain: &Domain, taken: Route<'_>) {
        if taken.should_shard() {
            self.shard_self_messages(domain);
        }
    }

    #[cold]
    fn shard_self_messages(&self, domain: &Domain) {
        let (default_vni, vnis) = (self.vni(), domain.vnis());
        let vni_of = |key: &Key| vni_of_tag(default_vni, key.tag(), vnis.len() as u32);
        vni::shard(&self.self_messages, vnis, self.all_self_messages(), vni_of);
    }

    /// Before a receive with this key is posted: one with wildcards needs to find all that it may want at default_vni.
    pub fn pin_self_messages_for(&self, domain: &Domain, key: &Key) {
        let has_wildcards = key.source() == MPI_ANY_SOURCE || key.tag() == MPI_ANY_TAG;
        if has_wildcards && key.context & PLANE == 0 && self.wants_self_messages(key) {
            self.pin_self_messages(domain);
        }
    }

    /// From now on they are at default_vni.
    #[cold]
    pub fn pin_self_messages(&self, domain: &Domain) {
        vni::pin(&self.self_messages, domain.vnis(), self.all_self_messages());
    }

    fn all_self_messages(&self) -> SelfMessages {
        let (context, source) = (self.id(Plane::PointToPoint), self.rank() as i32);
        SelfMessages { context, source, default_vni: self.vni() }
    }
}

/// The VNI of a tag, of a communicator at default_vni there.
#[inline(always)]
fn vni_of_tag(default_vni: u32, tag: i32, vnis: u32) -> u32 {
    let tag = tag as u32;
    // Of tags in a row, which are the usual ones, none needs a division.
    let at = default_vni + if tag < vnis { tag } else { steps(tag, vnis) % vnis };
    if at < vnis { at } else { at - vnis }
}
