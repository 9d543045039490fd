//! `MPI_Type_create_subarray` and `MPI_Type_create_darray`: a part of an array of several dimensions.
//!
//! Both go from the dimension that varies fastest to the slowest. In each, the part is a list of
//! entries at a stride, which is the size in bytes of one entry of the faster dimensions; entries
//! before the part shift it.

use std::sync::Arc;

use crate::construct::{Constructed, Shape, not_negative, product, sum};
use crate::contents::{Combiner, Form};
use crate::datatype::Contents;
use crate::datatype::{Datatype, TypeRef};
use crate::error::TypeError;
use heddle_platform::allocate::{OutOfMemory, collected, joined};
use heddle_spec::constants;

/// `MPI_ORDER_C`: the last dimension varies fastest.
pub const ORDER_C: i64 = constants::MPI_ORDER_C as i64;
/// `MPI_ORDER_FORTRAN`: the first dimension varies fastest.
pub const ORDER_FORTRAN: i64 = constants::MPI_ORDER_FORTRAN as i64;
/// `MPI_DISTRIBUTE_NONE`
pub const DISTRIBUTE_NONE: i64 = constants::MPI_DISTRIBUTE_NONE as i64;
/// `MPI_DISTRIBUTE_BLOCK`
pub const DISTRIBUTE_BLOCK: i64 = constants::MPI_DISTRIBUTE_BLOCK as i64;
/// `MPI_DISTRIBUTE_CYCLIC`
pub const DISTRIBUTE_CYCLIC: i64 = constants::MPI_DISTRIBUTE_CYCLIC as i64;
/// `MPI_DISTRIBUTE_DFLT_DARG`
pub const DISTRIBUTE_DFLT_DARG: i64 = constants::MPI_DISTRIBUTE_DFLT_DARG as i64;

/// An array that is distributed over a grid of processes, and one of these: the arguments of
/// `MPI_Type_create_darray`.
#[derive(Debug, Clone, Copy)]
pub struct Distributed<'a> {
    /// The number of processes.
    pub size: i64,
    /// The process whose part is described.
    pub rank: i64,
    /// The whole array's items in each dimension.
    pub global_sizes: &'a [i64],
    /// How each dimension is distributed.
    pub distributions: &'a [i64],
    /// Each distribution's argument.
    pub arguments: &'a [i64],
    /// Processes in each dimension of the grid, whose last dimension varies fastest.
    pub process_sizes: &'a [i64],
    /// [`ORDER_C`] or [`ORDER_FORTRAN`].
    pub order: i64,
}

/// Dimensions from the one that varies fastest to the slowest.
fn fastest_first(dimensions: usize, order: i64) -> Result<impl Iterator<Item = usize>, TypeError> {
    if dimensions == 0 {
        return Err(TypeError::NoDimensions);
    }
    match order {
        ORDER_C | ORDER_FORTRAN => {
            Ok((0..dimensions).map(move |nth| if order == ORDER_C { dimensions - 1 - nth } else { nth }))
        }
        value => Err(TypeError::Constant { what: "order", value }),
    }
}

fn in_range(what: &'static str, dimension: usize, value: i64, low: i64, high: i64) -> Result<(), TypeError> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(TypeError::Range { what, dimension, value, low, high })
    }
}

fn same_length(what: &'static str, expected: usize, found: usize) -> Result<(), TypeError> {
    if expected == found { Ok(()) } else { Err(TypeError::Length { what, expected, found }) }
}

/// A part of an array, as it grows from dimension to dimension.
struct ArrayPart {
    shape: Shape,
    /// Bytes from one entry of the next dimension to the next.
    stride: i64,
    /// Bytes before the part.
    start: i64,
}

impl ArrayPart {
    fn of(old: &Datatype) -> Self {
        Self { shape: Shape::of(old), stride: old.extent(), start: 0 }
    }

    /// Adds a dimension of `size` entries: `count` of them from `start` on.
    fn places(&mut self, size: i64, start: i64, count: i64) -> Result<(), TypeError> {
        self.shape = self.shape.vector(count, 1, self.stride)?;
        self.dimension(size, start)
    }

    /// Adds a dimension of `size` entries: blocks of `block` entries, `period`
    /// entries apart, from `start` on.
    fn blocks(&mut self, size: i64, start: i64, block: i64, period: i64) -> Result<(), TypeError> {
        let left = (size - start).max(0);
        // The last block may be cut off by the end of the dimension.
        let (whole, rest) = (left / period, (left % period).min(block));
        let (whole, rest) = if rest == block { (whole + 1, 0) } else { (whole, rest) };
        let period = product(period, self.stride)?;
        let mut shape = self.shape.vector(block, 1, self.stride)?.vector(whole, 1, period)?;
        if rest > 0 {
            let last = self.shape.vector(rest, 1, self.stride)?;
            shape = shape.followed_by(&last, product(whole, period)?)?;
        }
        self.shape = shape;
        self.dimension(size, if left == 0 { 0 } else { start })
    }

    fn dimension(&mut self, size: i64, start: i64) -> Result<(), TypeError> {
        self.start = sum(self.start, product(start, self.stride)?)?;
        self.stride = product(self.stride, size)?;
        Ok(())
    }

    /// The part within the whole array.
    fn build(self, old: &TypeRef, contents: Contents) -> Constructed {
        let shape = self.shape.shifted(self.start)?;
        let bounds = shape.bounds.resized(0, self.stride)?;
        Shape { bounds, ..shape }.build(old, contents)
    }
}

fn array_contents(
    combiner: Combiner,
    form: Form,
    leading: &[i64],
    large: &[&[i64]],
    small: &[&[i64]],
    order: i64,
    old: &TypeRef,
) -> Result<Contents, OutOfMemory> {
    let (large, small) = (joined(large)?, joined(small)?);
    let (between, counts) = match form {
        Form::Small => (large, Vec::new()),
        Form::Large => (Vec::new(), large),
    };
    let integers = joined(&[leading, &between, &small, &[order]])?;
    Ok(Contents { combiner, integers, addresses: Vec::new(), counts, types: vec![old.clone()] })
}

impl Datatype {
    /// `MPI_Type_create_subarray`.
    ///
    /// # Errors
    /// A size, part or start outside its range; an unknown order; bounds beyond 63 bits.
    pub fn subarray(
        form: Form,
        sizes: &[i64],
        subsizes: &[i64],
        starts: &[i64],
        order: i64,
        old: &TypeRef,
    ) -> Result<Arc<Self>, TypeError> {
        same_length("array_of_subsizes", sizes.len(), subsizes.len())?;
        same_length("array_of_starts", sizes.len(), starts.len())?;
        let mut part = ArrayPart::of(old);
        for dimension in fastest_first(sizes.len(), order)? {
            let (size, subsize, start) = (sizes[dimension], subsizes[dimension], starts[dimension]);
            in_range("array_of_sizes", dimension, size, 1, i64::MAX)?;
            in_range("array_of_subsizes", dimension, subsize, 1, size)?;
            in_range("array_of_starts", dimension, start, 0, size - subsize)?;
            part.places(size, start, subsize)?;
        }
        let dimensions = [sizes.len() as i64];
        let arrays = [sizes, subsizes, starts];
        let contents = array_contents(Combiner::Subarray, form, &dimensions, &arrays, &[], order, old)?;
        part.build(old, contents)
    }

    /// `MPI_Type_create_darray`.
    ///
    /// # Errors
    /// An argument outside its range, a grid that does not have `size` processes, an unknown order or
    /// distribution; bounds beyond 63 bits.
    pub fn darray(form: Form, array: &Distributed<'_>, old: &TypeRef) -> Result<Arc<Self>, TypeError> {
        let dimensions = array.global_sizes.len();
        same_length("array_of_distribs", dimensions, array.distributions.len())?;
        same_length("array_of_dargs", dimensions, array.arguments.len())?;
        same_length("array_of_psizes", dimensions, array.process_sizes.len())?;
        let order = fastest_first(dimensions, array.order)?;
        let coordinates = array.coordinates()?;
        let mut part = ArrayPart::of(old);
        for dimension in order {
            array.add_dimension(&mut part, dimension, coordinates[dimension])?;
        }
        let leading = [array.size, array.rank, dimensions as i64];
        let small = [array.distributions, array.arguments, array.process_sizes];
        let contents = array_contents(
            Combiner::Darray,
            form,
            &leading,
            &[array.global_sizes],
            &small,
            array.order,
            old,
        )?;
        part.build(old, contents)
    }
}

impl Distributed<'_> {
    /// The process's coordinates in the grid.
    fn coordinates(&self) -> Result<Vec<i64>, TypeError> {
        let mut processes = 1_i64;
        for (dimension, size) in self.process_sizes.iter().enumerate() {
            in_range("array_of_psizes", dimension, *size, 1, self.size.max(1))?;
            processes = product(processes, *size)?;
        }
        if processes != self.size {
            return Err(TypeError::Grid { grid: processes, size: self.size });
        }
        not_negative("rank", self.rank)?;
        if self.rank >= self.size {
            return Err(TypeError::Rank { rank: self.rank, size: self.size });
        }
        let mut rest = self.rank;
        let mut coordinates = collected(self.process_sizes.iter().rev().map(|size| {
            let coordinate = rest % size;
            rest /= size;
            coordinate
        }))?;
        coordinates.reverse();
        Ok(coordinates)
    }

    fn add_dimension(
        &self,
        part: &mut ArrayPart,
        dimension: usize,
        coordinate: i64,
    ) -> Result<(), TypeError> {
        let (size, processes) = (self.global_sizes[dimension], self.process_sizes[dimension]);
        let argument = self.arguments[dimension];
        in_range("array_of_gsizes", dimension, size, 1, i64::MAX)?;
        let even = (size - 1) / processes + 1;
        match self.distributions[dimension] {
            DISTRIBUTE_NONE => {
                in_range("array_of_psizes", dimension, processes, 1, 1)?;
                part.places(size, 0, size)
            }
            DISTRIBUTE_BLOCK => {
                let block = if argument == DISTRIBUTE_DFLT_DARG { even } else { argument };
                // The blocks must cover the dimension.
                in_range("array_of_dargs", dimension, block, even, i64::MAX)?;
                let start = block.saturating_mul(coordinate).min(size);
                let count = block.min(size - start);
                part.places(size, if count == 0 { 0 } else { start }, count)
            }
            DISTRIBUTE_CYCLIC => {
                let block = if argument == DISTRIBUTE_DFLT_DARG { 1 } else { argument };
                in_range("array_of_dargs", dimension, block, 1, i64::MAX)?;
                // A block longer than the dimension is the same as a block of its length.
                let block = block.min(size);
                let start = product(block, coordinate)?;
                part.blocks(size, start, block, product(block, processes)?)
            }
            value => Err(TypeError::Constant { what: "array_of_distribs", value }),
        }
    }
}
