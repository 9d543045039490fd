//! Sections for the counts of references, if the model wants counts to be changed in sections.

use crate::object_table::Kind;
use heddle_platform::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

/// A section in which counts are changed.
#[cfg(not(loom))]
#[derive(Debug)]
pub(crate) struct Section(heddle_model::Guarded<()>);

/// There is none in a model: counts are atomic there.
#[cfg(loom)]
#[derive(Debug)]
pub(crate) enum Section {}

/// The sections of communicators and of datatypes, if counts are changed in sections.
static SECTIONS: OnceLock<[Section; 2]> = OnceLock::new();

/// Takes over what the model chose.
#[cfg(not(loom))]
pub(super) fn configure(model: &heddle_model::Model, sections: &heddle_model::Sections) {
    use heddle_model::{ReferenceCounts, counters};
    if model.reference_counts == ReferenceCounts::Locked {
        SECTIONS.get_or_init(|| {
            [(); 2].map(|()| Section(sections.guard_shared(counters::Section::ReferenceCounts, ())))
        });
    }
}

/// The section for the counts of objects of a kind; `None` if they are atomic.
#[inline]
pub(crate) fn section(kind: Kind) -> Option<&'static Section> {
    SECTIONS.get().map(|sections| &sections[usize::from(kind != Kind::Comm)])
}

impl Section {
    /// Runs a change.
    #[cfg(not(loom))]
    pub(crate) fn run<R: Send>(&self, change: impl FnOnce() -> R + Send) -> R {
        self.0.with(heddle_model::Path::Main, |()| change())
    }

    #[cfg(loom)]
    pub(crate) fn run<R>(&self, _: impl FnOnce() -> R) -> R {
        match *self {}
    }

    /// Adds to a word; returns what it was.
    pub(crate) fn add(&self, word: &AtomicU64, addend: u64) -> u64 {
        self.run(|| {
            // Acquire and Release: the section is none to readers, such as the collector.
            let before = word.load(Ordering::Acquire);
            word.store(before.wrapping_add(addend), Ordering::Release);
            before
        })
    }
}
