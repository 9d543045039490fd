//! Critical sections for reference counts, under `HEDDLE_REFERENCE_COUNTS=locked`.

use super::handle::ObjectKind;
use heddle_platform::atomic::{AtomicU64, Ordering};
use std::fmt::Debug;
use std::sync::OnceLock;

/// A critical section in which reference counts are changed.
pub trait CountingSection: Debug + Send + Sync {
    /// Runs a change once, excluding all others.
    fn run(&self, change: &mut (dyn FnMut() + Send));
}

/// The section of the counts of one kind of objects.
#[derive(Debug)]
pub struct CountSection(Box<dyn CountingSection>);

heddle_platform::per_process! {
    /// The sections of communicators and of datatypes, if counts are changed in sections.
    static SECTIONS: OnceLock<[CountSection; 2]> = OnceLock::new();
}

/// Makes two critical sections: the counts of communicators are changed in the first from now on, those of
/// datatypes in the second. To be called before there are references.
pub fn count_in_sections(make: impl Fn() -> Box<dyn CountingSection>) {
    SECTIONS.get_or_init(|| [CountSection(make()), CountSection(make())]);
}

/// The section for the counts of objects of a kind; `None` if they are atomic.
#[inline]
pub fn counting_section(kind: ObjectKind) -> Option<&'static CountSection> {
    SECTIONS.get().map(|sections| &sections[usize::from(kind != ObjectKind::Comm)])
}

impl CountSection {
    /// Runs a change.
    pub fn run<R: Send>(&self, change: impl FnOnce() -> R + Send) -> R {
        let (mut change, mut result) = (Some(change), None);
        self.0.run(&mut || result = change.take().map(|change| change()));
        let Some(result) = result else { unreachable!("a section runs the change that it is given") };
        result
    }

    /// Adds to a word; returns its value before.
    pub fn add(&self, word: &AtomicU64, addend: u64) -> u64 {
        self.run(|| {
            // Acquire and Release: readers such as the collector do not enter the section.
            let before = word.load(Ordering::Acquire);
            word.store(before.wrapping_add(addend), Ordering::Release);
            before
        })
    }
}
