//! The info hints that communicators know (MPI 5.0, section 7.4.4): promises of the program. Others are ignored.

use super::Comm;
use crate::info::Entries;
use std::sync::PoisonError;

/// The promises; each is "true" or "false", and "false" when nothing was said.
const KNOWN: [&str; 4] = [
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
];

impl Comm {
    /// Takes over the hints that it knows.
    pub fn set_hints(&self, hints: &Entries) {
        let mut known = self.info.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, value) in hints {
            if KNOWN.contains(&key.as_str()) && ["true", "false"].contains(&value.as_str()) {
                match known.iter_mut().find(|(old, _)| old == key) {
                    Some((_, old)) => old.clone_from(value),
                    None => known.push((key.clone(), value.clone())),
                }
            }
        }
    }

    /// All hints that it knows, with the values in use.
    pub fn hints(&self) -> Entries {
        let known = self.info.lock().unwrap_or_else(PoisonError::into_inner);
        let value = |key: &str| {
            let found = known.iter().find(|(known, _)| known == key);
            found.map_or_else(|| "false".to_owned(), |(_, value)| value.clone())
        };
        KNOWN.iter().map(|key| ((*key).to_owned(), value(key))).collect()
    }
}
