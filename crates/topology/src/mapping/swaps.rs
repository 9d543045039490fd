//! Swaps of the processes of two nodes that lower the cost.

use super::edges::{Adjacency, mapped};
use crate::location::Location;

/// The most edges that are looked at. The last of the work is left undone in a graph for which that is not
/// enough.
const MOST_EDGES: usize = 1 << 21;

/// Swaps the processes of two nodes wherever that lowers the cost, until no such swap is left or the work is
/// done.
pub(super) fn refine(adjacency: &Adjacency, locations: &[Location], mapping: &mut [usize]) {
    let mut at = mapped(locations, mapping);
    let mut edges = 0;
    let mut improved = true;
    while std::mem::take(&mut improved) {
        for one in 0..at.len() {
            for other in one + 1..at.len() {
                if at[one] == at[other] {
                    continue;
                }
                edges += 2 * (adjacency.of(one).len() + adjacency.of(other).len()) + 1;
                if edges > MOST_EDGES {
                    return;
                }
                let cost = |here: Location, there: Location| {
                    let ones = adjacency.cost_of(one, here, &at, other);
                    ones.saturating_add(adjacency.cost_of(other, there, &at, one))
                };
                if cost(at[other], at[one]) < cost(at[one], at[other]) {
                    at.swap(one, other);
                    mapping.swap(one, other);
                    improved = true;
                }
            }
        }
    }
}
