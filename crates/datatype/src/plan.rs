//! The compiled form of a datatype: where its bytes lie, in the order of the type map.
//!
//! A plan is a small tree. Its leaves are contiguous runs, blocks at a constant stride, and lists of runs;
//! its inner nodes are loops and sequences. Constructors combine the plans of their parts, and simplify while
//! they do so: neighbouring runs become one, loops over runs become strides, a loop whose rounds follow each
//! other at its own stride becomes a longer loop, and single rounds vanish. So a nested vector stays a loop
//! nest of constant size, whatever its counts.
//!
//! 1. No part of a plan other than [`Plan::Empty`] itself is empty, and every loop has at least two rounds.
//! 2. A plan's length, its bytes, is that of its parts together; `end` in a list is the sum up to and
//!    including that entry, so the list can be searched by a position in the packed bytes.
//! 3. The depth is bounded, and so is the stack that a walk needs. A loop at least doubles the length, which
//!    is below 2^63. A sequence takes in the parts of its deepest part if that is [`MAX_NESTED_SEQUENCES`]
//!    deep and has more than half of the bytes; so from there on each further level doubles the length, too.
//!    (To take in parts that have less would let a type that uses another one twice grow without bounds.)
//! 4. Offsets of data are sums of displacements that the bounds' computation found to fit into 64 bits.

use heddle_platform::allocate::{OutOfMemory, collected, push, reserve};
use heddle_platform::shared::Shared;

/// The most entries of a list of runs into which a loop is unrolled.
const UNROLL_RUNS: usize = 16;
/// A sequence takes in the parts of a sequence inside it if their number is at most this,
const SPLICE_PARTS: usize = 16;
/// and while it has fewer parts than this.
const SPLICE_LIMIT: usize = 1024;
/// The depth of nested sequences from which on the longest part is always taken in.
const MAX_NESTED_SEQUENCES: u32 = 64;

#[derive(Debug, Clone)]
pub(crate) enum Plan {
    /// No data.
    Empty,
    /// `len` bytes at `at`.
    Run { at: i64, len: i64 },
    /// `count` runs of `len` bytes, `stride` apart.
    Strided { at: i64, count: i64, stride: i64, len: i64 },
    /// Runs of different lengths or at irregular offsets, relative to `at`.
    Runs { at: i64, list: RunList },
    /// `count` times `body`, of `body_len` bytes, `stride` apart.
    Loop { at: i64, count: i64, stride: i64, body_len: i64, body: Shared<Plan> },
    /// Different plans in order, relative to `at`.
    Sequence { at: i64, depth: u32, parts: Shared<Vec<Part>> },
}

/// A run in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListedRun {
    pub(crate) offset: i64,
    /// Bytes of this and all earlier runs.
    pub(crate) end: i64,
}

#[derive(Debug, Clone)]
pub(crate) enum RunList {
    Static(&'static [ListedRun]),
    Made(Shared<Vec<ListedRun>>),
}

impl RunList {
    #[inline]
    pub(crate) fn as_slice(&self) -> &[ListedRun] {
        match self {
            Self::Static(runs) => runs,
            Self::Made(runs) => runs,
        }
    }
}

/// A part of a sequence.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) plan: Plan,
    /// Bytes of this and all earlier parts.
    pub(crate) end: i64,
}

impl Plan {
    /// Bytes of data.
    pub(crate) fn len(&self) -> i64 {
        match self {
            Self::Empty => 0,
            Self::Run { len, .. } => *len,
            Self::Strided { count, len, .. } => count * len,
            Self::Runs { list, .. } => list.as_slice().last().map_or(0, |run| run.end),
            Self::Loop { count, body_len, .. } => count * body_len,
            Self::Sequence { parts, .. } => parts.last().map_or(0, |part| part.end),
        }
    }

    /// The same plan, `by` bytes further.
    pub(crate) fn shifted(&self, by: i64) -> Self {
        let mut plan = self.clone();
        match &mut plan {
            Self::Empty => {}
            Self::Run { at, .. }
            | Self::Strided { at, .. }
            | Self::Runs { at, .. }
            | Self::Loop { at, .. }
            | Self::Sequence { at, .. } => *at = at.wrapping_add(by),
        }
        plan
    }

    /// `count` rounds of `self`, `stride` apart.
    pub(crate) fn repeated(&self, count: i64, stride: i64) -> Result<Self, OutOfMemory> {
        if count == 0 {
            return Ok(Self::Empty);
        }
        if count == 1 {
            return Ok(self.clone());
        }
        Ok(match *self {
            Self::Empty => Self::Empty,
            Self::Run { at, len } if stride == len => Self::Run { at, len: len * count },
            Self::Run { at, len } => Self::Strided { at, count, stride, len },
            Self::Strided { at, count: inner, stride: step, len }
                if step.checked_mul(inner) == Some(stride) =>
            {
                Self::Strided { at, count: inner * count, stride: step, len }
            }
            Self::Loop { at, count: inner, stride: step, body_len, ref body }
                if step.checked_mul(inner) == Some(stride) =>
            {
                Self::Loop { at, count: inner * count, stride: step, body_len, body: body.clone() }
            }
            Self::Runs { at, ref list } if list.as_slice().len() as i64 <= UNROLL_RUNS as i64 / count => {
                let mut sequence = SequenceBuilder::default();
                for round in 0..count {
                    let base = at.wrapping_add(round.wrapping_mul(stride));
                    let mut start = 0;
                    for run in list.as_slice() {
                        sequence.run(base.wrapping_add(run.offset), run.end - start)?;
                        start = run.end;
                    }
                }
                sequence.finish()?
            }
            _ => {
                let body_len = self.len();
                Self::Loop { at: 0, count, stride, body_len, body: Shared::new(self.clone())? }
            }
        })
    }

    /// The depth of nested sequences.
    fn sequence_depth(&self) -> u32 {
        let mut plan = self;
        while let Self::Loop { body, .. } = plan {
            plan = body;
        }
        if let Self::Sequence { depth, .. } = plan { *depth } else { 0 }
    }
}

/// Appends plans to each other.
#[derive(Debug, Default)]
pub(crate) struct SequenceBuilder {
    parts: Vec<Part>,
    len: i64,
    /// Not all parts are runs.
    irregular: bool,
}

impl SequenceBuilder {
    /// Appends `len` bytes at `at`.
    pub(crate) fn run(&mut self, at: i64, len: i64) -> Result<(), OutOfMemory> {
        if len == 0 {
            return Ok(());
        }
        self.len += len;
        if let Some(Part { plan: Plan::Run { at: last_at, len: last_len }, end }) = self.parts.last_mut()
            && last_at.wrapping_add(*last_len) == at
        {
            *last_len += len;
            *end = self.len;
            return Ok(());
        }
        push(&mut self.parts, Part { plan: Plan::Run { at, len }, end: self.len })
    }

    /// Appends a plan, `by` bytes further.
    pub(crate) fn plan(&mut self, plan: &Plan, by: i64) -> Result<(), OutOfMemory> {
        match plan {
            Plan::Empty => Ok(()),
            Plan::Run { at, len } => self.run(at.wrapping_add(by), *len),
            Plan::Runs { at, list } if self.splices(list.as_slice().len()) => {
                let mut start = 0;
                for run in list.as_slice() {
                    self.run(at.wrapping_add(by).wrapping_add(run.offset), run.end - start)?;
                    start = run.end;
                }
                Ok(())
            }
            Plan::Sequence { at, parts, .. } if self.splices(parts.len()) => {
                parts.iter().try_for_each(|part| self.push(part.plan.shifted(at.wrapping_add(by))))
            }
            _ => self.push(plan.shifted(by)),
        }
    }

    fn splices(&self, parts: usize) -> bool {
        parts <= SPLICE_PARTS && self.parts.len() < SPLICE_LIMIT
    }

    fn push(&mut self, plan: Plan) -> Result<(), OutOfMemory> {
        if let Plan::Run { at, len } = plan {
            return self.run(at, len);
        }
        self.len += plan.len();
        self.irregular = true;
        push(&mut self.parts, Part { plan, end: self.len })
    }

    pub(crate) fn finish(mut self) -> Result<Plan, OutOfMemory> {
        if self.parts.len() <= 1 {
            return Ok(self.parts.pop().map_or(Plan::Empty, |part| part.plan));
        }
        if self.irregular {
            return self.sequence();
        }
        if let Some(regular) = self.regular() {
            return Ok(regular);
        }
        let mut list = Vec::new();
        reserve(&mut list, self.parts.len())?;
        list.extend(self.runs().map(|(offset, _, end)| ListedRun { offset, end }));
        Ok(Plan::Runs { at: 0, list: RunList::Made(Shared::new(list)?) })
    }

    fn sequence(self) -> Result<Plan, OutOfMemory> {
        let deepest = |parts: &[Part]| {
            parts.iter().map(|part| part.plan.sequence_depth()).enumerate().max_by_key(|(_, depth)| *depth)
        };
        let (mut depth, mut parts) = (0, self.parts);
        if let Some((index, nested)) = deepest(&parts) {
            depth = nested;
            let half = self.len / 2;
            if let Plan::Sequence { at, parts: inner, .. } = &parts[index].plan
                && nested >= MAX_NESTED_SEQUENCES
                && parts[index].plan.len() > half
            {
                let (at, inner) = (*at, inner.clone());
                let start = parts[index].end - parts[index].plan.len();
                let taken_in =
                    inner.iter().map(|part| Part { plan: part.plan.shifted(at), end: start + part.end });
                reserve(&mut parts, inner.len())?;
                parts.splice(index..=index, taken_in);
                depth = deepest(&parts).map_or(0, |(_, depth)| depth);
            }
        }
        Ok(Plan::Sequence { at: 0, depth: depth + 1, parts: Shared::new(collected(parts)?)? })
    }

    /// The runs as (offset, length, end), if all parts are runs.
    fn runs(&self) -> impl Iterator<Item = (i64, i64, i64)> {
        self.parts.iter().filter_map(|part| match part.plan {
            Plan::Run { at, len } => Some((at, len, part.end)),
            _ => None,
        })
    }

    /// Equal runs at a constant stride.
    fn regular(&self) -> Option<Plan> {
        let mut runs = self.runs();
        let (at, len, _) = runs.next()?;
        let (second, second_len, _) = runs.next()?;
        let stride = second.checked_sub(at)?;
        let mut previous = second;
        let equal = second_len == len
            && runs.all(|(offset, length, _)| {
                let follows = length == len && offset.checked_sub(previous) == Some(stride);
                previous = offset;
                follows
            });
        equal.then_some(Plan::Strided { at, count: self.parts.len() as i64, stride, len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of nodes of the tree; a shared node counts each time.
    fn nodes(plan: &Plan) -> usize {
        match plan {
            Plan::Loop { body, .. } => 1 + nodes(body),
            Plan::Sequence { parts, .. } => 1 + parts.iter().map(|part| nodes(&part.plan)).sum::<usize>(),
            Plan::Runs { list, .. } => 1 + list.as_slice().len(),
            _ => 1,
        }
    }

    fn repeated(plan: &Plan, count: i64, stride: i64) -> Plan {
        plan.repeated(count, stride).expect("memory")
    }

    fn sequence(plans: &[(&Plan, i64)]) -> Plan {
        let mut sequence = SequenceBuilder::default();
        plans.iter().for_each(|(plan, by)| sequence.plan(plan, *by).expect("memory"));
        sequence.finish().expect("memory")
    }

    #[test]
    fn nested_vectors_stay_small() {
        let column = repeated(&Plan::Run { at: 0, len: 8 }, 1_000_000, 64);
        assert!(matches!(column, Plan::Strided { count: 1_000_000, stride: 64, len: 8, .. }));
        let plane = repeated(&column, 1_000_000, 1 << 30);
        assert_eq!(nodes(&plane), 2);
        assert_eq!(plane.len(), 8_000_000_000_000);
    }

    #[test]
    fn regular_rounds_become_one_loop() {
        let strided = repeated(&repeated(&Plan::Run { at: 4, len: 4 }, 3, 16), 5, 48);
        assert!(matches!(strided, Plan::Strided { at: 4, count: 15, stride: 16, len: 4 }));
        assert!(matches!(repeated(&Plan::Run { at: 0, len: 4 }, 7, 4), Plan::Run { at: 0, len: 28 }));
    }

    #[test]
    fn equal_blocks_in_a_list_become_a_stride() {
        let mut list = SequenceBuilder::default();
        for block in 0..100 {
            list.run(block * 24, 4).expect("memory");
            list.run(block * 24 + 4, 8).expect("memory");
        }
        assert!(matches!(list.finish(), Ok(Plan::Strided { at: 0, count: 100, stride: 24, len: 12 })));
    }

    #[test]
    fn depth_is_bounded_when_each_level_adds_a_little() {
        let irregular = repeated(&repeated(&Plan::Run { at: 0, len: 4 }, 3, 10), 3, 100);
        let mut plan = irregular.clone();
        for level in 1..2000 {
            plan = sequence(&[(&irregular, -1000 * level), (&plan, 1)]);
            assert!(plan.sequence_depth() <= MAX_NESTED_SEQUENCES + 2);
        }
        assert_eq!(plan.len(), 2000 * 36);
    }

    #[test]
    fn size_is_bounded_when_each_level_is_used_twice() {
        let mut plan = Plan::Run { at: 0, len: 1 };
        for level in 0..60 {
            plan = sequence(&[(&plan, 0), (&plan, 3_i64.wrapping_pow(level) + 1)]);
        }
        assert_eq!(plan.len(), 1 << 60);
        let Plan::Sequence { parts, depth, .. } = plan else { panic!("an irregular plan") };
        assert!(parts.len() <= 2 * SPLICE_PARTS && depth <= 60);
    }
}
