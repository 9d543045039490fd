//! The peers of a VNI: the sending side of each rank of the job.
//!
//! | ranks | kept |
//! |---|---|
//! | of this machine, if their numbers follow one another and they are few | in an array, made with the VNI |
//! | all others | in pages, each made when one of its ranks is first sent to |
//!
//! So a process of a large job holds what its own machine and its own peers need: an empty page has 8 bytes
//! for 16 ranks. With an array of all 1,000 ranks of a machine, a fifth of the start went into arrays.

use super::channel::{Channel, Peer};
use super::ring_access::Rules;
use crate::spread::TagChanges;
use heddle_model::Sections;
use heddle_platform::atomic::AtomicUsize;
use heddle_transport::Fabric;
use once_cell::race::OnceBox;
use std::array;
use std::sync::Arc;

/// The number of peers that are made together.
const PAGE: usize = 16;

/// How many ranks of this machine have the array at most.
const NEAR: usize = 64;

type Page<S> = [Peer<S>; PAGE];

/// The sending sides of a VNI.
#[derive(Debug)]
pub(crate) struct Peers<S: Rules> {
    /// Those of the ranks from `first` on.
    near: Box<[Peer<S>]>,
    first: usize,
    pages: Box<[OnceBox<Page<S>>]>,
    maker: Maker,
}

/// Makes sending sides.
#[derive(Debug)]
struct Maker {
    fabric: Arc<Fabric>,
    vni: usize,
    sections: Arc<Sections>,
}

impl<S: Rules> Peers<S> {
    pub(crate) fn new(fabric: &Fabric, vni: usize, sections: &Arc<Sections>) -> Peers<S> {
        let maker = Maker { fabric: Arc::new(fabric.clone()), vni, sections: Arc::clone(sections) };
        let near = fabric.local_ranks().range().filter(|ranks| ranks.len() <= NEAR).unwrap_or_default();
        let near = near.start as usize..near.end as usize;
        let pages = if near.len() == fabric.size() { 0 } else { fabric.size().div_ceil(PAGE) };
        Peers {
            first: near.start,
            near: near.map(|rank| maker.peer(rank)).collect(),
            pages: (0..pages).map(|_| OnceBox::new()).collect(),
            maker,
        }
    }

    /// The sending side of a rank.
    ///
    /// # Panics
    /// If the job has no such rank.
    #[inline(always)]
    pub(crate) fn of(&self, rank: usize) -> &Peer<S> {
        match self.near.get(rank.wrapping_sub(self.first)) {
            Some(peer) => peer,
            None => self.far(rank),
        }
    }

    #[cold]
    #[inline(never)]
    fn far(&self, rank: usize) -> &Peer<S> {
        let first = rank / PAGE * PAGE;
        let make = || Box::new(array::from_fn(|index| self.maker.peer(first + index)));
        &self.pages[rank / PAGE].get_or_init(make)[rank % PAGE]
    }

    /// The ranks whose sending sides are made, each with its own.
    pub(crate) fn made(&self) -> impl Iterator<Item = (usize, &Peer<S>)> {
        let near = (self.first..).zip(&self.near);
        let pages = self.pages.iter().enumerate();
        let pages = pages.filter_map(|(number, page)| Some((number * PAGE, page.get()?)));
        near.chain(pages.flat_map(|(first, page)| (first..).zip(page)))
    }
}

impl Maker {
    /// The sending side of a rank. A page may have ranks of `near`, and the last one ranks that the job does
    /// not have; nobody asks for those.
    fn peer<S: Rules>(&self, rank: usize) -> Peer<S> {
        let (inside, outside) = S::ring(&self.fabric, self.vni, rank);
        let channel = S::guard_channel(&self.sections, Channel::new(inside));
        Peer {
            channel,
            outside,
            backlogged: AtomicUsize::new(0),
            outgoing: OnceBox::new(),
            tag_changes: TagChanges::default(),
        }
    }
}
