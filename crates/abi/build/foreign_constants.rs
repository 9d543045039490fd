//! Rust text of the constants of another ABI, and of the ways between them and the standard's.

use super::face::Face;
use heddle_spec::constant::ConstantKind;
use heddle_spec::constants::{ERROR_CLASSES, MPI_ERR_UNKNOWN, T_ERROR_CLASSES};
use heddle_spec::foreign::{ConstantPair, MPICH, PairedSection};
use std::fmt::Write;

/// Groups whose members are bits.
const BITS: [&str; 2] = ["WIN_ASSERTS", "FILE_MODES"];
/// Groups whose members are no choices of one kind.
const APART: [&str; 4] = ["VERSIONS", "SENTINELS", "LIMITS", "FORTRAN_STATUS"];
/// The number of words that predefined handles of the standard's ABI may have.
const WORDS: usize = 1024;
/// The low bits of MPICH's handles of basic datatypes tell them apart.
const BASIC: i64 = 0x7f;

/// Sentinels of ranks, and of tags.
const RANKS: [&str; 3] = ["MPI_ANY_SOURCE", "MPI_PROC_NULL", "MPI_ROOT"];
const TAGS: [&str; 1] = ["MPI_ANY_TAG"];

pub(crate) fn foreign_constants(face: Face<'_>) -> String {
    let mut out = String::new();
    for section in face.constants {
        let PairedSection { group, kind, pairs } = section;
        match kind {
            ConstantKind::Int if BITS.contains(&group.as_str()) => out += &bits(group, pairs),
            ConstantKind::Int | ConstantKind::Enum(_) => out += &numbers(face, group, pairs),
            ConstantKind::Handle(_) if face.abi == MPICH => {
                out += &if group == "DATATYPES" { datatypes(pairs) } else { predefined(group, pairs) };
            }
            ConstantKind::Address | ConstantKind::Handle(_) => {
                for ConstantPair { name, theirs, .. } in pairs.iter().filter(|pair| pair.theirs != 0) {
                    _ = writeln!(out, "pub(crate) const {name}: usize = {};", *theirs as usize);
                }
            }
            ConstantKind::Offset => {}
        }
    }
    out + &if face.abi == MPICH { handles(face) } else { integers(face) }
}

/// The members of a group, and the ways there and back.
fn numbers(face: Face<'_>, group: &str, pairs: &[ConstantPair]) -> String {
    let mut out = String::new();
    match group {
        // They are among the other classes.
        "T_ERROR_CLASSES" => return out,
        "ERROR_CLASSES" => out += &error_classes(face, pairs),
        "SENTINELS" => {
            for (group, names) in [("RANKS", &RANKS[..]), ("TAGS", &TAGS)] {
                let pairs = pairs.iter().filter(|pair| names.contains(&&*pair.name));
                out += &ways(group, &pairs.cloned().collect::<Vec<_>>());
            }
        }
        _ if APART.contains(&group) => {}
        _ => out += &ways(group, pairs),
    }
    for ConstantPair { name, theirs, .. } in pairs {
        _ = writeln!(out, "pub(crate) const {name}: c_int = {theirs};");
    }
    out
}

/// The ways between classes of errors. What one ABI does not have is another error in the other.
fn error_classes(face: Face<'_>, classes: &[ConstantPair]) -> String {
    let tools = face.constants.iter().find(|section| section.group == "T_ERROR_CLASSES");
    let pairs: Vec<&ConstantPair> =
        classes.iter().chain(tools.iter().flat_map(|section| &section.pairs)).collect();
    let value = |name| pairs.iter().find(|pair| pair.name == name).map_or(0, |pair| pair.theirs);
    let ours = ERROR_CLASSES.iter().chain(T_ERROR_CLASSES).map(|(name, class)| (*name, i64::from(*class)));
    let ours = ours.filter(|(_, class)| pairs.iter().all(|pair| pair.ours != *class));
    let ours = ours.map(|(name, class)| match name {
        "MPI_ERR_ERRHANDLER" => (class, value("MPI_ERR_ARG")),
        _ => (class, value("MPI_ERR_OTHER")),
    });
    // Only where so few are possible that a program might try them all. Its last class is no class of ours.
    let last = value("MPI_ERR_LASTCODE");
    let theirs = (1..=last).filter(|class| *class == last || pairs.iter().all(|pair| pair.theirs != *class));
    let theirs = theirs.take(if last < 1000 { 1000 } else { 0 }).map(|class| (class, MPI_ERR_UNKNOWN.into()));
    let there =
        theirs.chain(pairs.iter().filter(|pair| pair.theirs != last).map(|pair| (pair.theirs, pair.ours)));
    one_of("to_ERROR_CLASSES", there)
        + &one_of("from_ERROR_CLASSES", pairs.iter().map(|pair| (pair.ours, pair.theirs)).chain(ours))
}

/// The numbers that stand for predefined handles, by the words of these.
fn handles(face: Face<'_>) -> String {
    let mut numbers = vec![0; WORDS];
    let is_handle = |section: &&PairedSection| matches!(section.kind, ConstantKind::Handle(_));
    let pairs = || face.constants.iter().filter(is_handle).flat_map(|section| &section.pairs);
    for pair in pairs() {
        numbers[pair.ours as usize] = pair.theirs as u32 as i32;
    }
    let world = pairs().find(|pair| pair.name == "MPI_COMM_WORLD").map_or(0, |pair| pair.theirs);
    format!(
        "pub(crate) const WORLD: c_int = {world};\npub(crate) static NUMBERS: [c_int; {WORDS}] = {numbers:?};\n"
    )
}

/// The integers that Fortran has for predefined handles, by the words of these, and the words by the integers
/// for each kind.
fn integers(face: Face<'_>) -> String {
    let mut integers = vec![-1; WORDS];
    let mut out = String::new();
    for PairedSection { kind, pairs, .. } in face.constants {
        let ConstantKind::Handle(handle) = kind else { continue };
        let mut words = Vec::new();
        for (integer, pair) in pairs.iter().filter_map(|pair| Some((pair.integer?, pair))) {
            integers[pair.ours as usize] = integer;
            let place = integer as usize;
            words.resize(words.len().max(place + 1), 0);
            words[place] = pair.ours;
        }
        let (group, len) = (handle.trim_start_matches("MPI_").to_uppercase(), words.len());
        _ = writeln!(out, "pub(crate) static {group}_OF_INTEGERS: [u16; {len}] = {words:?};");
    }
    out + &format!("pub(crate) static INTEGERS: [c_int; {WORDS}] = {integers:?};\n")
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

/// The ways to the standard's values and back.
fn ways(group: &str, pairs: &[ConstantPair]) -> String {
    one_of(&format!("to_{group}"), pairs.iter().map(|pair| (pair.theirs, pair.ours)))
        + &one_of(&format!("from_{group}"), pairs.iter().map(|pair| (pair.ours, pair.theirs)))
}

/// Each of these constants has another value; all others stay, unless they would become one of these.
fn one_of(name: &str, values: impl Iterator<Item = (i64, i64)>) -> String {
    let values: Vec<(i64, i64)> = values.collect();
    let arms: String = values.iter().map(|(from, to)| format!("{from} => {to}, ")).collect();
    let taken = values.iter().map(|(_, to)| to).filter(|to| values.iter().all(|(from, _)| from != *to));
    let taken: String = taken.map(|to| format!("{to} => c_int::MIN, ")).collect();
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
