//! The order in which threads enter a contended critical section: one lock, or one lock for each path.

use super::kind::{Custom, Values};
use heddle_locks::kinds::LockKind;
use std::fmt;
use std::str::FromStr;

/// The order in which threads enter a contended critical section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arbitration {
    /// All threads use one lock.
    One(LockKind),
    /// The two-level priority lock `P-X-Y` (Amer et al., TOPC 2019, section 4.1): X orders the issuing
    /// threads, Y the waiting threads, and issuing threads go first. Each class takes its lock's [strict
    /// form](LockKind::in_class).
    Priority(LockKind, LockKind),
}

/// The error for a name that stands for no arbitration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no arbitration \"{name}\": {} is wanted", Arbitration::names())]
pub struct UnknownArbitration {
    /// The name that was asked for.
    pub name: String,
}

impl Arbitration {
    /// The allowed names, for a sentence.
    pub fn names() -> String {
        let kinds: Vec<&str> = LockKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("{}, or p-X-Y of any two of them", kinds.join(", "))
    }
}

/// The values of an arbitration.
pub(super) const ARBITRATIONS: Custom<Arbitration> = Custom {
    form: Values::Text,
    allowed: Arbitration::names,
    read: |text| text.parse().map_err(|_| format!("{} is wanted", Arbitration::names())),
    write: ToString::to_string,
    examples: || {
        // Every lock that keeps up with more threads than cores, and some pairs of them.
        let names = LockKind::ALL.iter().map(|kind| kind.name());
        let pairs = ["p-mutex-mutex", "p-mcs-mcs", "p-hmcs-mcs", "p-clh-abortable-mcs"];
        names.filter(|name| !name.starts_with("strict")).chain(pairs).collect()
    },
};

impl fmt::Display for Arbitration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arbitration::One(kind) => f.write_str(kind.name()),
            Arbitration::Priority(main, progress) => write!(f, "p-{}-{}", main.name(), progress.name()),
        }
    }
}

impl FromStr for Arbitration {
    type Err = UnknownArbitration;

    fn from_str(name: &str) -> Result<Arbitration, UnknownArbitration> {
        if let Some(kind) = LockKind::from_name(name) {
            return Ok(Arbitration::One(kind));
        }
        LockKind::pair_from_name(name)
            .map(|(main, progress)| Arbitration::Priority(main, progress))
            .ok_or_else(|| UnknownArbitration { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_arbitrations_and_back() {
        for main in LockKind::ALL {
            assert_eq!(main.name().parse(), Ok(Arbitration::One(*main)));
            for progress in LockKind::ALL {
                let pair = format!("p-{}-{}", main.name(), progress.name());
                assert_eq!(pair.parse(), Ok(Arbitration::Priority(*main, *progress)), "{pair}");
                assert_eq!(Arbitration::Priority(*main, *progress).to_string(), pair);
            }
        }
        for wrong in ["", "p-", "p-mcs", "p-mcs-", "p-mcs-mcs-mcs", "no-such-lock"] {
            let error = wrong.parse::<Arbitration>().expect_err("not an arbitration");
            assert!(error.to_string().contains("abortable-mcs"), "{error}");
        }
    }
}
