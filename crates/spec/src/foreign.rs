//! Another library's ABI: its values for the standard's constants.

use crate::constant::{self, ConstantKind, ConstantSection};

/// A constant of the standard with its values in the standard's ABI and in another library's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConstantPair {
    /// Its name.
    pub name: String,
    /// The value in the standard's ABI.
    pub ours: i64,
    /// The value in the other ABI.
    pub theirs: i64,
}

/// A group of constants that both ABIs have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairedSection {
    /// The name of the group in `constants.table`.
    pub group: String,
    /// The kind of its members.
    pub kind: ConstantKind,
    /// The members, without second names.
    pub pairs: Vec<ConstantPair>,
}

/// The constants that the standard's ABI and that of MPICH have.
///
/// # Errors
///
/// Says which line of which table cannot be understood, and why, or which name the standard does not have.
pub fn mpich() -> Result<Vec<PairedSection>, String> {
    let parse = |name: &str, text| constant::parse(text).map_err(|error| format!("{name}: {error}"));
    let ours = parse("constants.table", crate::CONSTANTS_TABLE)?;
    let theirs = parse("mpich.table", crate::MPICH_TABLE)?;
    theirs.iter().map(|section| pair(&ours, section)).collect()
}

fn pair(ours: &[ConstantSection], theirs: &ConstantSection) -> Result<PairedSection, String> {
    let group = &theirs.group;
    let section = ours.iter().find(|section| section.group == *group && section.kind == theirs.kind);
    let section = section.ok_or_else(|| format!("mpich.table: the standard has no group {group}"))?;
    let pairs = theirs.constants.iter().filter(|constant| !constant.alias).map(|constant| {
        let found = section.constants.iter().find(|ours| ours.name == constant.name);
        let found = found.ok_or_else(|| format!("mpich.table: {} is not in {group}", constant.name))?;
        Ok(ConstantPair { name: constant.name.clone(), ours: found.value, theirs: constant.value })
    });
    let pairs = pairs.collect::<Result<_, String>>()?;
    Ok(PairedSection { group: group.clone(), kind: theirs.kind.clone(), pairs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_from_one_abi_to_the_other() {
        let sections = mpich().expect("the tables agree");
        let pair = |name: &str| sections.iter().flat_map(|section| &section.pairs).find(|p| p.name == name);
        let expected = ConstantPair { name: "MPI_ANY_SOURCE".into(), ours: -1, theirs: -2 };
        assert_eq!(pair("MPI_ANY_SOURCE"), Some(&expected));
        assert_eq!(pair("MPI_COMM_WORLD").map(|pair| pair.theirs), Some(0x4400_0000));
        assert_eq!(pair("MPI_LONG_LONG_INT"), None, "a second name");
    }
}
