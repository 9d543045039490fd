//! The constructors of derived datatypes.
//!
//! Displacements and strides that the standard counts in items are first turned into bytes. Then everything
//! is a list of blocks: copies of a type, one extent apart, at a displacement.

use std::sync::{Arc, OnceLock};

use crate::bounds::{Bounds, BoundsBuilder};
use crate::contents::{Combiner, Form};
use crate::datatype::Contents;
use crate::datatype::Elements;
use crate::datatype::{Datatype, TypeRef};
use crate::error::TypeError;
use crate::plan::{Plan, SequenceBuilder};
use heddle_platform::allocate::{copied, joined, try_collected};

/// The result of a constructor.
pub type Constructed = Result<Arc<Datatype>, TypeError>;

pub(crate) fn not_negative(what: &'static str, value: i64) -> Result<i64, TypeError> {
    if value < 0 { Err(TypeError::Negative { what, value }) } else { Ok(value) }
}

fn same_length(what: &'static str, expected: usize, found: usize) -> Result<(), TypeError> {
    if expected == found { Ok(()) } else { Err(TypeError::Length { what, expected, found }) }
}

pub(crate) fn product(a: i64, b: i64) -> Result<i64, TypeError> {
    a.checked_mul(b).ok_or(TypeError::Overflow)
}

pub(crate) fn sum(a: i64, b: i64) -> Result<i64, TypeError> {
    a.checked_add(b).ok_or(TypeError::Overflow)
}

/// The layout of the items of a datatype made from one type; this suffices to build it
/// before its contents are known.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) bounds: Bounds,
    pub(crate) plan: Plan,
    /// Copies of the old type.
    pub(crate) copies: i64,
}

impl Shape {
    /// One item of a type.
    pub(crate) fn of(old: &Datatype) -> Self {
        Self { bounds: old.bounds, plan: old.plan.clone(), copies: 1 }
    }

    /// `count` blocks of `length` items, `stride` bytes apart.
    pub(crate) fn vector(&self, count: i64, length: i64, stride: i64) -> Result<Self, TypeError> {
        let blocks = if length == 0 { 0 } else { count };
        let copies = product(product(blocks, length)?, self.copies)?;
        let mut bounds = BoundsBuilder::default();
        if blocks > 0 {
            bounds.block(0, length, &self.bounds)?;
            bounds.block(product(blocks - 1, stride)?, length, &self.bounds)?;
        }
        let bounds = bounds.finish()?;
        product(copies, self.plan.len())?;
        let plan = self.plan.repeated(length, self.bounds.extent())?.repeated(blocks, stride)?;
        Ok(Self { bounds, plan, copies })
    }

    /// The same items, `by` bytes further.
    pub(crate) fn shifted(&self, by: i64) -> Result<Self, TypeError> {
        let mut bounds = BoundsBuilder::default();
        bounds.block(by, self.copies.min(1), &self.bounds)?;
        Ok(Self { bounds: bounds.finish()?, plan: self.plan.shifted(by), copies: self.copies })
    }

    /// These items, then the other ones `by` bytes further.
    pub(crate) fn followed_by(&self, other: &Self, by: i64) -> Result<Self, TypeError> {
        let mut bounds = BoundsBuilder::default();
        bounds.block(0, self.copies.min(1), &self.bounds)?;
        bounds.block(by, other.copies.min(1), &other.bounds)?;
        let mut plan = SequenceBuilder::default();
        plan.plan(&self.plan, 0)?;
        plan.plan(&other.plan, by)?;
        Ok(Self { bounds: bounds.finish()?, plan: plan.finish()?, copies: sum(self.copies, other.copies)? })
    }

    /// Blocks of (displacement in bytes, items).
    pub(crate) fn blocks(&self, blocks: impl Iterator<Item = (i64, i64)>) -> Result<Self, TypeError> {
        let mut bounds = BoundsBuilder::default();
        let mut plan = SequenceBuilder::default();
        let mut copies = 0;
        // Blocks mostly have the same length, and then the same plan.
        let mut last: Option<(i64, Plan)> = None;
        for (displacement, length) in blocks {
            if length == 0 {
                continue;
            }
            bounds.block(displacement, length, &self.bounds)?;
            copies = sum(copies, product(length, self.copies)?)?;
            product(copies, self.plan.len())?;
            if last.as_ref().is_none_or(|(of, _)| *of != length) {
                last = Some((length, self.plan.repeated(length, self.bounds.extent())?));
            }
            if let Some((_, block)) = &last {
                plan.plan(block, displacement)?;
            }
        }
        Ok(Self { bounds: bounds.finish()?, plan: plan.finish()?, copies })
    }

    /// The datatype with these items of `old`.
    pub(crate) fn build(self, old: &TypeRef, contents: Contents) -> Constructed {
        let size = product(self.copies, old.size)?;
        let basic_elements = product(self.copies, old.basic_elements)?;
        let (basic, elements) =
            if size == 0 { (None, Elements::None) } else { (old.basic, Elements::copies(old)) };
        Ok(assemble(self.bounds, self.plan, size, basic, basic_elements, elements, contents))
    }
}

fn assemble(
    bounds: Bounds,
    plan: Plan,
    size: i64,
    basic: Option<&'static crate::Basic>,
    basic_elements: i64,
    elements: Elements,
    contents: Contents,
) -> Arc<Datatype> {
    debug_assert_eq!(plan.len(), size, "a plan holds exactly the data of its type");
    let contiguous = match plan {
        Plan::Empty => true,
        Plan::Run { at, len } => at == 0 && bounds.extent() == len,
        _ => false,
    };
    Arc::new(Datatype {
        bounds,
        plan,
        size,
        contiguous,
        predefined: false,
        basic,
        basic_elements,
        elements,
        contents,
        committed: OnceLock::new(),
    })
}

impl Datatype {
    /// `MPI_Type_contiguous`.
    ///
    /// # Errors
    /// A negative count; a size or a bound beyond 63 bits; a lack of memory. The same holds for the other
    /// constructors.
    pub fn contiguous(form: Form, count: i64, old: &TypeRef) -> Constructed {
        not_negative("count", count)?;
        let contents = Contents::new(Combiner::Contiguous, form, vec![count], Vec::new(), vec![old.clone()])?;
        Shape::of(old).vector(1, count, 0)?.build(old, contents)
    }

    /// `MPI_Type_vector`; `stride` counts items.
    ///
    /// # Errors
    /// The same as for [`Datatype::contiguous`].
    pub fn vector(form: Form, count: i64, block_length: i64, stride: i64, old: &TypeRef) -> Constructed {
        not_negative("count", count)?;
        not_negative("blocklength", block_length)?;
        let sizes = vec![count, block_length, stride];
        let contents = Contents::new(Combiner::Vector, form, sizes, Vec::new(), vec![old.clone()])?;
        let stride = product(stride, old.extent())?;
        Shape::of(old).vector(count, block_length, stride)?.build(old, contents)
    }

    /// `MPI_Type_create_hvector`; `stride` counts bytes.
    ///
    /// # Errors
    /// The same as for [`Datatype::contiguous`].
    pub fn hvector(form: Form, count: i64, block_length: i64, stride: i64, old: &TypeRef) -> Constructed {
        not_negative("count", count)?;
        not_negative("blocklength", block_length)?;
        let sizes = vec![count, block_length];
        let contents = Contents::new(Combiner::Hvector, form, sizes, vec![stride], vec![old.clone()])?;
        Shape::of(old).vector(count, block_length, stride)?.build(old, contents)
    }

    /// `MPI_Type_indexed`; displacements count items.
    ///
    /// # Errors
    /// The same as for [`Datatype::contiguous`], and arrays of different lengths.
    pub fn indexed(form: Form, block_lengths: &[i64], displacements: &[i64], old: &TypeRef) -> Constructed {
        same_length("array_of_displacements", block_lengths.len(), displacements.len())?;
        let sizes = joined(&[&[block_lengths.len() as i64], block_lengths, displacements])?;
        let contents = Contents::new(Combiner::Indexed, form, sizes, Vec::new(), vec![old.clone()])?;
        let displacements = in_bytes(displacements, old)?;
        indexed_shape(block_lengths, &displacements, old)?.build(old, contents)
    }

    /// `MPI_Type_create_hindexed`; displacements count bytes.
    ///
    /// # Errors
    /// The same as for [`Datatype::indexed`].
    pub fn hindexed(form: Form, block_lengths: &[i64], displacements: &[i64], old: &TypeRef) -> Constructed {
        same_length("array_of_displacements", block_lengths.len(), displacements.len())?;
        let sizes = joined(&[&[block_lengths.len() as i64], block_lengths])?;
        let displaced = copied(displacements)?;
        let contents = Contents::new(Combiner::Hindexed, form, sizes, displaced, vec![old.clone()])?;
        indexed_shape(block_lengths, displacements, old)?.build(old, contents)
    }

    /// `MPI_Type_create_indexed_block`; displacements count items.
    ///
    /// # Errors
    /// The same as for [`Datatype::contiguous`].
    pub fn indexed_block(form: Form, block_length: i64, displacements: &[i64], old: &TypeRef) -> Constructed {
        not_negative("blocklength", block_length)?;
        let sizes = joined(&[&[displacements.len() as i64, block_length], displacements])?;
        let contents = Contents::new(Combiner::IndexedBlock, form, sizes, Vec::new(), vec![old.clone()])?;
        let displacements = in_bytes(displacements, old)?;
        let blocks = displacements.iter().map(|displacement| (*displacement, block_length));
        Shape::of(old).blocks(blocks)?.build(old, contents)
    }

    /// `MPI_Type_create_hindexed_block`; displacements count bytes.
    ///
    /// # Errors
    /// The same as for [`Datatype::contiguous`].
    pub fn hindexed_block(
        form: Form,
        block_length: i64,
        displacements: &[i64],
        old: &TypeRef,
    ) -> Constructed {
        not_negative("blocklength", block_length)?;
        let sizes = vec![displacements.len() as i64, block_length];
        let displaced = copied(displacements)?;
        let contents = Contents::new(Combiner::HindexedBlock, form, sizes, displaced, vec![old.clone()])?;
        let blocks = displacements.iter().map(|displacement| (*displacement, block_length));
        Shape::of(old).blocks(blocks)?.build(old, contents)
    }

    /// `MPI_Type_create_struct`; displacements count bytes.
    ///
    /// # Errors
    /// The same as for [`Datatype::indexed`].
    pub fn structure(
        form: Form,
        block_lengths: &[i64],
        displacements: &[i64],
        types: &[TypeRef],
    ) -> Constructed {
        same_length("array_of_displacements", block_lengths.len(), displacements.len())?;
        same_length("array_of_types", block_lengths.len(), types.len())?;
        let mut bounds = BoundsBuilder::default();
        let mut plan = SequenceBuilder::default();
        let (mut size, mut basic_elements) = (0, 0);
        let mut basics = types.iter().zip(block_lengths).filter(|(old, length)| old.size * **length > 0);
        for ((old, length), displacement) in types.iter().zip(block_lengths).zip(displacements) {
            not_negative("array_of_blocklengths", *length)?;
            bounds.block(*displacement, *length, &old.bounds)?;
            size = sum(size, product(*length, old.size)?)?;
            basic_elements = sum(basic_elements, product(*length, old.basic_elements)?)?;
            plan.plan(&old.plan.repeated(*length, old.extent())?, *displacement)?;
        }
        let basic = basics.next().and_then(|(old, _)| old.basic);
        let basic = if basics.all(|(old, _)| old.basic == basic) { basic } else { None };
        let elements = Elements::sequence(block_lengths, types)?;
        let sizes = joined(&[&[block_lengths.len() as i64], block_lengths])?;
        let contents = Contents::new(Combiner::Struct, form, sizes, copied(displacements)?, copied(types)?)?;
        Ok(assemble(bounds.finish()?, plan.finish()?, size, basic, basic_elements, elements, contents))
    }

    /// `MPI_Type_create_resized`.
    ///
    /// # Errors
    /// An upper bound beyond 63 bits.
    pub fn resized(form: Form, lb: i64, extent: i64, old: &TypeRef) -> Constructed {
        let contents =
            Contents::new(Combiner::Resized, form, Vec::new(), vec![lb, extent], vec![old.clone()])?;
        let shape = Shape { bounds: old.bounds.resized(lb, extent)?, ..Shape::of(old) };
        shape.build(old, contents)
    }

    /// `MPI_Type_dup`: the new datatype is committed if the old one is.
    ///
    /// # Errors
    /// There is no memory.
    pub fn dup(old: &TypeRef) -> Constructed {
        let contents = Contents::new(Combiner::Dup, Form::Small, Vec::new(), Vec::new(), vec![old.clone()])?;
        let copy = Shape::of(old).build(old, contents)?;
        if old.is_committed() {
            copy.commit();
        }
        Ok(copy)
    }
}

fn in_bytes(displacements: &[i64], old: &Datatype) -> Result<Vec<i64>, TypeError> {
    try_collected(displacements.iter().map(|displacement| product(*displacement, old.extent())))
}

fn indexed_shape(block_lengths: &[i64], displacements: &[i64], old: &Datatype) -> Result<Shape, TypeError> {
    for length in block_lengths {
        not_negative("array_of_blocklengths", *length)?;
    }
    Shape::of(old).blocks(displacements.iter().copied().zip(block_lengths.iter().copied()))
}
