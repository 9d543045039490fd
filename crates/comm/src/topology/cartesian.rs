//! Grids of processes, ranks in row-major order (MPI 5.0, section 8.5).

use super::rank::bad_rank;
use crate::error::{Error, Result};
use heddle_platform::allocate::{collected, filled, push, reserve};
use heddle_spec::constants as mpi;

/// A grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cartesian {
    /// Processes in each dimension.
    pub dims: Vec<usize>,
    /// True if each dimension is a ring.
    pub periods: Vec<bool>,
}

impl Cartesian {
    /// A grid with these dimensions.
    ///
    /// # Errors
    /// `MPI_ERR_DIMS` if a dimension is not positive or the number of processes is not representable;
    /// `MPI_ERR_NO_MEM`.
    pub fn new(dims: &[i32], periods: Vec<bool>) -> Result<Cartesian> {
        let mut size = 1i32;
        for (number, &dim) in dims.iter().enumerate() {
            if dim <= 0 {
                let message =
                    format!("dimension {number} of the grid has {dim} processes; it needs at least one");
                return Err(Error::new(mpi::MPI_ERR_DIMS, message));
            }
            size = size.checked_mul(dim).ok_or_else(|| {
                let message = format!("the first {} dimensions have more processes than can be", number + 1);
                Error::new(mpi::MPI_ERR_DIMS, message)
            })?;
        }
        Ok(Cartesian { dims: collected(dims.iter().map(|&dim| dim as usize))?, periods })
    }

    /// Number of processes.
    pub fn size(&self) -> usize {
        self.dims.iter().product()
    }

    fn place(&self, rank: i32) -> Result<usize> {
        let place = usize::try_from(rank).unwrap_or(usize::MAX);
        if place < self.size() { Ok(place) } else { Err(bad_rank(rank, self.size())) }
    }

    /// Coordinates of a rank.
    ///
    /// # Errors
    /// `MPI_ERR_RANK` if there is no such rank; `MPI_ERR_NO_MEM`.
    pub fn coords(&self, rank: i32) -> Result<Vec<i32>> {
        let mut rest = self.place(rank)?;
        let mut coords = filled(self.dims.len(), 0)?;
        for (coord, &dim) in coords.iter_mut().zip(&self.dims).rev() {
            *coord = (rest % dim) as i32;
            rest /= dim;
        }
        Ok(coords)
    }

    /// A coordinate in a dimension, brought into it if it is a ring; `None` if it is outside.
    fn inside(&self, dimension: usize, coord: i64) -> Option<usize> {
        let dim = self.dims[dimension] as i64;
        if (0..dim).contains(&coord) {
            return Some(coord as usize);
        }
        self.periods[dimension].then(|| coord.rem_euclid(dim) as usize)
    }

    /// The rank at coordinates, one for each dimension.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` if a coordinate is outside a dimension that is not periodic.
    pub fn rank(&self, coords: &[i32]) -> Result<i32> {
        let mut rank = 0;
        for (dimension, &coord) in coords.iter().enumerate() {
            let inside = self.inside(dimension, i64::from(coord)).ok_or_else(|| {
                let message = format!(
                    "coordinate {coord} is outside of dimension {dimension}, which goes from 0 to {} and is no ring",
                    self.dims[dimension] - 1
                );
                Error::new(mpi::MPI_ERR_ARG, message)
            })?;
            rank = rank * self.dims[dimension] + inside;
        }
        Ok(rank as i32)
    }

    /// The ranks from which and to which a shift goes: those `steps` before and behind `rank` in a dimension,
    /// or `MPI_PROC_NULL` where the grid ends.
    ///
    /// # Errors
    /// `MPI_ERR_DIMS` if there is no such dimension.
    pub fn shift(&self, rank: i32, dimension: i32, steps: i32) -> Result<(i32, i32)> {
        let place = self.place(rank)?;
        let number = usize::try_from(dimension).unwrap_or(usize::MAX);
        if number >= self.dims.len() {
            let message = format!("there is no dimension {dimension}: the grid has {}", self.dims.len());
            return Err(Error::new(mpi::MPI_ERR_DIMS, message));
        }
        let stride = self.dims[number + 1..].iter().product();
        Ok(self.shifted(place, number, stride, i64::from(steps)))
    }

    /// The same for one dimension, in which the ranks are `stride` apart.
    fn shifted(&self, place: usize, dimension: usize, stride: usize, steps: i64) -> (i32, i32) {
        let coord = place / stride % self.dims[dimension];
        let moved = |steps: i64| match self.inside(dimension, coord as i64 + steps) {
            None => mpi::MPI_PROC_NULL,
            Some(other) => (place - coord * stride + other * stride) as i32,
        };
        (moved(-steps), moved(steps))
    }

    /// The lower and the upper neighbour of a rank in each dimension; `MPI_PROC_NULL` where the grid ends.
    ///
    /// # Errors
    /// `MPI_ERR_RANK` if there is no such rank; `MPI_ERR_NO_MEM`.
    pub fn neighbours(&self, rank: i32) -> Result<Vec<i32>> {
        let place = self.place(rank)?;
        let mut ranks = filled(2 * self.dims.len(), 0)?;
        let mut stride = 1;
        for (dimension, ends) in ranks.as_chunks_mut().0.iter_mut().enumerate().rev() {
            *ends = self.shifted(place, dimension, stride, 1).into();
            stride *= self.dims[dimension];
        }
        Ok(ranks)
    }

    /// The grid of the dimensions that stay, and the ranks here of those that share it with `rank`, in order.
    ///
    /// # Errors
    /// `MPI_ERR_RANK` if there is no such rank; `MPI_ERR_NO_MEM`.
    pub fn sub_grid(&self, rank: i32, stays: impl Fn(usize) -> bool) -> Result<(Cartesian, Vec<i32>)> {
        let mut coords = self.coords(rank)?;
        let (mut grid, mut kept) = (Cartesian { dims: Vec::new(), periods: Vec::new() }, Vec::new());
        for dimension in (0..self.dims.len()).filter(|&dimension| stays(dimension)) {
            push(&mut kept, dimension)?;
            push(&mut grid.dims, self.dims[dimension])?;
            push(&mut grid.periods, self.periods[dimension])?;
        }
        let mut ranks = Vec::new();
        reserve(&mut ranks, grid.size())?;
        for sub_rank in 0..grid.size() as i32 {
            for (&dimension, coord) in kept.iter().zip(grid.coords(sub_rank)?) {
                coords[dimension] = coord;
            }
            ranks.push(self.rank(&coords)?);
        }
        Ok((grid, ranks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(dims: &[i32], periods: &[bool]) -> Cartesian {
        Cartesian::new(dims, periods.to_vec()).expect("valid")
    }

    proptest! {
        #[test]
        fn ranks_and_coordinates_are_two_names_of_one_thing(
            shape in proptest::collection::vec((1i32..5, any::<bool>()), 0..5),
            turns in -3i32..3,
        ) {
            let (dims, periods): (Vec<i32>, Vec<bool>) = shape.into_iter().unzip();
            let grid = grid(&dims, &periods);
            let mut naive = vec![0; dims.len()];
            for rank in 0..grid.size() as i32 {
                prop_assert_eq!(&grid.coords(rank).expect("valid"), &naive);
                let wrapped: Vec<i32> = (0..dims.len())
                    .map(|d| if periods[d] { naive[d] + turns * dims[d] } else { naive[d] })
                    .collect();
                prop_assert_eq!(grid.rank(&wrapped).expect("inside"), rank);
                let neighbours = grid.neighbours(rank).expect("valid");
                for dimension in 0..dims.len() {
                    let (from, to) = grid.shift(rank, dimension as i32, 1).expect("valid");
                    prop_assert_eq!(&neighbours[2 * dimension..][..2], &[from, to]);
                    let mut above = naive.clone();
                    above[dimension] += 1;
                    let inside = above[dimension] < dims[dimension] || periods[dimension];
                    prop_assert_eq!(to, if inside { grid.rank(&above).expect("inside") } else { mpi::MPI_PROC_NULL });
                    if to != mpi::MPI_PROC_NULL {
                        let back = grid.shift(to, dimension as i32, 1).expect("valid");
                        prop_assert_eq!(back.0, rank);
                    }
                    let at_end = naive[dimension] == 0 && !periods[dimension];
                    prop_assert_eq!(from == mpi::MPI_PROC_NULL, at_end);
                }
                // The last coordinate runs fastest.
                for dimension in (0..dims.len()).rev() {
                    naive[dimension] += 1;
                    if naive[dimension] < dims[dimension] { break; }
                    naive[dimension] = 0;
                }
            }
        }
    }

    #[test]
    fn sub_grids_are_slices() {
        let grid = grid(&[2, 3, 4], &[false, true, false]);
        let (planes, ranks) = grid.sub_grid(17, |dimension| dimension != 1).expect("valid");
        assert_eq!((planes.dims, planes.periods), (vec![2, 4], vec![false, false]));
        assert_eq!(ranks, [4, 5, 6, 7, 16, 17, 18, 19]);
        let (point, ranks) = grid.sub_grid(17, |_| false).expect("valid");
        assert_eq!((point.size(), ranks), (1, vec![17]));
    }

    #[test]
    fn wrong_coordinates_are_errors() {
        let grid = grid(&[2, 3], &[false, true]);
        for (result, class) in [
            (grid.rank(&[2, 0]).err(), mpi::MPI_ERR_ARG),
            (grid.rank(&[-1, 0]).err(), mpi::MPI_ERR_ARG),
            (grid.coords(6).err(), mpi::MPI_ERR_RANK),
            (grid.coords(-1).err(), mpi::MPI_ERR_RANK),
            (grid.shift(0, 2, 1).err(), mpi::MPI_ERR_DIMS),
            (grid.shift(0, -1, 1).err(), mpi::MPI_ERR_DIMS),
            (Cartesian::new(&[2, 0], vec![false; 2]).err(), mpi::MPI_ERR_DIMS),
            (Cartesian::new(&[1 << 16, 1 << 16], vec![false; 2]).err(), mpi::MPI_ERR_DIMS),
        ] {
            assert_eq!(result.expect("an error").code(), class);
        }
        assert_eq!(grid.shift(0, 1, i32::MIN).expect("a ring"), (2, 1));
    }
}
