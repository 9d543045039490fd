//! The info hints of communicators (MPI 5.0, section 7.4.4, and `heddle_vni`). Unknown
//! hints and values are ignored.
//!
//! | hint | values | what comes of it |
//! |---|---|---|
//! | `heddle_vni` | a number below that of the VNIs, or `default` | all messages are on this VNI |
//! | `mpi_assert_no_any_tag`, `mpi_assert_no_any_source` | `true`, `false` | messages are sharded over VNIs; wildcards are refused |
//! | `mpi_assert_exact_length`, `mpi_assert_allow_overtaking`, `mpi_assert_strict_persistent_collective_ordering` | `true`, `false` | none |
//! | `mpi_assert_memory_alloc_kinds` | kinds of memory | `mpi_memory_alloc_kinds` has them alone |
//!
//! The hints that concern VNIs ([`VniChoice`]) take effect when a communicator is made, and only if every
//! member gives the same value: a message in flight must not lose its VNI. `MPI_Comm_set_info` comes
//! too late. It ignores `heddle_vni`, records a promise without any effect, and never withdraws a
//! promise that is in effect.

use super::object::Comm;
use crate::error::{Error, Result};
use crate::info::Entries;
use crate::memory_kinds;
use heddle_message::context::{BrokenPromise, Plane, VniChoice};
use heddle_message::domain::{self, Domain};
use heddle_message::matching::Key;
use heddle_settings::info_keys::{
    ALLOW_OVERTAKING, ASSERT_MEMORY_KINDS, EXACT_LENGTH, MEMORY_KINDS, NO_ANY_SOURCE, NO_ANY_TAG,
    STRICT_ORDERING, VNI,
};
use heddle_spec::constants as mpi;
use std::sync::PoisonError;

/// The value of `heddle_vni` if the program named no VNI.
const DEFAULT_VNI: &str = "default";

/// The promises; each is "true" or "false", by default "false".
const PROMISES: [&str; 5] = [NO_ANY_TAG, NO_ANY_SOURCE, EXACT_LENGTH, ALLOW_OVERTAKING, STRICT_ORDERING];

impl Comm {
    /// Records the promises that a program makes for a living communicator.
    pub fn set_hints(&self, hints: &Entries) {
        self.note(hints, |_| true);
    }

    /// Records the hints on which the members of a new communicator need not agree. The context holds the
    /// result of the agreement on the others.
    pub fn take_hints(&self, hints: &Entries) {
        self.note(hints, |key| key != NO_ANY_TAG && key != NO_ANY_SOURCE);
    }

    fn note(&self, hints: &Entries, wanted: impl Fn(&str) -> bool) {
        let mut known = self.info.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, value) in hints {
            let is_promise = match key.as_str() {
                ASSERT_MEMORY_KINDS => memory_kinds::can_be_asserted(value),
                key => PROMISES.contains(&key) && ["true", "false"].contains(&value.as_str()),
            };
            if is_promise && wanted(key) {
                match known.iter_mut().find(|(old, _)| old == key) {
                    Some((_, old)) => old.clone_from(value),
                    None => known.push((key.clone(), value.clone())),
                }
            }
        }
    }

    /// All hints of the communicator, with the values in use.
    pub fn hints(&self) -> Entries {
        let vnis = domain::ever().map_or(1, |domain| domain.vnis().len());
        let choice = VniChoice::in_force(self.context().id(Plane::PointToPoint), vnis);
        let known = self.info.lock().unwrap_or_else(PoisonError::into_inner);
        let promised = |promise: &str| {
            let noted = known.iter().any(|(key, value)| key == promise && value == "true");
            (noted || relies_on(choice, promise)).to_string()
        };
        let vni = choice.vni().map_or_else(|| DEFAULT_VNI.to_owned(), |vni| vni.to_string());
        let promises = PROMISES.iter().map(|promise| ((*promise).to_owned(), promised(promise)));
        let asserted = known.iter().find(|(key, _)| key == ASSERT_MEMORY_KINDS);
        // Those of the predefined communicators stand for all that derive from them.
        let kinds = match asserted.filter(|_| !self.is_predefined()) {
            Some((_, kinds)) => kinds.clone(),
            None => self.memory_kinds(),
        };
        let kinds = asserted.cloned().into_iter().chain([(MEMORY_KINDS.to_owned(), kinds)]);
        promises.chain([(VNI.to_owned(), vni)]).chain(kinds).collect()
    }

    /// The kinds of memory that all objects take which come from the same session, or from the world model.
    pub fn memory_kinds(&self) -> String {
        self.session().map_or_else(memory_kinds::of_world, |session| session.memory_kinds().to_owned())
    }
}

/// The meaning of a program's hints, for processes with `vnis` VNIs. Unknown values are ignored.
pub fn choice_of(hints: &Entries, vnis: usize) -> VniChoice {
    let value = |key: &str| hints.iter().rfind(|(known, _)| known == key).map(|(_, value)| value.as_str());
    let vni: Option<u32> = value(VNI).and_then(|text| text.parse().ok());
    let vni = vni.filter(|vni| (*vni as usize) < vnis);
    VniChoice::new(vni, value(NO_ANY_TAG) == Some("true"), value(NO_ANY_SOURCE) == Some("true"))
}

/// Returns true if a choice relies on the promise of this name.
fn relies_on(choice: VniChoice, promise: &str) -> bool {
    let (by_tag, by_source) = choice.sharded_by();
    by_tag && promise == NO_ANY_TAG || by_source && promise == NO_ANY_SOURCE
}

impl Comm {
    /// The VNI of the messages that match a receive or probe with this key.
    ///
    /// # Errors
    /// The same as for [`check_promises`](Self::check_promises).
    #[inline(always)]
    pub fn vni_wanted(&self, domain: &Domain, key: &Key) -> Result<u32> {
        self.context().vni_wanted(domain.vnis().len(), key).map_err(|promise| self.broken_promise(promise))
    }

    /// Checks a receive or probe with this key against the communicator's hints.
    ///
    /// # Errors
    /// `MPI_ERR_TAG` for `MPI_ANY_TAG`, `MPI_ERR_RANK` for `MPI_ANY_SOURCE`.
    #[inline(always)]
    pub fn check_promises(&self, key: &Key) -> Result<()> {
        self.context().check_promises(key).map_err(|promise| self.broken_promise(promise))
    }

    #[cold]
    fn broken_promise(&self, promise: BrokenPromise) -> Error {
        let (class, wildcard, field, promise) = match promise {
            BrokenPromise::AnyTag => (mpi::MPI_ERR_TAG, "MPI_ANY_TAG", "tag", NO_ANY_TAG),
            BrokenPromise::AnySource => (mpi::MPI_ERR_RANK, "MPI_ANY_SOURCE", "source", NO_ANY_SOURCE),
        };
        let name = self.name();
        let message = format!(
            "{wildcard} in {}, which was made with the info hint {promise}=true: its messages are spread over VNIs by \
             their {field}, so name it, or make the communicator without the hint",
            if name.is_empty() { "a communicator" } else { &name }
        );
        Error::new(class, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(pairs: &[(&str, &str)]) -> Entries {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn hints_are_read_and_nonsense_is_not() {
        let named = |text: &str| choice_of(&hints(&[(VNI, text)]), 4);
        assert_eq!(named("3"), VniChoice::new(Some(3), false, false));
        for nonsense in ["4", "-1", "", "default", "one", "0x1", "99999999999"] {
            assert_eq!(named(nonsense), VniChoice::default(), "{nonsense:?}");
        }
        assert_eq!(
            choice_of(&hints(&[(NO_ANY_TAG, "true"), (NO_ANY_SOURCE, "true")]), 4),
            VniChoice::new(None, true, true)
        );
        assert_eq!(
            choice_of(&hints(&[(NO_ANY_TAG, "false"), (NO_ANY_SOURCE, "yes")]), 4),
            VniChoice::default()
        );
    }
}
