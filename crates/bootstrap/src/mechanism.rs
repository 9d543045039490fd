//! The method by which a job is started.

use crate::builtin;
use crate::pmi;
use crate::pmix;
use std::str::FromStr;

/// A method of starting a job (`HEDDLE_BOOTSTRAP`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mechanism {
    /// The first of the others whose variable is there.
    #[default]
    Auto,
    /// Heddle's `mpiexec`.
    Builtin,
    /// A launcher that speaks PMIx.
    Pmix,
    /// A launcher that speaks PMI-1.
    Pmi,
    /// A launcher that speaks PMI-2.
    Pmi2,
    /// None: a world of one.
    Single,
}

/// All mechanisms by their names.
const NAMES: [(&str, Mechanism); 6] = [
    ("auto", Mechanism::Auto),
    ("builtin", Mechanism::Builtin),
    ("pmix", Mechanism::Pmix),
    ("pmi", Mechanism::Pmi),
    ("pmi2", Mechanism::Pmi2),
    ("single", Mechanism::Single),
];

impl Mechanism {
    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().map(|(name, _)| name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES[self as usize].0
    }

    /// The environment variable by which it is recognised.
    pub(crate) fn variable(self) -> Option<&'static str> {
        match self {
            Mechanism::Auto | Mechanism::Single => None,
            Mechanism::Builtin => Some(builtin::env::RANK),
            Mechanism::Pmix => Some(pmix::NAMESPACE),
            Mechanism::Pmi | Mechanism::Pmi2 => Some(pmi::FD),
        }
    }
}

impl FromStr for Mechanism {
    type Err = ();

    fn from_str(name: &str) -> Result<Mechanism, ()> {
        NAMES.into_iter().find_map(|(other, it)| (other == name).then_some(it)).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_one_mechanism() {
        for (name, mechanism) in NAMES {
            assert_eq!((mechanism.name(), name.parse()), (name, Ok(mechanism)));
        }
        assert_eq!("slurm".parse::<Mechanism>(), Err(()));
    }
}
