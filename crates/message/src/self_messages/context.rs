//! The VNI of a communicator's self messages.

use super::vni;
use crate::context::used::{self, VniSet};
use crate::context::{Context, PLANE, Plane, steps};
use crate::domain::Domain;
use crate::matching::Key;
use heddle_objects::resharding::{Route, SelfMessages};
use heddle_spec::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG};

impl Context {
    /// Returns true unless self messages are pinned to the default VNI.
    #[inline(always)]
    pub fn moves_self_messages(&self) -> bool {
        !self.self_messages.is_pinned()
    }

    /// Returns true if a receive or probe with this key may match self messages that are not
    /// pinned to the default VNI.
    #[inline(always)]
    pub fn wants_self_messages(&self, key: &Key) -> bool {
        self.moves_self_messages() && (key.source() == self.rank() as i32 || key.source() == MPI_ANY_SOURCE)
    }

    /// Returns the route of a self message. `None` means that it uses the default VNI like any other message.
    #[inline(always)]
    pub fn route(&self, domain: &Domain, context: u64, tag: i32) -> Option<Route<'_>> {
        if context & PLANE != 0 {
            return None;
        }
        let default_vni = self.vni();
        self.self_messages
            .route(default_vni, || used_vni_of_tag(default_vni, tag, domain.vnis().len() as u32))
    }

    /// Returns the route of a self message while all of them are on the default VNI;
    /// `None` if they are sharded.
    #[inline(always)]
    pub fn route_to_default(&self) -> Option<Route<'_>> {
        self.self_messages.route_to_default(self.vni())
    }

    /// Shards the self messages if several threads send them by turns. Called after a message was
    /// sent on the route `taken`.
    #[inline(always)]
    pub fn shard_if_contended(&self, domain: &Domain, taken: Route<'_>) {
        if taken.should_shard() {
            self.shard_self_messages(domain);
        }
    }

    #[cold]
    fn shard_self_messages(&self, domain: &Domain) {
        let (default_vni, vnis) = (self.vni(), domain.vnis());
        let vni_of = |key: &Key| used_vni_of_tag(default_vni, key.tag(), vnis.len() as u32);
        vni::shard(&self.self_messages, vnis, self.all_self_messages(), vni_of);
    }

    /// Pins the self messages if a receive with this key has wildcards, since it must find all messages that
    /// it may match on the default VNI. Called before the receive is posted.
    pub fn pin_self_messages_for(&self, domain: &Domain, key: &Key) {
        let has_wildcards = key.source() == MPI_ANY_SOURCE || key.tag() == MPI_ANY_TAG;
        if has_wildcards && key.context & PLANE == 0 && self.wants_self_messages(key) {
            self.pin_self_messages(domain);
        }
    }

    /// Pins the self messages to the default VNI.
    #[cold]
    pub fn pin_self_messages(&self, domain: &Domain) {
        vni::pin(&self.self_messages, domain.vnis(), self.all_self_messages());
    }

    fn all_self_messages(&self) -> SelfMessages {
        let (context, source) = (self.id(Plane::PointToPoint), self.rank() as i32);
        SelfMessages { context, source, default_vni: self.vni() }
    }
}

/// Does the same as [`vni_of_tag`], for a message that the process sends or receives there: the VNI is in use
/// from now on. The others are not, since each costs every thread that polls all VNIs in use.
#[inline(always)]
fn used_vni_of_tag(default_vni: u32, tag: i32, vnis: u32) -> u32 {
    let vni = vni_of_tag(default_vni, tag, vnis);
    used::mark(VniSet::one(vni));
    vni
}

/// The VNI of a self message with this tag, in a communicator with this default VNI.
#[inline(always)]
fn vni_of_tag(default_vni: u32, tag: i32, vnis: u32) -> u32 {
    let tag = tag as u32;
    // Tags below the number of VNIs, which are the usual ones, need no division.
    let at = default_vni + if tag < vnis { tag } else { steps(tag, vnis) % vnis };
    if at < vnis { at } else { at - vnis }
}
