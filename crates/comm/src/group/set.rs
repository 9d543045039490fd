//! Groups as sets (MPI 5.0, section 7.3.2). Results keep the order of the first operand; a union appends the
//! members that only the second one has. A result is in the session of its operands.

use super::{Group, gathered};
use crate::error::Result;
use heddle_spec::constants as mpi;

impl Group {
    fn contains(&self, world: u32) -> bool {
        self.rank_of(world as usize).is_some()
    }

    /// All members of this group, then the members that only the other one has.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`. The same holds for the other two.
    pub fn union(&self, other: &Group) -> Result<Group> {
        let added = other.iter().filter(|&world| !self.contains(world));
        let of = if self.session().is_some() { self } else { other };
        Ok(of.derived(gathered(self.size() + other.size(), self.iter().chain(added))?))
    }

    /// The members that are in the other group too.
    ///
    /// # Errors
    /// See [`Group::union`].
    pub fn intersection(&self, other: &Group) -> Result<Group> {
        let common = self.iter().filter(|&world| other.contains(world));
        Ok(self.derived(gathered(self.size().min(other.size()), common)?))
    }

    /// The members that are not in the other group.
    ///
    /// # Errors
    /// See [`Group::union`].
    pub fn difference(&self, other: &Group) -> Result<Group> {
        let rest = self.iter().filter(|&world| !other.contains(world));
        Ok(self.derived(gathered(self.size(), rest)?))
    }

    /// Returns true if every member is in the other group.
    pub fn is_within(&self, other: &Group) -> bool {
        self.iter().all(|world| other.contains(world))
    }

    /// `MPI_IDENT` for the same members in the same order, `MPI_SIMILAR` for another
    /// order, else `MPI_UNEQUAL`.
    pub fn compare(&self, other: &Group) -> i32 {
        if self == other {
            mpi::MPI_IDENT
        } else if self.size() == other.size() && self.is_within(other) {
            mpi::MPI_SIMILAR
        } else {
            mpi::MPI_UNEQUAL
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some_group() -> impl Strategy<Value = Vec<u32>> {
        let ordered = proptest::sample::subsequence((0..24).collect::<Vec<u32>>(), 0..=24);
        (ordered.clone().prop_shuffle(), ordered, any::<bool>())
            .prop_map(|(shuffled, ordered, mixed)| if mixed { shuffled } else { ordered })
    }

    proptest! {
        #[test]
        fn sets_agree_with_a_naive_model(a in some_group(), b in some_group()) {
            let (x, y) = (Group::from_world_ranks(a.clone()), Group::from_world_ranks(b.clone()));
            let mut union = a.clone();
            union.extend(b.iter().filter(|member| !a.contains(member)));
            prop_assert_eq!(x.union(&y).expect("memory").world_ranks(), union);
            let (common, rest): (Vec<u32>, Vec<u32>) = a.iter().partition(|member| b.contains(member));
            prop_assert_eq!(x.intersection(&y).expect("memory").world_ranks(), common);
            prop_assert_eq!(x.difference(&y).expect("memory").world_ranks(), rest);
            let sorted = |ranks: &[u32]| { let mut ranks = ranks.to_vec(); ranks.sort_unstable(); ranks };
            let want = if a == b {
                mpi::MPI_IDENT
            } else if sorted(&a) == sorted(&b) {
                mpi::MPI_SIMILAR
            } else {
                mpi::MPI_UNEQUAL
            };
            prop_assert_eq!(x.compare(&y), want);
            prop_assert_eq!(x.compare(&x.clone()), mpi::MPI_IDENT);
        }
    }
}
