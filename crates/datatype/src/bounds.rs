//! Lower and upper bounds, by the standard's formulas over the type map, except for one rule.
//!
//! A type map is a list of (basic type, displacement). `lb` is its least displacement and `ub` its greatest
//! end, rounded up so that the extent is a multiple of the strictest alignment in it. The exception: an item
//! of the old type ends at the old type's `ub`, with its padding. By the type map alone a vector of padded
//! items at an odd stride could end before the extent of its last item does, and no other library follows it
//! there. Two conceptual entries, the lower-bound and upper-bound markers that `MPI_Type_create_resized`
//! leaves, replace these when there is one anywhere in the map; they are inherited by every type built on it.

use crate::TypeError;

/// Bounds of one datatype, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) lb: i64,
    pub(crate) ub: i64,
    pub(crate) true_lb: i64,
    pub(crate) true_ub: i64,
    /// The strictest alignment of a basic type in the map.
    pub(crate) align: i64,
    /// There is no data (there may be markers).
    pub(crate) empty: bool,
    pub(crate) lb_marked: bool,
    pub(crate) ub_marked: bool,
}

impl Bounds {
    pub(crate) const fn basic(true_ub: i64, align: i64) -> Self {
        let ub = (true_ub + align - 1) / align * align;
        Self { lb: 0, ub, true_lb: 0, true_ub, align, empty: false, lb_marked: false, ub_marked: false }
    }

    pub(crate) const fn extent(&self) -> i64 {
        self.ub - self.lb
    }

    /// The same data between new markers.
    pub(crate) fn resized(&self, lb: i64, extent: i64) -> Result<Self, TypeError> {
        let ub = lb.checked_add(extent).ok_or(TypeError::Overflow)?;
        Ok(Self { lb, ub, lb_marked: true, ub_marked: true, ..*self })
    }
}

/// The range from the lower of both starts to the higher of both ends.
fn joined(range: Option<(i64, i64)>, from: i64, to: i64) -> (i64, i64) {
    range.map_or((from, to), |(a, b)| (a.min(from), b.max(to)))
}

/// Collects the bounds of a type map that is given block by block.
#[derive(Debug, Default)]
pub(crate) struct BoundsBuilder {
    data: Option<(i64, i64)>,
    /// From the first `lb` to the last `ub` of the items that hold data.
    items: Option<(i64, i64)>,
    lb_marker: Option<i64>,
    ub_marker: Option<i64>,
    align: i64,
}

impl BoundsBuilder {
    /// Adds `length` copies of `child`, one extent apart, the first at `displacement`.
    pub(crate) fn block(&mut self, displacement: i64, length: i64, child: &Bounds) -> Result<(), TypeError> {
        if length == 0 {
            return Ok(());
        }
        self.try_block(displacement, length, child).ok_or(TypeError::Overflow)
    }

    fn try_block(&mut self, displacement: i64, length: i64, child: &Bounds) -> Option<()> {
        let last = displacement.checked_add(child.extent().checked_mul(length - 1)?)?;
        let (low, high) = (displacement.min(last), displacement.max(last));
        if !child.empty {
            let (from, to) = (low.checked_add(child.true_lb)?, high.checked_add(child.true_ub)?);
            self.data = Some(joined(self.data, from, to));
            let (from, to) = (low.checked_add(child.lb)?, high.checked_add(child.ub)?);
            self.items = Some(joined(self.items, from, to));
        }
        if child.lb_marked {
            let at = low.checked_add(child.lb)?;
            self.lb_marker = Some(self.lb_marker.map_or(at, |old| old.min(at)));
        }
        if child.ub_marked {
            let at = high.checked_add(child.ub)?;
            self.ub_marker = Some(self.ub_marker.map_or(at, |old| old.max(at)));
        }
        self.align = self.align.max(child.align);
        Some(())
    }

    pub(crate) fn finish(self) -> Result<Bounds, TypeError> {
        self.try_finish().ok_or(TypeError::Overflow)
    }

    fn try_finish(self) -> Option<Bounds> {
        let (true_lb, true_ub) = self.data.unwrap_or((0, 0));
        let align = self.align.max(1);
        let (items_lb, items_ub) = self.items.unwrap_or((0, 0));
        let lb = self.lb_marker.unwrap_or(items_lb);
        let ub = match self.ub_marker {
            Some(ub) => ub,
            None => {
                let excess = items_ub.checked_sub(lb)?.rem_euclid(align);
                if excess == 0 { items_ub } else { items_ub.checked_add(align - excess)? }
            }
        };
        // Both extents must be representable, because every later sum relies on it.
        ub.checked_sub(lb)?;
        true_ub.checked_sub(true_lb)?;
        Some(Bounds {
            lb,
            ub,
            true_lb,
            true_ub,
            align,
            empty: self.data.is_none(),
            lb_marked: self.lb_marker.is_some(),
            ub_marked: self.ub_marker.is_some(),
        })
    }
}
