//! The info hints that communicators know (MPI 5.0, section 7.4.4, and one of Heddle's own). Others are ignored, and so are
//! values that are none.
//!
//! | hint | values | what comes of it |
//! |---|---|---|
//! | `heddle_vni` | a number below that of the VNIs, or `default` | all messages are on this VNI |
//! | `mpi_assert_no_any_tag`, `mpi_assert_no_any_source` | `true`, `false` | messages are spread over VNIs; wildcards are refused |
//! | `mpi_assert_exact_length`, `mpi_assert_allow_overtaking` | `true`, `false` | nothing: what they permit is not made use of |
//!
//! Those that concern the VNIs ([`mapping`](super::mapping)) have an effect where a communicator is made, if all its members
//! give the same: messages that are under way must not lose their VNI. Later, `MPI_Comm_set_info` ignores `heddle_vni`; it
//! takes note of a promise, which then has no effect, and takes none back that has.

use super::Comm;
use super::mapping::{Choice, DEFAULT_VNI, NO_ANY_SOURCE, NO_ANY_TAG, VNI};
use crate::info::Entries;
use crate::process;
use std::sync::PoisonError;

/// The promises; each is "true" or "false", and "false" when nothing was said.
const PROMISES: [&str; 4] =
    [NO_ANY_TAG, NO_ANY_SOURCE, "mpi_assert_exact_length", "mpi_assert_allow_overtaking"];

impl Comm {
    /// Takes note of the promises that a program makes for a living communicator.
    pub fn set_hints(&self, hints: &Entries) {
        self.note(hints, |_| true);
    }

    /// Takes note of the hints that a new communicator's members need not agree on. On the others they have, and the context
    /// says what came of it.
    pub(super) fn take_hints(&self, hints: &Entries) {
        self.note(hints, |key| key != NO_ANY_TAG && key != NO_ANY_SOURCE);
    }

    fn note(&self, hints: &Entries, wanted: impl Fn(&str) -> bool) {
        let mut known = self.info.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, value) in hints {
            let is_promise = PROMISES.contains(&key.as_str()) && ["true", "false"].contains(&value.as_str());
            if is_promise && wanted(key) {
                match known.iter_mut().find(|(old, _)| old == key) {
                    Some((_, old)) => old.clone_from(value),
                    None => known.push((key.clone(), value.clone())),
                }
            }
        }
    }

    /// All hints that it knows, with the values in use.
    pub fn hints(&self) -> Entries {
        let vnis = process::ever().map_or(1, |process| process.vnis().len());
        let choice = Choice::in_force(self.context(super::Plane::PointToPoint), vnis);
        let known = self.info.lock().unwrap_or_else(PoisonError::into_inner);
        let promised = |promise: &str| {
            let noted = known.iter().any(|(key, value)| key == promise && value == "true");
            (noted || choice.relies_on(promise)).to_string()
        };
        let vni = choice.vni().map_or_else(|| DEFAULT_VNI.to_owned(), |vni| vni.to_string());
        let promises = PROMISES.iter().map(|promise| ((*promise).to_owned(), promised(promise)));
        promises.chain([(VNI.to_owned(), vni)]).collect()
    }
}
