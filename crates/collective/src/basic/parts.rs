//! Data of any length on the blackboard: in parts, each of which is published in a round. While the readers
//! copy one part, the next ones are published. Each byte is copied twice. Single copies, which the kernel
//! makes, take three to four times as long as a copy from mapped memory (`docs/measurements.md`, 25).

use crate::conversation::OnBlackboard;
use heddle_blackboard::{Limits, Span};

/// How many rounds a rank publishes before it reads, where all publish. With more processes than cores
/// it so does more between two switches.
pub(super) const AHEAD: u32 = 6;

const _: () = assert!(AHEAD <= heddle_blackboard::AHEAD);

/// Data in parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InParts {
    len: usize,
    each: usize,
}

impl InParts {
    /// `len` bytes within limits; `None` if there would be too many parts.
    pub(crate) fn new(len: usize, limits: Limits) -> Option<InParts> {
        let parts = InParts { len, each: limits.bytes };
        limits.takes_in_parts(len).then_some(parts)
    }

    /// How many parts there are: at least one.
    pub(crate) fn number(self) -> u32 {
        self.len.div_ceil(self.each).max(1) as u32
    }

    /// Where a part lies; behind the last one the span is empty.
    pub(crate) fn span(self, number: u32) -> Span {
        let start = (number as usize * self.each).min(self.len);
        Span { start, len: self.each.min(self.len - start) }
    }
}

/// Goes through `rounds` rounds in which all ranks publish and read.
pub(crate) fn publish_and_read(
    talk: &mut OnBlackboard<'_, '_>,
    rounds: u32,
    mut publish: impl FnMut(&mut OnBlackboard<'_, '_>, u32),
    mut read: impl FnMut(&mut OnBlackboard<'_, '_>, u32),
) {
    let ahead = AHEAD.min(rounds);
    for round in 0..ahead {
        publish(talk, round);
    }
    for round in 0..rounds {
        read(talk, round);
        talk.finish_round(round);
        if round + ahead < rounds {
            publish(talk, round + ahead);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_data() {
        let limits = Limits { bytes: 64, parts: 4, exposed: None, each_has_a_core: false };
        for len in [0, 1, 63, 64, 65, 200, 256] {
            let parts = InParts::new(len, limits).expect("few parts");
            let mut next = 0;
            for number in 0..parts.number() {
                let span = parts.span(number);
                assert_eq!(span.start, next);
                next += span.len;
            }
            assert_eq!((next, parts.span(parts.number()).len), (len, 0));
        }
        assert!(InParts::new(257, limits).is_none());
    }
}
