//! Groups made of chosen members of another one: lists of ranks, and ranges `(first, last, stride)`
//! (MPI 5.0, section 7.3.2).

use super::{Group, gathered};
use crate::error::{Error, Result};
use heddle_platform::allocate::{filled, push};
use heddle_spec::constants as mpi;

impl Group {
    /// The members with these ranks, in the order of the list.
    ///
    /// # Errors
    /// `MPI_ERR_RANK` if there is no such rank, or if one is listed twice; `MPI_ERR_NO_MEM`.
    pub fn include(&self, ranks: &[i32]) -> Result<Group> {
        self.chosen(ranks)?;
        let world = |&rank: &i32| self.world_rank(rank as usize).map(|world| world as u32);
        Ok(self.derived(gathered(ranks.len(), ranks.iter().filter_map(world))?))
    }

    /// The members whose ranks are not listed, in their order here.
    ///
    /// # Errors
    /// The same as for [`Group::include`].
    pub fn exclude(&self, ranks: &[i32]) -> Result<Group> {
        let chosen = self.chosen(ranks)?;
        let rest = self.iter().zip(chosen).filter(|(_, chosen)| !chosen).map(|(world, _)| world);
        Ok(self.derived(gathered(self.size() - ranks.len(), rest)?))
    }

    /// The members whose ranks the ranges list, in that order.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a stride of zero; `MPI_ERR_RANK` if there is no such rank,
    /// or if one is listed twice; `MPI_ERR_NO_MEM`.
    pub fn include_ranges(&self, ranges: &[[i32; 3]]) -> Result<Group> {
        let ranks = self.ranks_of_ranges(ranges)?;
        self.include(&ranks)
    }

    /// The members whose ranks the ranges do not list, in their order here.
    ///
    /// # Errors
    /// The same as for [`Group::include_ranges`].
    pub fn exclude_ranges(&self, ranges: &[[i32; 3]]) -> Result<Group> {
        let ranks = self.ranks_of_ranges(ranges)?;
        self.exclude(&ranks)
    }

    /// For each rank whether it is listed.
    fn chosen(&self, ranks: &[i32]) -> Result<Vec<bool>> {
        let mut chosen = filled(self.size(), false)?;
        for &rank in ranks {
            let seen = chosen.get_mut(rank as usize).ok_or_else(|| self.bad_rank(rank))?;
            if std::mem::replace(seen, true) {
                let message = format!("rank {rank} is listed twice; the ranks of a list must be distinct");
                return Err(Error::new(mpi::MPI_ERR_RANK, message));
            }
        }
        Ok(chosen)
    }

    /// The ranks of ranges; of more than there are, as many as show that one is listed twice.
    fn ranks_of_ranges(&self, ranges: &[[i32; 3]]) -> Result<Vec<i32>> {
        let mut ranks = Vec::new();
        for &[first, last, stride] in ranges {
            if stride == 0 {
                let message = format!("the range ({first}, {last}, 0) has stride zero");
                return Err(Error::new(mpi::MPI_ERR_ARG, message));
            }
            let (mut rank, last, stride) = (i64::from(first), i64::from(last), i64::from(stride));
            while if stride > 0 { rank <= last } else { rank >= last } {
                if self.world_rank(rank as usize).is_none() {
                    return Err(self.bad_rank(rank as i32));
                }
                if ranks.len() > self.size() {
                    return Ok(ranks);
                }
                push(&mut ranks, rank as i32)?;
                rank += stride;
            }
        }
        Ok(ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eight() -> Group {
        Group::from_world_ranks((10..18).collect())
    }

    fn ranks(group: Result<Group>) -> Vec<u32> {
        group.expect("valid").iter().map(|world| world - 10).collect()
    }

    #[test]
    fn lists() {
        assert_eq!(ranks(eight().include(&[5, 0, 7])), [5, 0, 7]);
        assert_eq!(ranks(eight().include(&[])), [0; 0]);
        assert_eq!(ranks(eight().exclude(&[5, 0, 7])), [1, 2, 3, 4, 6]);
        for wrong in [&[8][..], &[-1], &[0, 0], &[mpi::MPI_PROC_NULL]] {
            for result in [eight().include(wrong), eight().exclude(wrong)] {
                assert_eq!(result.expect_err("wrong ranks").code(), mpi::MPI_ERR_RANK);
            }
        }
    }

    #[test]
    fn ranges() {
        let ranges = [[6, 0, -3], [1, 1, 1], [4, 7, 3]];
        assert_eq!(ranks(eight().include_ranges(&ranges)), [6, 3, 0, 1, 4, 7]);
        assert_eq!(ranks(eight().exclude_ranges(&ranges)), [2, 5]);
        assert_eq!(ranks(eight().include_ranges(&[[3, 2, 1], [2, 3, -1]])), [0; 0]);
        for (wrong, class) in [
            ([0, 3, 0], mpi::MPI_ERR_ARG),
            ([0, 8, 1], mpi::MPI_ERR_RANK),
            ([7, -1, -1], mpi::MPI_ERR_RANK),
            ([0, i32::MAX, 1], mpi::MPI_ERR_RANK),
        ] {
            assert_eq!(eight().include_ranges(&[wrong]).expect_err("wrong").code(), class, "{wrong:?}");
            assert_eq!(eight().exclude_ranges(&[wrong]).expect_err("wrong").code(), class, "{wrong:?}");
        }
        let twice = eight().include_ranges(&[[0, 3, 1], [2, 4, 2]]);
        assert_eq!(twice.expect_err("rank 2 twice").code(), mpi::MPI_ERR_RANK);
        let ranks = eight().ranks_of_ranges(&[[0, 7, 1]; 1000]);
        assert_eq!(ranks.expect("valid").len(), 9, "a list of so many ranks is longer than it must be");
    }
}
