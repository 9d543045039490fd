//! A home and its lanes.

use crate::context::used::{self, VniSet};
use crate::mapping::default_vni;
use crate::spread::{Home, SpreadBy, SpreadHome, lane, may_be_spread};
use crate::vni::{Message, Vni};
use heddle_transport::{Envelope, Fabric};
use std::ops::Deref;

/// A home and its lanes.
#[derive(Debug, Clone, Copy)]
pub(super) struct HomeAndLanes<'a> {
    vnis: &'static [Vni],
    home: &'a Home<Message>,
    number: usize,
}

/// Lets messages be spread over these VNIs, if their model and settings say so, and tells the other
/// processes.
pub(crate) fn begin(vnis: &'static [Vni], fabric: &Fabric) {
    if vnis.iter().all(Vni::may_spread) {
        vnis.iter().for_each(|vni| _ = vni.all.get_or_init(|| vnis));
        fabric.take_spread_messages();
    }
}

impl Vni {
    /// The home that this VNI is, if messages may be spread.
    #[inline]
    pub(super) fn home(&self) -> Option<HomeAndLanes<'_>> {
        self.home_of(SpreadHome(self.index))
    }

    /// The home with a number.
    pub(super) fn home_of(&self, home: SpreadHome) -> Option<HomeAndLanes<'_>> {
        let (vnis, number) = (self.all.get().copied()?, home.0);
        Some(HomeAndLanes { vnis, home: self.spreading.home(number)?, number })
    }
}

impl Deref for HomeAndLanes<'_> {
    type Target = Home<Message>;

    fn deref(&self) -> &Home<Message> {
        self.home
    }
}

impl HomeAndLanes<'_> {
    /// Its number.
    pub(super) fn number(&self) -> SpreadHome {
        SpreadHome(self.number)
    }

    /// The home itself.
    pub(super) fn vni(&self) -> &'static Vni {
        &self.vnis[self.number]
    }

    /// All VNIs.
    pub(super) fn vnis(&self) -> &'static [Vni] {
        self.vnis
    }

    /// The lane of a message. Threads that wait elsewhere poll it as often as others from now on.
    #[inline(always)]
    pub(super) fn lane(&self, by: SpreadBy, envelope: Envelope) -> &'static Vni {
        let lane = lane(self.number, by, envelope, self.vnis.len());
        used::mark(VniSet::one(lane));
        &self.vnis[lane as usize]
    }

    /// Has threads that wait poll all lanes now and then.
    pub(super) fn use_lanes(&self) {
        used::mark_seldom(VniSet::first(self.vnis.len()));
    }

    /// The numbers of all lanes.
    pub(super) fn lanes(&self) -> impl Iterator<Item = u32> + use<> {
        let home = self.number as u32;
        (0..self.vnis.len() as u32).filter(move |vni| *vni != home)
    }

    /// Returns true if a message with this context belongs here.
    pub(super) fn has(&self, context: u64) -> bool {
        may_be_spread(context) && default_vni(context, self.vnis.len()) as usize == self.number
    }
}
