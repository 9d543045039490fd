//! Grids: their edges, and their nodes in blocks.

use super::edges::MappingEdge;

/// The edges of a grid, whose dimensions have a number of nodes and are rings or not.
pub(super) fn edges(dims: &[(usize, bool)]) -> Vec<MappingEdge> {
    let nodes: usize = dims.iter().map(|(size, _)| size).product();
    let mut edges = Vec::new();
    let mut stride = nodes;
    for (size, ring) in dims {
        stride /= size;
        for node in 0..nodes {
            let next = match node / stride % size {
                coordinate if coordinate + 1 < *size => node + stride,
                coordinate if *ring => node - coordinate * stride,
                _ => continue,
            };
            edges.push(MappingEdge { ends: [node, next], weight: 1 });
        }
    }
    edges
}

/// The nodes of a grid in blocks of the first size, inside of which they are in blocks of the next, and so
/// on. A size that does not divide the grid is left out.
pub(super) fn in_blocks(dims: &[usize], sizes: &[usize]) -> Vec<usize> {
    let mut order = Vec::with_capacity(dims.iter().product());
    add(&mut order, &strides(dims), (0, dims), sizes);
    order
}

/// How far apart the nodes are that follow each other in a dimension.
fn strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; dims.len()];
    for dimension in (1..dims.len()).rev() {
        strides[dimension - 1] = strides[dimension] * dims[dimension];
    }
    strides
}

/// Adds the nodes of a region, which has its first node and its dimensions.
fn add(order: &mut Vec<usize>, strides: &[usize], region: (usize, &[usize]), sizes: &[usize]) {
    let (first, dims) = region;
    let Some((size, inner)) = sizes.split_first() else {
        order.extend(corners(strides, region, &vec![1; dims.len()]));
        return;
    };
    match block(dims, *size) {
        Some((block, _)) if block != dims => {
            for corner in corners(strides, region, &block) {
                add(order, strides, (corner, &block), inner);
            }
        }
        _ => add(order, strides, (first, dims), inner),
    }
}

/// The first nodes of the blocks with these dimensions in a region, in row-major order.
fn corners(strides: &[usize], (first, dims): (usize, &[usize]), block: &[usize]) -> Vec<usize> {
    let mut corners = vec![first];
    for ((stride, dim), step) in strides.iter().zip(dims).zip(block) {
        let along = |corner: &usize| {
            let corner = *corner;
            (0..*dim).step_by(*step).map(move |coordinate| corner + coordinate * stride)
        };
        corners = corners.iter().flat_map(along).collect();
    }
    corners
}

/// The dimensions of a block with `size` nodes that divides a region and cuts the fewest edges, and how many
/// it cuts for each node; `None` if no block divides the region.
fn block(dims: &[usize], size: usize) -> Option<(Vec<usize>, f64)> {
    let Some((dim, rest)) = dims.split_first() else {
        return (size == 1).then(|| (Vec::new(), 0.0));
    };
    let lengths = (1..=*dim).filter(|length| dim.is_multiple_of(*length) && size.is_multiple_of(*length));
    let blocks = lengths.filter_map(|length| {
        let (inner, sides) = block(rest, size / length)?;
        // Of the edges along this dimension, the part that is cut between blocks.
        let side = 1.0 / length as f64 - 1.0 / *dim as f64;
        Some(([vec![length], inner].concat(), side + sides))
    });
    blocks.min_by(|(_, one), (_, other)| one.total_cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_its_edges() {
        let ends = |dims: &[(usize, bool)]| edges(dims).iter().map(|edge| edge.ends).collect::<Vec<_>>();
        assert_eq!(ends(&[(2, false), (2, false)]), [[0, 2], [1, 3], [0, 1], [2, 3]]);
        assert_eq!(ends(&[(3, true)]), [[0, 1], [1, 2], [2, 0]]);
        assert_eq!(ends(&[(1, false), (2, false), (1, false)]), [[0, 1]]);
        assert_eq!(ends(&[]), [[0; 2]; 0]);
    }

    #[test]
    fn blocks_are_as_square_as_can_be() {
        assert_eq!(block(&[4, 4], 4).expect("divides").0, [2, 2]);
        assert_eq!(block(&[8, 2], 4).expect("divides").0, [2, 2]);
        assert_eq!(block(&[4, 4, 4], 16).expect("divides").0, [2, 2, 4]);
        assert_eq!(block(&[9, 5], 4), None);
        assert_eq!(in_blocks(&[4, 4], &[4]), [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]);
        assert_eq!(in_blocks(&[2, 4], &[8, 4, 2]), [0, 1, 4, 5, 2, 3, 6, 7]);
        assert_eq!(in_blocks(&[5], &[2, 1]), [0, 1, 2, 3, 4]);
        assert_eq!(in_blocks(&[], &[1]), [0]);
    }
}
