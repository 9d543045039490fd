//! Combinations of parts for tests: few, but with every pair of values that makes sense together.

use super::model::{Model, PARTS};
use super::setting::About;
use std::collections::BTreeSet;

/// A part's value: the index of the part, and of the value among its [`About::examples`].
type PartValue = (usize, usize);

/// The number of random combinations that are tried for each that is taken.
const CANDIDATES: usize = 64;

/// The number of rounds without anything new after which the search ends: the missing pairs
/// then make no sense together.
const FRUITLESS: usize = 64;

/// Combinations, each as environment variables with their values, which together contain every pair of values
/// of different parts that some sensible model has. A part may also be left out. `seed` chooses other
/// combinations with the same property.
#[must_use]
pub fn pairwise(seed: u64) -> Vec<Vec<(&'static str, String)>> {
    let examples: Vec<_> = PARTS.iter().map(|part| (part.about.examples)()).collect();
    let mut random = Random(seed);
    let mut seen = BTreeSet::new();
    let mut combinations = Vec::new();
    let mut fruitless = 0;
    while fruitless < FRUITLESS {
        let candidates = (0..CANDIDATES).filter_map(|_| random.combination(&examples));
        let news = |choices: &Vec<PartValue>| pairs(choices).filter(|pair| !seen.contains(pair)).count();
        match candidates.map(|choices| (news(&choices), choices)).max() {
            Some((1.., choices)) => {
                seen.extend(pairs(&choices));
                let name = |(part, value): &PartValue| {
                    (PARTS[*part].about.variable, examples[*part][*value].clone())
                };
                combinations.push(choices.iter().map(name).collect());
                fruitless = 0;
            }
            _ => fruitless += 1,
        }
    }
    combinations
}

/// Every two of a combination's values, and every single one.
fn pairs(choices: &[PartValue]) -> impl Iterator<Item = (PartValue, PartValue)> {
    choices.iter().enumerate().flat_map(|(at, one)| choices[at..].iter().map(|other| (*one, *other)))
}

/// Numbers that only need to differ (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % bound as u64) as usize
    }

    /// A combination that makes sense, if this attempt finds one.
    fn combination(&mut self, examples: &[Vec<String>]) -> Option<Vec<PartValue>> {
        let mut choices = Vec::new();
        for (part, values) in examples.iter().enumerate() {
            // One more than there are values: the last one leaves the part out.
            let value = self.below(values.len() + 1);
            if value < values.len() {
                choices.push((part, value));
            }
        }
        let choose = |choices: &[PartValue]| {
            Model::choose(None, |part: &About| {
                let found = choices.iter().find(|(index, _)| PARTS[*index].about.variable == part.variable);
                found.map(|(index, value)| examples[*index][*value].clone())
            })
        };
        // A part that would change nothing is left out: with it, hardly any combination would make sense.
        let always_act: Vec<PartValue> =
            choices.iter().copied().filter(|(part, _)| PARTS[*part].acts_under.is_none()).collect();
        let model = choose(&always_act).ok()?;
        choices.retain(|(part, _)| PARTS[*part].unmet(&model).is_none());
        choose(&choices).is_ok().then_some(choices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_appears_and_every_combination_makes_sense() {
        let combinations = pairwise(1);
        assert!(combinations.len() < 200, "{}", combinations.len());
        for part in PARTS {
            let variable = part.about.variable;
            for value in (part.about.examples)() {
                let example = (variable, value);
                assert!(combinations.iter().any(|combination| combination.contains(&example)), "{example:?}");
            }
        }
        for combination in combinations {
            let value = |part: &About| {
                combination.iter().find(|(name, _)| *name == part.variable).map(|(_, value)| value.clone())
            };
            assert!(Model::choose(None, value).is_ok(), "{combination:?}");
        }
    }
}
