//! Visiting a plan's runs, between any two positions of the packed bytes.
//!
//! A walk receives its first and last position and descends by division and search. So two walks share
//! nothing but a position, and a walk may stop in the middle of a run.

use std::ops::ControlFlow;

use crate::plan::Plan;

/// Tells the walk to continue or to stop.
pub(crate) type Flow = ControlFlow<()>;

/// The function that a walk calls for each run.
pub(crate) trait Visit {
    /// `len` bytes at `offset` from the buffer's address; `len` is at least 1.
    fn run(&mut self, offset: i64, len: i64) -> Flow;

    /// `count` runs of `len` bytes, `stride` apart.
    #[inline]
    fn strided(&mut self, offset: i64, count: i64, stride: i64, len: i64) -> Flow {
        for block in 0..count {
            self.run(offset.wrapping_add(block.wrapping_mul(stride)), len)?;
        }
        Flow::Continue(())
    }
}

/// Visits the bytes `from..to` of rounds of `body`, `stride` apart, `base` bytes from the buffer's address.
#[inline]
pub(crate) fn walk_rounds<V: Visit>(
    body: &Plan,
    stride: i64,
    base: i64,
    from: i64,
    to: i64,
    visit: &mut V,
) -> Flow {
    if let Plan::Run { at, len } = *body {
        return walk_strided(base.wrapping_add(at), stride, len, from, to, visit);
    }
    let body_len = body.len();
    walk_loop(body, body_len, stride, base, from, to, visit)
}

fn walk_loop<V: Visit>(
    body: &Plan,
    body_len: i64,
    stride: i64,
    base: i64,
    from: i64,
    to: i64,
    visit: &mut V,
) -> Flow {
    let mut round = from / body_len;
    let mut skip = from - round * body_len;
    let mut left = to - from;
    while left > 0 {
        if skip == 0
            && let Plan::Runs { at, list } = body
        {
            // The usual structure in an array: whole rounds of a few runs.
            for _ in 0..left / body_len {
                let base = base.wrapping_add(round.wrapping_mul(stride)).wrapping_add(*at);
                let mut start = 0;
                for run in list.as_slice() {
                    visit.run(base.wrapping_add(run.offset), run.end - start)?;
                    start = run.end;
                }
                round += 1;
            }
            left %= body_len;
            if left == 0 {
                break;
            }
        }
        let take = left.min(body_len - skip);
        walk(body, base.wrapping_add(round.wrapping_mul(stride)), skip, skip + take, visit)?;
        left -= take;
        skip = 0;
        round += 1;
    }
    Flow::Continue(())
}

fn walk_strided<V: Visit>(at: i64, stride: i64, len: i64, from: i64, to: i64, visit: &mut V) -> Flow {
    let place = |block: i64| at.wrapping_add(block.wrapping_mul(stride));
    let mut block = from / len;
    let skip = from - block * len;
    let mut left = to - from;
    if skip > 0 {
        let take = left.min(len - skip);
        visit.run(place(block).wrapping_add(skip), take)?;
        left -= take;
        block += 1;
    }
    let whole = left / len;
    if whole > 0 {
        visit.strided(place(block), whole, stride, len)?;
        left -= whole * len;
        block += whole;
    }
    if left > 0 { visit.run(place(block), left) } else { Flow::Continue(()) }
}

/// Visits the bytes `from..to` of one `plan`; `0 <= from < to <= plan.len()`.
pub(crate) fn walk<V: Visit>(plan: &Plan, base: i64, from: i64, to: i64, visit: &mut V) -> Flow {
    match plan {
        Plan::Empty => Flow::Continue(()),
        Plan::Run { at, .. } => visit.run(base.wrapping_add(*at).wrapping_add(from), to - from),
        Plan::Strided { at, stride, len, .. } => {
            walk_strided(base.wrapping_add(*at), *stride, *len, from, to, visit)
        }
        Plan::Loop { at, stride, body_len, body, .. } => {
            walk_loop(body, *body_len, *stride, base.wrapping_add(*at), from, to, visit)
        }
        Plan::Runs { at, list } => {
            let runs = list.as_slice();
            let base = base.wrapping_add(*at);
            let first = if from == 0 { 0 } else { runs.partition_point(|run| run.end <= from) };
            let mut start = if first == 0 { 0 } else { runs[first - 1].end };
            let mut position = from;
            for run in &runs[first..] {
                let stop = run.end.min(to);
                visit.run(base.wrapping_add(run.offset).wrapping_add(position - start), stop - position)?;
                if stop == to {
                    break;
                }
                position = stop;
                start = stop;
            }
            Flow::Continue(())
        }
        Plan::Sequence { at, parts, .. } => {
            let base = base.wrapping_add(*at);
            let first = if from == 0 { 0 } else { parts.partition_point(|part| part.end <= from) };
            let mut start = if first == 0 { 0 } else { parts[first - 1].end };
            let mut position = from;
            for part in &parts[first..] {
                let stop = part.end.min(to);
                walk(&part.plan, base, position - start, stop - start, visit)?;
                if stop == to {
                    break;
                }
                position = stop;
                start = stop;
            }
            Flow::Continue(())
        }
    }
}
