//! Tests of the mapping function: it is even, the same in all processes, and depends
//! on nothing but the hints.

use super::*;
use proptest::prelude::*;

const BOTH: VniChoice = VniChoice { vni: None, by_tag: true, by_source: true };

fn context(choice: VniChoice, number: u64, vnis: usize) -> u64 {
    context_id(3, choice.number_from(number, vnis), choice)
}

fn vni(context: u64, source: i32, tag: i32, vnis: usize) -> u32 {
    sharded_vni(default_vni(context, vnis), context, (source, tag), vnis as u32)
}

/// Counts the pairs on each VNI; returns the smallest and the largest number.
fn shares(pairs: impl Iterator<Item = (i32, i32)>, choice: VniChoice, vnis: usize) -> (usize, usize) {
    let context = context(choice, 5, vnis);
    let mut counts = vec![0; vnis];
    pairs.for_each(|(source, tag)| counts[vni(context, source, tag, vnis) as usize] += 1);
    (counts.iter().copied().min().unwrap_or(0), counts.iter().copied().max().unwrap_or(0))
}

fn choice() -> impl Strategy<Value = VniChoice> {
    (prop::option::of(0u32..64), any::<bool>(), any::<bool>())
        .prop_map(|(vni, by_tag, by_source)| VniChoice { vni, by_tag, by_source })
}

#[test]
fn tags_and_sources_in_a_row_are_on_vnis_in_a_row() {
    for vnis in [1, 2, 3, 4, 16, 64] {
        let (by_tag, by_source) =
            (VniChoice { by_source: false, ..BOTH }, VniChoice { by_tag: false, ..BOTH });
        let first = |n: usize| 0..n as i32;
        assert_eq!(shares(first(vnis).map(|tag| (7, tag)), by_tag, vnis), (1, 1), "{vnis}");
        assert_eq!(shares(first(vnis).map(|tag| (7, tag)), BOTH, vnis), (1, 1), "{vnis}");
        assert_eq!(shares(first(vnis).map(|source| (source, 7)), by_source, vnis), (1, 1), "{vnis}");
    }
}

#[test]
fn messages_are_sharded_evenly_whatever_the_tags_differ_by() {
    const TAGS: i32 = 4096;
    for vnis in [2, 3, 4, 5, 8, 15, 16, 64] {
        let even = TAGS as usize / vnis;
        for stride in [1, 2, 3, 5, 7, 10, 15, 16, 31, 63, 64, 100, 256, 1000, 4096, 65536] {
            let tags = (0..TAGS).map(|tag| (0, tag * stride));
            let diagonal = (0..TAGS).map(|tag| (tag, tag * stride));
            for (what, (fewest, most)) in [
                ("tags", shares(tags, VniChoice { by_source: false, ..BOTH }, vnis)),
                ("both", shares(diagonal, BOTH, vnis)),
            ] {
                assert!(
                    fewest * 2 >= even && most <= even * 2,
                    "{what}: {vnis} VNIs, stride {stride}: {fewest} to {most}"
                );
            }
        }
    }
}

#[test]
fn collective_messages_stay_on_the_default_vni() {
    let context = context(BOTH, 9, 4);
    for plane in [1, 2] {
        assert!((0..100).all(|tag| vni(context | plane, tag, tag, 4) == default_vni(context, 4)));
    }
}

proptest! {
    #[test]
    fn a_choice_survives_a_message(choice in choice()) {
        prop_assert_eq!(VniChoice::from_word(choice.to_word()), choice);
    }

    #[test]
    fn all_agree_on_the_same_in_whatever_order(choices in prop::collection::vec(choice(), 1..6), turn in 0usize..6) {
        let agree = |choices: &[VniChoice]| choices.iter().copied().reduce(VniChoice::agreed);
        let mut turned = choices.clone();
        turned.rotate_left(turn % choices.len());
        let halves = choices.split_at(choices.len() / 2);
        let agreed = agree(&choices);
        prop_assert_eq!(agree(&turned), agreed);
        if let (Some(left), Some(right)) = (agree(halves.0), agree(halves.1)) {
            prop_assert_eq!(Some(left.agreed(right)), agreed);
        }
        // No program is bound to a hint that it did not give.
        let common = agreed.unwrap_or_default();
        prop_assert!(choices.iter().all(|choice| choice.agreed(common) == common));
    }

    #[test]
    fn a_context_says_what_was_chosen(choice in choice(), next in 0u64..1 << 30, vnis in 1usize..=64) {
        let choice = VniChoice { vni: choice.vni.map(|vni| vni % vnis as u32), ..choice };
        let number = choice.number_from(next, vnis);
        prop_assert!((next..next + vnis as u64).contains(&number));
        let context = context_id(77, number, choice);
        prop_assert_eq!(VniChoice::in_force(context, vnis), choice);
        prop_assert_eq!(context >> LEADER, 77);
    }

    #[test]
    fn a_vni_depends_on_what_was_chosen_only(
        choice in choice(),
        number in 0u64..1000,
        vnis in 1usize..=64,
        (source, tag) in (0..i32::MAX, 0..i32::MAX),
        (other_source, other_tag) in (0..i32::MAX, 0..i32::MAX),
    ) {
        let choice = VniChoice { vni: choice.vni.map(|vni| vni % vnis as u32), ..choice };
        let context = context(choice, number, vnis);
        let here = vni(context, source, tag, vnis);
        prop_assert!((here as usize) < vnis);
        prop_assert!(choice.vni.is_none_or(|named| named == here));
        prop_assert!(choice.by_source || vni(context, other_source, tag, vnis) == here);
        prop_assert!(choice.by_tag || vni(context, source, other_tag, vnis) == here);
    }
}
