//! The nodes of a graph in an order in which neighbours come close together: each next one is the node with
//! the strongest edges to those that are in the same element of the machine already, counted once for each
//! level.

use super::edges::Adjacency;
use crate::location::{LEVELS, Location};
use std::cmp::Reverse;

/// The nodes in the order in which they take locations, of which those in one element follow each other.
pub(super) fn order(adjacency: &Adjacency, locations: &[Location]) -> Vec<usize> {
    let nodes = adjacency.nodes();
    // For each level the weight of a node's edges into its element that is being filled; first the whole
    // machine.
    let mut pull = vec![vec![0u64; nodes]; LEVELS + 1];
    let mut all_pull = vec![0u64; nodes];
    // The weight of a node's edges to nodes that have no location yet. The fewer, the less is torn apart.
    let weight = |(_, weight): &(usize, u32)| u64::from(*weight);
    let mut open: Vec<u64> = (0..nodes).map(|node| adjacency.of(node).iter().map(weight).sum()).collect();
    let mut left: Vec<usize> = (0..nodes).collect();
    let mut order = Vec::with_capacity(nodes);
    for (step, location) in locations.iter().enumerate() {
        let shared = step.checked_sub(1).map_or(LEVELS, |before| location.shared_levels(locations[before]));
        for level in &mut pull[shared + 1..] {
            for (sum, here) in all_pull.iter_mut().zip(level) {
                *sum -= std::mem::take(here);
            }
        }
        let rank = |place: &usize| {
            let node = left[*place];
            (all_pull[node], Reverse(open[node]), Reverse(node))
        };
        let Some(place) = (0..left.len()).max_by_key(rank) else { break };
        let node = left.swap_remove(place);
        order.push(node);
        for (neighbour, weight) in adjacency.of(node) {
            let weight = u64::from(*weight);
            open[*neighbour] -= weight;
            all_pull[*neighbour] += weight * pull.len() as u64;
            for level in &mut pull {
                level[*neighbour] += weight;
            }
        }
    }
    order
}
