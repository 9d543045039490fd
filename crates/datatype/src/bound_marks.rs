//! Datatypes without data that mark a bound: `MPI_LB` and `MPI_UB` of MPI 2, which MPI 3.0 removed in favour
//! of `MPI_Type_create_resized`, and which programs for other ABIs may use.

use crate::bounds::Bounds;
use crate::construct::{Constructed, Shape};
use crate::contents::{Combiner, Form};
use crate::datatype::{Contents, Datatype};
use crate::predefined::types;

/// A bound of a datatype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Where its items begin.
    Lower,
    /// Where the next item of an array begins.
    Upper,
}

impl Datatype {
    /// A datatype without data: one that is made of it has this bound where it lies, and the least or the
    /// greatest of several.
    ///
    /// # Errors
    /// There is no memory.
    pub fn bound_mark(bound: Bound) -> Constructed {
        let byte = &types::MPI_BYTE;
        let empty = Shape::of(byte).vector(0, 1, 0)?;
        let bounds =
            Bounds { lb_marked: bound == Bound::Lower, ub_marked: bound == Bound::Upper, ..empty.bounds };
        let contents = Contents::new(Combiner::Named, Form::Small, Vec::new(), Vec::new(), Vec::new())?;
        let made = Shape { bounds, ..empty }.build(&byte.into(), contents)?;
        made.commit();
        Ok(made)
    }

    /// The bound that this datatype marks, if it is one of these.
    #[must_use]
    pub fn marked_bound(&self) -> Option<Bound> {
        let is_mark = self.contents.combiner == Combiner::Named && !self.is_predefined();
        is_mark.then_some(if self.bounds.lb_marked { Bound::Lower } else { Bound::Upper })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::Form;
    use crate::datatype::TypeRef;

    #[test]
    fn marks_decide_the_bounds_of_what_is_made_of_them() {
        let mark = |bound| TypeRef::from(Datatype::bound_mark(bound).expect("memory"));
        let (lower, upper, int) = (mark(Bound::Lower), mark(Bound::Upper), TypeRef::from(&types::MPI_INT));
        let make = |lengths: &[i64], at: &[i64], of: &[&TypeRef]| {
            let of: Vec<TypeRef> = of.iter().map(|&part| part.clone()).collect();
            Datatype::structure(Form::Small, lengths, at, &of).expect("a struct")
        };
        let made = make(&[1, 1, 1], &[-3, 0, 6], &[&lower, &int, &upper]);
        assert_eq!((made.lb(), made.ub(), made.size(), made.true_extent()), (-3, 6, 4, 4));
        let again = make(&[2, 1], &[0, 40], &[&made.into(), &upper]);
        assert_eq!((again.lb(), again.ub(), again.size()), (-3, 40, 8), "marks of parts count");
        let none = make(&[0, 1], &[-9, 0], &[&lower, &int]);
        assert_eq!((none.lb(), none.ub()), (0, 4), "no item of it");
        assert_eq!((lower.size(), lower.extent(), lower.is_committed()), (0, 0, true));
        assert_eq!((lower.marked_bound(), upper.marked_bound()), (Some(Bound::Lower), Some(Bound::Upper)));
        assert_eq!((int.marked_bound(), again.marked_bound()), (None, None));
    }
}
