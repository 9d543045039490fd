//! Rust text of the constants of MPICH's ABI, and of the ways between them and the standard's.

use heddle_spec::constant::ConstantKind;
use heddle_spec::foreign::{ConstantPair, PairedSection};
use std::fmt::Write;

/// Groups whose members are bits.
const BITS: [&str; 2] = ["WIN_ASSERTS", "FILE_MODES"];
/// Groups whose members are no choices of one kind.
const APART: [&str; 4] = ["VERSIONS", "SENTINELS", "LIMITS", "FORTRAN_STATUS"];
/// The number of words that predefined handles of the standard's ABI may have.
const WORDS: usize = 1024;
/// The low bits of MPICH's handles of basic datatypes tell them apart.
const BASIC: i64 = 0x7f;

pub(crate) fn mpich_constants(sections: &[PairedSection]) -> String {
    let mut out = String::new();
    let mut numbers = vec![0; WORDS];
    for section in sections {
        let PairedSection { group, kind, pairs } = section;
        match kind {
            ConstantKind::Handle(_) => {
                for pair in pairs {
                    numbers[pair.ours as usize] = pair.theirs as u32 as i32;
                }
                out += &if group == "DATATYPES" { datatypes(pairs) } else { predefined(group, pairs) };
            }
            ConstantKind::Int if BITS.contains(&group.as_str()) => out += &bits(group, pairs),
            ConstantKind::Int | ConstantKind::Enum(_) => {
                // Tools' classes are among the others.
                let pairs: Vec<ConstantPair> = match group.as_str() {
                    "ERROR_CLASSES" => sections
                        .iter()
                        .filter(|s| s.group.ends_with(group))
                        .flat_map(|s| &s.pairs)
                        .cloned()
                        .collect(),
                    _ => pairs.clone(),
                };
                if !APART.contains(&group.as_str()) {
                    let (to, from) = (format!("to_{group}"), format!("from_{group}"));
                    out += &one_of(&to, pairs.iter().map(|pair| (pair.theirs, pair.ours)));
                    out += &one_of(&from, pairs.iter().map(|pair| (pair.ours, pair.theirs)));
                }
                if group == "T_ERROR_CLASSES" {
                    continue;
                }
                for ConstantPair { name, theirs, .. } in &pairs {
                    _ = writeln!(out, "pub(crate) const {name}: c_int = {theirs};");
                }
            }
            ConstantKind::Address | ConstantKind::Offset => {}
        }
    }
    let mut pairs = sections.iter().flat_map(|section| &section.pairs);
    let world = pairs.find(|pair| pair.name == "MPI_COMM_WORLD").map_or(0, |pair| pair.theirs);
    out += &format!("pub(crate) const WORLD: c_int = {world};\n");
    out + &format!("pub(crate) static NUMBERS: [c_int; {WORDS}] = {numbers:?};\n")
}

/// A match of numbers with the words of predefined handles.
fn predefined(group: &str, pairs: &[ConstantPair]) -> String {
    let mut arms = String::new();
    for pair in pairs {
        _ = write!(arms, "{} => {}, ", pair.theirs as u32 as i32, pair.ours);
    }
    format!(
        "#[inline(always)]\npub(crate) fn word_of_{group}(number: c_int) -> usize {{ match number {{ {arms}_ => 0 }} }}\n"
    )
}

/// The basic datatypes by their low bits, and a match for the others, which are pairs.
fn datatypes(pairs: &[ConstantPair]) -> String {
    let basic = |pair: &&ConstantPair| pair.theirs >> 24 == 0x4c;
    let mut table = vec![(0, 0); BASIC as usize + 1];
    for pair in pairs.iter().filter(basic) {
        table[(pair.theirs & BASIC) as usize] = (pair.theirs as i32, pair.ours);
    }
    let others: Vec<ConstantPair> = pairs.iter().filter(|pair| !basic(pair)).cloned().collect();
    format!(
        "pub(crate) static BASIC: [(c_int, u16); {}] = {table:?};\n{}",
        table.len(),
        predefined("PAIRS", &others)
    )
}

/// Each of these constants has another value; all others stay, unless they would become one of these.
fn one_of(name: &str, values: impl Iterator<Item = (i64, i64)>) -> String {
    let values: Vec<(i64, i64)> = values.collect();
    let arms: String = values.iter().map(|(from, to)| format!("{from} => {to}, ")).collect();
    let taken = values.iter().filter(|(_, to)| values.iter().all(|(from, _)| from != to));
    let taken: String = taken.map(|(_, to)| format!("{to} => c_int::MIN, ")).collect();
    format!("pub(crate) fn {name}(value: c_int) -> c_int {{ match value {{ {arms}{taken}_ => value }} }}\n")
}

fn bits(group: &str, pairs: &[ConstantPair]) -> String {
    let mut out = String::new();
    for (name, of) in [("to", false), ("from", true)] {
        let (mut known, mut sum) = (0, String::new());
        for pair in pairs {
            let (from, to) = if of { (pair.ours, pair.theirs) } else { (pair.theirs, pair.ours) };
            known |= from;
            _ = write!(sum, " | if value & {from} != 0 {{ {to} }} else {{ 0 }}");
        }
        // Bits that mean nothing become one that means nothing.
        _ = writeln!(
            out,
            "pub(crate) fn {name}_{group}(value: c_int) -> c_int {{ (if value & !{known} != 0 {{ 1 << 30 }} else {{ 0 }}){sum} }}"
        );
    }
    out
}
