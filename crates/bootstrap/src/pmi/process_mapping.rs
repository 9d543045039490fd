//! The launcher's words on which ranks it has started on which node (`PMI_process_mapping`):
//! `(vector,(0,2,3),(2,1,1))` has blocks of a first node, a number of nodes, and a number of ranks on each.
//! The ranks take the places in this order, and begin again where the blocks end.

/// The ranks on the node of `rank`, in ascending order; `None` if the words say nothing that can be read.
pub(super) fn ranks_beside(words: &str, rank: u32, size: u32) -> Option<Vec<u32>> {
    let nodes = nodes(words)?;
    let node_of = |rank: u32| nodes[rank as usize % nodes.len()];
    Some((0..size).filter(|&other| node_of(other) == node_of(rank)).collect())
}

/// The node of each place.
fn nodes(words: &str) -> Option<Vec<u32>> {
    let blocks = words.trim().strip_prefix("(vector,")?.strip_suffix(')')?;
    let mut nodes = Vec::new();
    for block in blocks.trim_matches(['(', ')']).split("),(") {
        let mut numbers = block.split(',').map(|number| number.trim().parse::<u32>());
        let mut next = || numbers.next()?.ok();
        let (first, count, ranks) = (next()?, next()?, next()?);
        if u64::from(count) * u64::from(ranks) > 1 << 24 {
            return None;
        }
        let each = first..first.checked_add(count)?;
        nodes.extend(each.flat_map(|node| (0..ranks).map(move |_| node)));
    }
    (!nodes.is_empty()).then_some(nodes)
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
        assert_eq!(ranks_beside("(vector,(0,2,1))", 1, 5), Some(vec![1, 3]));
        assert_eq!(ranks_beside("(vector,(0,1,4))", 1, 3), Some(vec![0, 1, 2]));
    }

    #[test]
    fn other_words_say_nothing() {
        let many = "(vector,(0,65536,65536))";
        for words in
            ["", "(vector)", "(vector,)", "(vector,(0,1))", "(vector,(a,1,1))", "(vector,(0,0,1))", many]
        {
            assert_eq!(ranks_beside(words, 0, 2), None, "{words}");
        }
    }
}
