//! Sums over threads.

use super::block::Block;
use super::counted::{CountedEvent, Entry};
use super::section::{MOST_VNIS, Section};
use crate::path::Path;
use heddle_platform::clock;
use std::ops::AddAssign;

/// The counts of a critical section, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SectionTotals {
    entries: [u64; Entry::COUNT],
}

impl SectionTotals {
    /// One of the counts, unchanged.
    pub fn count(&self, entry: Entry) -> u64 {
        self.entries[entry as usize]
    }

    /// The number of entries.
    pub fn acquisitions(&self) -> u64 {
        self.count(Entry::Main) + self.count(Entry::Progress)
    }

    /// The number of entries on the main path that created, completed or freed a request.
    pub fn productive_main(&self) -> u64 {
        self.count(Entry::Main).saturating_sub(self.count(Entry::Fruitless))
    }

    /// The number of entries after the critical section had been found taken.
    pub fn contended(&self) -> u64 {
        self.count(Entry::ContendedMain) + self.count(Entry::ContendedProgress)
    }

    /// The number of entries by another thread than the one before.
    pub fn handovers(&self) -> u64 {
        let levels = [Entry::HandoverCore, Entry::HandoverPackage, Entry::HandoverMachine];
        levels.into_iter().map(|level| self.count(level)).sum()
    }

    /// The number of locks that are biased now.
    pub fn biases(&self) -> u64 {
        // The two sums are of slightly different moments.
        self.count(Entry::BiasGiven).saturating_sub(self.count(Entry::BiasRevoked))
    }

    /// The time that threads waited after they found it taken.
    pub fn waited_ns(&self) -> u64 {
        clock::ticks_to_ns(self.count(Entry::WaitedMain) + self.count(Entry::WaitedProgress))
    }

    /// The part of that time that threads waited on one path.
    pub fn waited_ns_on(&self, path: Path) -> u64 {
        clock::ticks_to_ns(self.count(Entry::waited(path)))
    }
}

impl AddAssign for SectionTotals {
    fn add_assign(&mut self, other: SectionTotals) {
        for (mine, theirs) in self.entries.iter_mut().zip(other.entries) {
            *mine += theirs;
        }
    }
}

/// The counts of all threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    events: [u64; CountedEvent::COUNT],
    sections: Box<[SectionTotals]>,
}

impl Default for Totals {
    fn default() -> Totals {
        let sections = vec![SectionTotals::default(); Section::COUNT].into_boxed_slice();
        Totals { events: [0; CountedEvent::COUNT], sections }
    }
}

impl Totals {
    pub(super) fn add(&mut self, block: &Block) {
        const EVENTS: [CountedEvent; CountedEvent::COUNT] = [
            CountedEvent::RequestTaken,
            CountedEvent::RequestReleased,
            CountedEvent::Unexpected,
            CountedEvent::UnexpectedTaken,
            CountedEvent::MatchingStep,
            CountedEvent::Collection,
            CountedEvent::CollectionMark,
            CountedEvent::CollectionSweep,
            CountedEvent::Work,
            CountedEvent::Throttle,
            CountedEvent::ThrottledSend,
            CountedEvent::RemoteRead,
            CountedEvent::RemoteCopy,
            CountedEvent::LeaderCollective,
            CountedEvent::ServedCopy,
            CountedEvent::SingleCopy,
            CountedEvent::SelfMessagesSharded,
            CountedEvent::SelfMessagesPinned,
            CountedEvent::ChannelSpread,
            CountedEvent::VniGathered,
            CountedEvent::AccumulateLockChanged,
        ];
        for event in EVENTS {
            self.events[event as usize] += block.event(event).get();
        }
        for section in Section::all() {
            self.sections[section.index()] += SectionTotals::of(|entry| block.counted(section, entry));
        }
    }

    /// The number of times that something has happened.
    pub fn events(&self, event: CountedEvent) -> u64 {
        self.events[event as usize]
    }

    /// The counts of a critical section.
    pub fn section(&self, section: Section) -> SectionTotals {
        self.sections[section.index()]
    }

    /// The counts of all critical sections together.
    pub fn all_sections(&self) -> SectionTotals {
        self.sum(Section::all())
    }

    /// The counts of all VNIs' critical sections together.
    pub fn all_vnis(&self) -> SectionTotals {
        self.sum((0..MOST_VNIS).map(Section::Vni))
    }

    fn sum(&self, sections: impl Iterator<Item = Section>) -> SectionTotals {
        let mut sum = SectionTotals::default();
        sections.for_each(|section| sum += self.section(section));
        sum
    }

    /// The number of messages that wait for their receives.
    pub fn waiting_messages(&self) -> u64 {
        self.events(CountedEvent::Unexpected).saturating_sub(self.events(CountedEvent::UnexpectedTaken))
    }

    /// The number of requests that exist.
    pub fn live_requests(&self) -> u64 {
        // The sums are of slightly different moments.
        self.events(CountedEvent::RequestTaken).saturating_sub(self.events(CountedEvent::RequestReleased))
    }
}

impl SectionTotals {
    fn of(count: impl Fn(Entry) -> u64) -> SectionTotals {
        const ENTRIES: [Entry; Entry::COUNT] = [
            Entry::Main,
            Entry::Progress,
            Entry::Fruitless,
            Entry::Productive,
            Entry::Refused,
            Entry::ForOthers,
            Entry::ContendedMain,
            Entry::ContendedProgress,
            Entry::WaitedMain,
            Entry::WaitedProgress,
            Entry::HandoverCore,
            Entry::HandoverPackage,
            Entry::HandoverMachine,
            Entry::BiasGiven,
            Entry::BiasRevoked,
            Entry::LeftOut,
        ];
        SectionTotals { entries: ENTRIES.map(count) }
    }
}
