//! Other libraries' ABIs: their values for the standard's constants.

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
    /// As the other ABI's table writes it: a value, or the symbol whose address it is.
    pub text: String,
    /// The integer that the other ABI's Fortran has for a handle that is an address, if it has one.
    pub integer: Option<i32>,
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

/// An ABI of other libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignAbi {
    /// A word for it in names of files and symbols.
    pub name: &'static str,
    /// The name of its table of constants, and its text.
    table: (&'static str, &'static str),
}

/// That of MPICH: handles are numbers of 32 bits.
pub const MPICH: ForeignAbi =
    ForeignAbi { name: "mpich", table: ("mpich.table", include_str!("../mpich.table")) };
/// That of Open MPI: handles are addresses.
pub const OPENMPI: ForeignAbi =
    ForeignAbi { name: "openmpi", table: ("openmpi.table", include_str!("../openmpi.table")) };

impl ForeignAbi {
    /// The constants that the standard's ABI and this one have.
    ///
    /// # Errors
    ///
    /// Says which line of which table cannot be understood, and why, or which name the standard does not
    /// have.
    pub fn constants(&self) -> Result<Vec<PairedSection>, String> {
        let parse =
            |(name, text): (&str, _)| constant::parse(text).map_err(|error| format!("{name}: {error}"));
        let ours = parse(("constants.table", crate::CONSTANTS_TABLE))?;
        parse(self.table)?
            .iter()
            .map(|section| pair(&ours, section).map_err(|error| format!("{}: {error}", self.table.0)))
            .collect()
    }

    /// The name that an entry for this ABI has in Heddle's library: `MPI_Send` has `heddle_mpich_Send`.
    pub fn entry(&self, name: &str) -> String {
        format!("heddle_{}_{}", self.name, name.trim_start_matches("MPI_"))
    }
}

fn pair(ours: &[ConstantSection], theirs: &ConstantSection) -> Result<PairedSection, String> {
    let group = &theirs.group;
    let section = ours.iter().find(|section| section.group == *group && section.kind == theirs.kind);
    let section = section.ok_or_else(|| format!("the standard has no group {group}"))?;
    let pairs = theirs.constants.iter().filter(|constant| !constant.alias).map(|constant| {
        let found = section.constants.iter().find(|ours| ours.name == constant.name);
        let found = found.ok_or_else(|| format!("{} is not in {group}", constant.name))?;
        let (name, text, integer) = (constant.name.clone(), constant.text.clone(), constant.integer);
        Ok(ConstantPair { name, ours: found.value, theirs: constant.value, text, integer })
    });
    let pairs = pairs.collect::<Result<_, String>>()?;
    Ok(PairedSection { group: group.clone(), kind: theirs.kind.clone(), pairs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_from_one_abi_to_the_other() {
        let pairs = |abi: ForeignAbi| -> Vec<ConstantPair> {
            let sections = abi.constants().expect("the tables agree");
            sections.into_iter().flat_map(|section| section.pairs).collect()
        };
        let (mpich, openmpi) = (pairs(MPICH), pairs(OPENMPI));
        let find = |pairs: &[ConstantPair], name: &str| {
            pairs
                .iter()
                .find(|pair| pair.name == name)
                .map(|pair| (pair.ours, pair.theirs, pair.text.clone()))
        };
        assert_eq!(find(&mpich, "MPI_ANY_SOURCE"), Some((-1, -2, "-2".into())));
        assert_eq!(find(&mpich, "MPI_COMM_WORLD"), Some((0x101, 0x4400_0000, "0x44000000".into())));
        assert_eq!(find(&mpich, "MPI_LONG_LONG_INT"), None, "a second name");
        assert_eq!(find(&openmpi, "MPI_COMM_WORLD"), Some((0x101, 0, "ompi_mpi_comm_world".into())));
        let integer = |name| openmpi.iter().find(|pair| pair.name == name).and_then(|pair| pair.integer);
        assert_eq!([integer("MPI_COMM_SELF"), integer("MPI_LOGICAL16")], [Some(1), None]);
    }

    #[test]
    fn a_mistake_is_named_with_its_table() {
        let abi =
            ForeignAbi { table: ("a.table", "section COMMS handle MPI_Comm x\nMPI_COMM_ALL 1"), ..MPICH };
        assert_eq!(abi.constants(), Err("a.table: MPI_COMM_ALL is not in COMMS".into()));
    }
}
