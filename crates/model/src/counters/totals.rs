//! Sums over threads.

use super::block::Block;
use super::counted::{Entry, Event};
use super::section::{MOST_VNIS, Section};
use heddle_platform::clock;
use std::ops::AddAssign;

/// What was counted of a section, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SectionTotals {
    entries: [u64; Entry::COUNT],
}

impl SectionTotals {
    /// One of the counts as it is.
    pub fn count(&self, entry: Entry) -> u64 {
        self.entries[entry as usize]
    }

    /// How often it was entered.
    pub fn acquisitions(&self) -> u64 {
        self.count(Entry::Main) + self.count(Entry::Progress)
    }

    /// Of the entries on the main path, those that created, completed or freed a request.
    pub fn productive_main(&self) -> u64 {
        self.count(Entry::Main).saturating_sub(self.count(Entry::Fruitless))
    }

    /// How long threads waited after they found it taken.
    pub fn waited_ns(&self) -> u64 {
        clock::ticks_to_ns(self.count(Entry::Waited))
    }
}

impl AddAssign for SectionTotals {
    fn add_assign(&mut self, other: SectionTotals) {
        for (mine, theirs) in self.entries.iter_mut().zip(other.entries) {
            *mine += theirs;
        }
    }
}

/// What was counted, by all threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    events: [u64; Event::COUNT],
    sections: Box<[SectionTotals]>,
}

impl Default for Totals {
    fn default() -> Totals {
        let sections = vec![SectionTotals::default(); Section::COUNT].into_boxed_slice();
        Totals { events: [0; Event::COUNT], sections }
    }
}

impl Totals {
    pub(super) fn add(&mut self, block: &Block) {
        const EVENTS: [Event; Event::COUNT] = [
            Event::RequestTaken,
            Event::RequestReleased,
            Event::Unexpected,
            Event::UnexpectedTaken,
            Event::MatchingStep,
            Event::Collection,
            Event::Work,
            Event::Throttle,
            Event::ThrottledSend,
        ];
        for event in EVENTS {
            self.events[event as usize] += block.event(event).get();
        }
        for section in Section::all() {
            self.sections[section.index()] += SectionTotals::of(|entry| block.counted(section, entry));
        }
    }

    /// How often something has happened.
    pub fn events(&self, event: Event) -> u64 {
        self.events[event as usize]
    }

    /// What was counted of a section.
    pub fn section(&self, section: Section) -> SectionTotals {
        self.sections[section.index()]
    }

    /// Of all sections together.
    pub fn all_sections(&self) -> SectionTotals {
        self.sum(Section::all())
    }

    /// Of all VNIs' sections together.
    pub fn all_vnis(&self) -> SectionTotals {
        self.sum((0..MOST_VNIS).map(Section::Vni))
    }

    fn sum(&self, sections: impl Iterator<Item = Section>) -> SectionTotals {
        let mut sum = SectionTotals::default();
        sections.for_each(|section| sum += self.section(section));
        sum
    }

    /// How many messages wait for their receives.
    pub fn waiting_messages(&self) -> u64 {
        self.events(Event::Unexpected).saturating_sub(self.events(Event::UnexpectedTaken))
    }

    /// How many requests exist.
    pub fn live_requests(&self) -> u64 {
        // The sums are of slightly different moments.
        self.events(Event::RequestTaken).saturating_sub(self.events(Event::RequestReleased))
    }
}

impl SectionTotals {
    fn of(count: impl Fn(Entry) -> u64) -> SectionTotals {
        const ENTRIES: [Entry; Entry::COUNT] = [
            Entry::Main,
            Entry::Progress,
            Entry::Fruitless,
            Entry::Productive,
            Entry::Contended,
            Entry::Refused,
            Entry::Waited,
            Entry::ForOthers,
        ];
        SectionTotals { entries: ENTRIES.map(count) }
    }
}
