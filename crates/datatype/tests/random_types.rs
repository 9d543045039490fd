//! Random datatypes against their type maps: bounds, packing in pieces, runs, element counts.

mod support;

use heddle_datatype::Run;
use proptest::prelude::*;
use support::{Map, pair};

/// A buffer that holds `count` items, and where in it offset 0 is.
fn buffer(map: &Map, count: i64) -> (Vec<u8>, usize) {
    let bytes = map.bytes(count);
    let low = bytes.iter().min().copied().unwrap_or(0).min(0);
    let high = bytes.iter().max().copied().unwrap_or(0).max(0) + 1;
    let memory = (0..high - low).map(|at| (at.wrapping_mul(2_654_435_761) >> 5) as u8).collect();
    (memory, (-low) as usize)
}

/// Cuts `len` into pieces.
fn pieces(len: usize, cuts: &[usize]) -> Vec<usize> {
    let mut left = len;
    let mut pieces = Vec::new();
    for cut in cuts.iter().cycle() {
        if left == 0 {
            break;
        }
        let piece = (1 + cut % 97).min(left);
        pieces.push(piece);
        left -= piece;
    }
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn bounds_follow_the_formulas(pair in pair()) {
        let (real, map) = (&pair.real, &pair.map);
        prop_assert_eq!(real.size(), map.size());
        prop_assert_eq!(real.lb(), map.lb());
        prop_assert_eq!(real.ub(), map.ub());
        prop_assert_eq!(real.extent(), map.extent());
        prop_assert_eq!(real.true_lb(), map.true_lb());
        prop_assert_eq!(real.true_extent(), map.true_ub() - map.true_lb());
        prop_assert_eq!(real.basic_elements(), map.elements());
        let in_order = map.bytes(3).iter().copied().eq(0..3 * map.size());
        prop_assert_eq!(real.is_contiguous(), in_order);
    }

    #[test]
    fn packing_in_pieces(pair in pair(), count in 0_i64..4, cuts in proptest::collection::vec(0_usize..500, 1..8)) {
        let (memory, zero) = buffer(&pair.map, count);
        let expected: Vec<u8> =
            pair.map.bytes(count).iter().map(|at| memory[(zero as i64 + at) as usize]).collect();
        let mut packed = vec![0; expected.len()];
        let mut cursor = heddle_datatype::Cursor::new(&pair.real, count);
        let mut at = 0;
        for piece in pieces(expected.len(), &cuts) {
            // SAFETY: the buffer holds the data of `count` items.
            let moved = unsafe { cursor.pack(memory.as_ptr().wrapping_add(zero), &mut packed[at..at + piece]) };
            prop_assert_eq!(moved, piece);
            at += piece;
        }
        prop_assert_eq!(cursor.remaining(), 0);
        // SAFETY: the buffer holds the data of `count` items.
        prop_assert_eq!(unsafe { cursor.pack(memory.as_ptr().wrapping_add(zero), &mut [0; 8]) }, 0);
        prop_assert_eq!(packed, expected);
    }

    #[test]
    fn unpacking_in_pieces_from_the_back(
        pair in pair(), count in 0_i64..4, cuts in proptest::collection::vec(0_usize..500, 1..8),
    ) {
        let bytes = pair.map.bytes(count);
        let mut once = bytes.clone();
        once.sort_unstable();
        // The result of overlapping entries is not defined.
        prop_assume!(once.windows(2).all(|two| two[0] != two[1]));
        let (source, zero) = buffer(&pair.map, count);
        let packed: Vec<u8> = bytes.iter().map(|at| source[(zero as i64 + at) as usize]).collect();
        let mut expected = vec![0xEE; source.len()];
        for at in &bytes {
            expected[(zero as i64 + at) as usize] = source[(zero as i64 + at) as usize];
        }
        let mut memory = vec![0xEE; source.len()];
        let mut end = packed.len();
        let mut cursor = heddle_datatype::Cursor::new(&pair.real, count);
        for piece in pieces(packed.len(), &cuts) {
            let start = end - piece;
            cursor.seek(start as i64);
            let to = memory.as_mut_ptr().wrapping_add(zero);
            // SAFETY: the buffer holds the data of `count` items.
            let moved = unsafe { cursor.unpack(to, &packed[start..end]) };
            prop_assert_eq!(moved, piece);
            end = start;
        }
        prop_assert_eq!(memory, expected);
    }

    #[test]
    fn runs_are_the_bytes_in_order(
        pair in pair(), count in 0_i64..4, limits in proptest::collection::vec(1_usize..300, 1..6), room in 1_usize..9,
    ) {
        let expected = pair.map.bytes(count);
        let listed = |run: Run| run.offset..run.offset + run.len as i64;
        let all: Vec<i64> = pair.real.runs(count, 0).flat_map(listed).collect();
        prop_assert_eq!(&all, &expected);
        let mut pieces = Vec::new();
        for limit in limits.iter().cycle() {
            let mut runs = [Run { offset: 0, len: 0 }; 9];
            let (filled, bytes) =
                pair.real.fill_runs(count, pieces.len() as i64, *limit, &mut runs[..room]);
            if filled == 0 {
                break;
            }
            prop_assert!(bytes <= *limit);
            prop_assert_eq!(runs[..filled].iter().map(|run| run.len).sum::<usize>(), bytes);
            pieces.extend(runs[..filled].iter().copied().flat_map(listed));
        }
        prop_assert_eq!(pieces, expected);
    }

    #[test]
    fn counts_of_received_bytes(pair in pair(), part in 0.0_f64..3.2) {
        let size = pair.map.size();
        let bytes = (size as f64 * part) as i64;
        prop_assert_eq!(pair.real.get_elements(bytes), pair.map.elements_in(bytes));
        let whole = if size == 0 { (bytes == 0).then_some(0) } else { (bytes % size == 0).then(|| bytes / size) };
        prop_assert_eq!(pair.real.get_count(bytes), whole);
    }

    #[test]
    fn a_single_run_is_where_it_is_said_to_be(pair in pair(), count in 0_i64..4) {
        if let Some((offset, len)) = pair.real.single_run(count) {
            let bytes = pair.map.bytes(count);
            prop_assert_eq!(bytes.len() as i64, len);
            if len > 0 {
                prop_assert!(bytes.iter().copied().eq(offset..offset + len));
            }
        }
    }
}
