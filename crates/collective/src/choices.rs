//! The algorithms and switch points in force ([`Collectives`]).
//!
//! All ranks of an operation must choose the same algorithm, so the choice depends on nothing but what all
//! ranks know: the amount of data, which the standard wants to be equal everywhere, the number of ranks, and
//! these settings.

use heddle_settings::{Collectives, in_force};

static DEFAULT: Collectives = Collectives::DEFAULT;

/// The choices of this process; before MPI is initialised, the defaults.
#[inline(always)]
pub(super) fn choices() -> &'static Collectives {
    in_force().map_or(&DEFAULT, |settings| &settings.collectives)
}
