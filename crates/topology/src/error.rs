//! Why there is no topology.

/// Why there is no topology.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library is not installed, or cannot be loaded.
    #[error(
        "the machine's topology needs hwloc 2, which cannot be loaded ({0}); on Debian install libhwloc15"
    )]
    NoHwloc(#[source] libloading::Error),
    /// The library's objects have another form than the one known here.
    #[error("the machine's topology needs hwloc 2, but the library is of version {}.{}", .0 >> 16, .0 >> 8 & 0xff)]
    HwlocVersion(u32),
    /// The library failed.
    #[error("hwloc failed in {call}")]
    Hwloc {
        /// The function.
        call: &'static str,
    },
    /// A written description is not understood.
    #[error(
        "the topology {text:?} is not understood at {at:?}; write, from the outermost, for instance \
         \"2 packages x 4 l3 x 8 cores x 2 threads\""
    )]
    Description {
        /// All of it.
        text: String,
        /// The part.
        at: String,
    },
}
