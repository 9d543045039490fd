//! Mappings of grids and graphs: never worse than none, the same every time, and good where the best is
//! known.

use heddle_topology::mapping::{self, MappingEdge};
use heddle_topology::{Location, Topology};
use proptest::prelude::*;

fn of_graph(locations: &[Location], edges: &[MappingEdge]) -> Vec<usize> {
    mapping::of_graph(locations, edges).expect("memory")
}

fn of_grid(locations: &[Location], dims: &[(usize, bool)]) -> Vec<usize> {
    mapping::of_grid(locations, dims).expect("memory")
}

/// The locations of processes that run on these hardware threads each.
fn locations(machine: &str, threads: &[Vec<usize>]) -> Vec<Location> {
    let machine: Topology = machine.parse().expect("a topology");
    threads.iter().map(|threads| Location::new(&machine, threads)).collect()
}

/// A process on each hardware thread, in an order that scatters them over the machine.
fn scattered(machine: &str, processes: usize) -> Vec<Location> {
    let threads: Vec<Vec<usize>> = (0..processes).map(|process| vec![process * 7919 % processes]).collect();
    locations(machine, &threads)
}

fn in_order(machine: &str, processes: usize) -> Vec<Location> {
    locations(machine, &(0..processes).map(|process| vec![process]).collect::<Vec<_>>())
}

/// The edges of a grid, from coordinates.
fn grid_edges(dims: &[(usize, bool)]) -> Vec<MappingEdge> {
    let coordinates = |node: usize| {
        let mut rest = node;
        let mut found: Vec<usize> =
            dims.iter().rev().map(|(size, _)| (rest % size, rest /= size).0).collect();
        found.reverse();
        found
    };
    let number =
        |at: &[usize]| at.iter().zip(dims).fold(0, |sum, (coordinate, dim)| sum * dim.0 + coordinate);
    let nodes: usize = dims.iter().map(|dim| dim.0).product();
    let mut edges = Vec::new();
    for node in 0..nodes {
        for (dimension, (size, ring)) in dims.iter().enumerate() {
            let mut at = coordinates(node);
            at[dimension] += 1;
            if at[dimension] < *size || *ring {
                at[dimension] %= size;
                edges.push(MappingEdge { ends: [node, number(&at)], weight: 1 });
            }
        }
    }
    edges
}

fn cost(locations: &[Location], edges: &[MappingEdge], mapping: &[usize]) -> u64 {
    let at = |node: usize| locations[mapping[node]];
    let costly = edges.iter().filter(|edge| edge.ends[0] != edge.ends[1]);
    costly.map(|edge| u64::from(edge.weight) * at(edge.ends[0]).distance(at(edge.ends[1])) as u64).sum()
}

/// The number of edges between different elements at the highest level.
fn cut(locations: &[Location], edges: &[MappingEdge], mapping: &[usize]) -> usize {
    let apart = |edge: &&MappingEdge| {
        let [one, other] = edge.ends.map(|node| locations[mapping[node]]);
        one.shared_levels(other) == 0
    };
    edges.iter().filter(apart).count()
}

#[test]
fn grids_are_cut_along_their_shortest_lines() {
    for (machine, dims, cut_by_hand) in [
        ("2 packages x 8 cores", &[(4, false), (4, false)][..], 4),
        ("4 packages x 4 cores", &[(4, false), (4, false)], 8),
        ("4 packages x 4 l3 x 16 cores", &[(16, false), (16, false)], 32),
        ("2 packages x 4 cores", &[(8, true)], 2),
        ("2 packages x 4 cores", &[(2, false), (4, false)], 2),
        ("2 packages x 4 cores", &[(2, false), (2, false), (2, false)], 4),
        ("2 packages x 3 cores", &[(3, false), (2, false)], 3),
    ] {
        let nodes = dims.iter().map(|(size, _)| size).product();
        for locations in [scattered(machine, nodes), in_order(machine, nodes)] {
            let mapping = of_grid(&locations, dims);
            assert_eq!(cut(&locations, &grid_edges(dims), &mapping), cut_by_hand, "{machine}: {dims:?}");
        }
    }
}

#[test]
fn inner_levels_count_too() {
    let dims = [(4, false), (4, false)];
    let locations = scattered("2 packages x 2 l3 x 4 cores", 16);
    let mapping = of_grid(&locations, &dims);
    // Blocks of 2 x 2 in halves of 2 x 4: 16 edges inside of blocks, 4 between blocks of a half, 4 between
    // halves.
    let best = 16 * 3 + 4 * 4 + 4 * 5;
    assert_eq!(cost(&locations, &grid_edges(&dims), &mapping), best);
}

#[test]
fn the_heavy_edges_of_a_graph_stay_inside() {
    // Four pairs with heavy edges, in a ring of light ones.
    let heavy = (0..4).map(|pair| MappingEdge { ends: [pair, pair + 4], weight: 1000 });
    let light = (0..8).map(|node| MappingEdge { ends: [node, (node + 1) % 8], weight: 1 });
    let edges: Vec<MappingEdge> = heavy.chain(light).collect();
    let locations = scattered("4 packages x 2 cores", 8);
    let mapping = of_graph(&locations, &edges);
    for pair in 0..4 {
        assert_eq!(locations[mapping[pair]].shared_levels(locations[mapping[pair + 4]]), 1);
    }
}

#[test]
fn without_a_choice_all_stay_where_they_are() {
    let machine = "2 packages x 2 cores";
    let everywhere = locations(machine, &vec![vec![0, 1, 2, 3]; 6]);
    let together = locations(machine, &vec![vec![1]; 6]);
    for locations in [everywhere, together, vec![Location::default(); 6]] {
        assert_eq!(of_grid(&locations, &[(3, false), (2, true)]), [0, 1, 2, 3, 4, 5]);
        assert_eq!(of_graph(&locations, &[MappingEdge { ends: [0, 5], weight: 9 }]), [0, 1, 2, 3, 4, 5]);
    }
    // The best mapping stays as it is.
    assert_eq!(of_grid(&in_order(machine, 4), &[(2, false), (2, false)]), [0, 1, 2, 3]);
    assert_eq!(of_grid(&in_order(machine, 1), &[]), [0]);
    assert_eq!(of_graph(&[], &[]), [0; 0]);
}

/// The work is bounded also for a graph in which all communicate with all.
#[test]
fn dense_and_large_graphs_end() {
    let all_with_all = |nodes: usize| {
        let pairs = (0..nodes).flat_map(|one| (0..one).map(move |other| [one, other]));
        let weight = |[one, other]: [usize; 2]| (one * 31 + other * 17) as u32 % 97;
        pairs.map(|ends| MappingEdge { ends, weight: weight(ends) }).collect::<Vec<_>>()
    };
    let edges = all_with_all(256);
    let locations = scattered("4 packages x 4 l3 x 16 cores", 256);
    let identity: Vec<usize> = (0..256).collect();
    assert!(cost(&locations, &edges, &of_graph(&locations, &edges)) < cost(&locations, &edges, &identity));
    let most = MappingEdge { ends: [0, 1], weight: u32::MAX };
    assert_eq!(of_graph(&scattered("2 packages x 2 cores", 4), &[most; 1000]).len(), 4);
    assert_eq!(of_grid(&scattered("8 packages x 128 cores", 1024), &[(32, true), (32, true)]).len(), 1024);
}

/// Machines, with sets of hardware threads: one, some, or none that is known.
fn places() -> impl Strategy<Value = Vec<Location>> {
    let machine = prop_oneof![
        Just("2 packages x 4 cores"),
        Just("3 packages x 2 l3 x 2 cores x 2 threads"),
        Just("24 cores"),
        Just("2 packages x 2 numa x 2 l3 x 2 cores x 2 threads"),
    ];
    let threads = prop_oneof![
        8 => (0usize..24).prop_map(|thread| vec![thread]),
        1 => (0usize..23).prop_map(|thread| vec![thread, thread + 1]),
        1 => Just(Vec::new()),
    ];
    (machine, proptest::collection::vec(threads, 1..24))
        .prop_map(|(machine, threads)| locations(machine, &threads))
}

fn check(locations: &[Location], edges: &[MappingEdge], mapping: &[usize]) -> Result<(), TestCaseError> {
    let identity: Vec<usize> = (0..locations.len()).collect();
    let mut sorted = mapping.to_vec();
    sorted.sort_unstable();
    prop_assert_eq!(&sorted, &identity, "each process takes a node");
    let (found, without) = (cost(locations, edges, mapping), cost(locations, edges, &identity));
    prop_assert!(found < without || mapping == identity, "{found} is not less than {without}");
    Ok(())
}

proptest! {
    #[test]
    fn graphs_never_cost_more(
        (locations, edges) in places().prop_flat_map(|locations| {
            let nodes = locations.len();
            let edge = (0..nodes, 0..nodes, prop_oneof![0u32..5, Just(u32::MAX)])
                .prop_map(|(one, other, weight)| MappingEdge { ends: [one, other], weight });
            (Just(locations), proptest::collection::vec(edge, 0..60))
        })
    ) {
        let mapping = of_graph(&locations, &edges);
        check(&locations, &edges, &mapping)?;
        prop_assert_eq!(of_graph(&locations, &edges), mapping);
    }

    #[test]
    fn grids_never_cost_more(
        places in proptest::collection::vec(0usize..24, 48),
        dims in proptest::collection::vec((1usize..5, any::<bool>()), 0..4)
            .prop_filter("small", |dims| dims.iter().map(|dim| dim.0).product::<usize>() <= 48),
        fine in any::<bool>(),
    ) {
        let nodes = dims.iter().map(|dim| dim.0).product();
        let machine = if fine { "3 packages x 2 l3 x 2 cores x 2 threads" } else { "2 packages x 12 cores" };
        let threads: Vec<Vec<usize>> = places[..nodes].iter().map(|thread| vec![*thread]).collect();
        let locations = locations(machine, &threads);
        let mapping = of_grid(&locations, &dims);
        check(&locations, &grid_edges(&dims), &mapping)?;
        prop_assert_eq!(of_grid(&locations, &dims), mapping);
    }
}
