//! This process's part of a window, as processes of other machines reach it.

use super::Counts;
use super::wire::WordOperation;
use crate::attach::{Question, is_in_region, stretch_of, stretches};
use crate::control::Control;
use crate::geometry::WordAt;
use crate::machine::change_word;
use crate::target::Way;
use heddle_platform::Scope;
use heddle_platform::atomic::Ordering;
use heddle_transport::Exposed;
use std::ops::Range;
use std::sync::Arc;

/// The part of a window.
#[derive(Debug)]
pub(crate) struct Part {
    /// The window block.
    pub(crate) control: Control,
    /// Where the memory begins.
    pub(crate) base: *mut u8,
    /// Bytes.
    pub(crate) size: u64,
    /// True if the memory is what the program has attached.
    pub(crate) dynamic: bool,
    /// How the processes of this machine change elements that the processor can change at once.
    pub(crate) way: Way,
    /// This process's own operations on the others.
    pub(crate) counts: Arc<Counts>,
    /// The memory, while others read and write it past the thread here.
    pub(crate) exposed: Option<Exposed>,
}

// SAFETY: the memory belongs to the window, whose processes access it from any thread.
unsafe impl Send for Part {}

impl Part {
    /// Where bytes lie here, if they are in the memory.
    pub(super) fn at(&self, address: u64, len: u64) -> Option<*mut u8> {
        if self.dynamic {
            let address = self.is_attached(address, len).then_some(address as usize)?;
            return Some(std::ptr::with_exposed_provenance_mut(address));
        }
        let offset = address.checked_sub(self.base.addr() as u64)?;
        let is_inside = offset <= self.size && len <= self.size - offset;
        is_inside.then(|| self.base.wrapping_add(offset as usize))
    }

    /// Returns true if bytes are attached, in one region or in several that touch.
    fn is_attached(&self, address: u64, len: u64) -> bool {
        is_in_region(self.control.geometry(), |word| self.load(word), address, len)
            || stretch_of(&self.stretches(), address, len).is_some()
    }

    /// Answers a question about attached memory.
    pub(super) fn answer(&self, question: Question, address: u64, len: u64) -> u64 {
        match question {
            Question::IsAttached => u64::from(self.is_attached(address, len)),
            Question::Start | Question::End => question.answer(&self.stretches(), address, len),
        }
    }

    fn stretches(&self) -> Vec<Range<u64>> {
        stretches(self.control.geometry(), |word| self.load(word))
    }

    fn load(&self, word: WordAt) -> u64 {
        self.control.word(word).load(Ordering::SeqCst)
    }

    /// Carries out an operation on a word, and wakes those that wait for it. Returns the value before; `None`
    /// if there is no such word.
    pub(super) fn operate(&self, word: WordAt, operation: WordOperation) -> Option<u64> {
        if !self.control.geometry().has(word) {
            return None;
        }
        match operation {
            WordOperation::Load => Some(self.load(word)),
            WordOperation::Change(change) => {
                let before = change_word(self.control.word(word), change);
                self.control.event(word).wake(Scope::Machine);
                Some(before)
            }
        }
    }
}
