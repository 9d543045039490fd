//! The launcher's words on which ranks it has started on which node (`PMI_process_mapping`):
//! `(vector,(0,2,3),(2,1,1))` has blocks of a first node, a number of nodes, and a number of ranks on each.
//! Hydra abbreviates `(2,1,1)` to `2`, and `(0,2,1),(0,2,1)` to `[(0,2,1)]x2`. The ranks take the places in
//! this order, and begin again where the blocks end.

/// The name of these words.
pub(super) const NAME: &str = "PMI_process_mapping";

/// The ranks on the node of `rank`, in ascending order; `None` if the words say nothing that can be read.
pub(super) fn ranks_beside(words: &str, rank: u32, size: u32) -> Option<Vec<u32>> {
    let node_of = node_of(words)?;
    Some((0..size).filter(|&other| node_of(other) == node_of(rank)).collect())
}

/// The node of each of these ranks; `None` if the words say nothing that can be read.
pub(super) fn nodes_of(words: &str, ranks: &[u32]) -> Option<Vec<u32>> {
    let node_of = node_of(words)?;
    Some(ranks.iter().map(|&rank| node_of(rank)).collect())
}

fn node_of(words: &str) -> Option<impl Fn(u32) -> u32> {
    let places = places(words)?;
    Some(move |rank: u32| places[rank as usize % places.len()])
}

/// The most places that are believed.
const MOST: usize = 1 << 24;

/// The node of each place.
fn places(words: &str) -> Option<Vec<u32>> {
    let mut rest = words.trim().strip_prefix("(vector,")?.strip_suffix(')')?;
    let (mut nodes, mut repeated) = (Vec::new(), None);
    while !rest.is_empty() {
        if let Some(blocks) = rest.strip_prefix('[') {
            (rest, repeated) = (blocks, Some(nodes.len()));
        }
        let (block, behind) = match rest.strip_prefix('(') {
            Some(inner) => inner.split_once(')')?,
            None => rest.split_at(rest.find([',', ']']).unwrap_or(rest.len())),
        };
        let mut numbers = block.split(',').map(|number| number.trim().parse::<u32>());
        let (first, count, ranks) = match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(first)), Some(Ok(count)), Some(Ok(ranks))) => (first, count, ranks),
            (Some(Ok(first)), None, None) => (first, 1, 1),
            _ => return None,
        };
        if (count as usize).checked_mul(ranks as usize)? > MOST {
            return None;
        }
        let each = first..first.checked_add(count)?;
        nodes.extend(each.flat_map(|node| (0..ranks).map(move |_| node)));
        rest = behind;
        if let (Some(behind), Some(begin)) = (rest.strip_prefix("]x"), repeated) {
            let (times, behind) = behind.split_at(behind.find(',').unwrap_or(behind.len()));
            let (times, blocks) = (times.parse::<usize>().ok()?, nodes.split_off(begin));
            if blocks.len().checked_mul(times)? > MOST {
                return None;
            }
            nodes.extend(blocks.repeat(times));
            (rest, repeated) = (behind, None);
        }
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    (repeated.is_none() && !nodes.is_empty()).then_some(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_take_places_block_by_block_and_round_again() {
        let words = "(vector,(0,2,2),(2,1,1))";
        assert_eq!(ranks_beside(words, 1, 5), Some(vec![0, 1]));
        assert_eq!(ranks_beside(words, 3, 5), Some(vec![2, 3]));
        assert_eq!(ranks_beside(words, 4, 5), Some(vec![4]));
        assert_eq!(nodes_of(words, &[5, 4, 3, 0]), Some(vec![0, 2, 1, 0]));
        assert_eq!(nodes_of("(vector,3,(0,2,2),5)", &[0, 1, 2, 3, 4, 5, 6]), Some(vec![3, 0, 0, 1, 1, 5, 3]));
        let words = "(vector,[(0,2,1),4]x2,[1]x3,(0,2,1))";
        assert_eq!(places(words), Some(vec![0, 1, 4, 0, 1, 4, 1, 1, 1, 0, 1]));
        assert_eq!(ranks_beside("(vector,(0,2,1))", 1, 5), Some(vec![1, 3]));
        assert_eq!(ranks_beside("(vector,(0,1,4))", 1, 3), Some(vec![0, 1, 2]));
    }

    #[test]
    fn other_words_say_nothing() {
        let many = "(vector,(0,65536,65536))";
        for words in [
            "",
            "(vector)",
            "(vector,)",
            "(vector,(0,1,1)x)",
            "(vector,(0,1))",
            "(vector,(a,1,1))",
            "(vector,(0,0,1))",
            "(vector,[1]x)",
            "(vector,[1]x99999999)",
            "(vector,[1,2)",
            "(vector,1]x2)",
            many,
        ] {
            assert_eq!(ranks_beside(words, 0, 2), None, "{words}");
            assert_eq!(nodes_of(words, &[0]), None, "{words}");
        }
    }
}
