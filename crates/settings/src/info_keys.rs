//! The info keys of communicators that Heddle knows (MPI 5.0, section 7.4.4, and one of Heddle's).

/// The key that names a VNI.
pub const VNI: &str = "heddle_vni";
/// The promise that no receive or probe uses `MPI_ANY_TAG`.
pub const NO_ANY_TAG: &str = "mpi_assert_no_any_tag";
/// The promise that no receive or probe uses `MPI_ANY_SOURCE`.
pub const NO_ANY_SOURCE: &str = "mpi_assert_no_any_source";
/// The promise that a receive's buffer is exactly filled.
pub const EXACT_LENGTH: &str = "mpi_assert_exact_length";
/// The permission to match messages out of order.
pub const ALLOW_OVERTAKING: &str = "mpi_assert_allow_overtaking";

/// An info key.
#[derive(Debug)]
pub struct InfoKey {
    /// The key.
    pub name: &'static str,
    /// The allowed values, in words.
    pub values: &'static str,
    /// Its effect.
    pub meaning: &'static str,
}

/// All keys, for a program that makes a communicator with an info object.
pub const INFO_KEYS: &[InfoKey] = &[
    InfoKey {
        name: VNI,
        values: "a number below HEDDLE_VNIS; default",
        meaning: "all messages of the communicator take this VNI",
    },
    InfoKey {
        name: NO_ANY_TAG,
        values: "true, false",
        meaning: "messages are sharded over the VNIs by tag; MPI_ANY_TAG is refused with MPI_ERR_TAG",
    },
    InfoKey {
        name: NO_ANY_SOURCE,
        values: "true, false",
        meaning: "messages are sharded over the VNIs by the sender's rank; MPI_ANY_SOURCE is refused with MPI_ERR_RANK",
    },
    InfoKey { name: EXACT_LENGTH, values: "true, false", meaning: "none: accepted, and without a cost" },
    InfoKey { name: ALLOW_OVERTAKING, values: "true, false", meaning: "none: accepted, and without a cost" },
];
