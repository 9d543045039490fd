//! Errors of libfabric.

use std::ffi::CStr;

/// Why libfabric cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library cannot be loaded.
    #[error(
        "ranks on different machines need libfabric, which cannot be loaded ({0}); on Debian install \
         libfabric1"
    )]
    NoLibrary(#[source] libloading::Error),
    /// No provider fits.
    #[error(
        "libfabric has no provider {wanted} with reliable datagram endpoints here (HEDDLE_FABRIC, \
         HEDDLE_FABRIC_DOMAIN); it has {there}"
    )]
    NoProvider {
        /// The provider and domain that were asked for.
        wanted: String,
        /// The providers that it has.
        there: String,
    },
    /// A call failed.
    #[error("libfabric failed in {call}: {reason}")]
    Call {
        /// The function.
        call: &'static str,
        /// The library's words.
        reason: String,
    },
}

/// An operation that has failed, by its context.
#[derive(Debug)]
pub struct LostOperation {
    /// The context of the operation; null if the provider does not say which one it was.
    pub context: *mut u8,
    /// The provider's words.
    pub reason: String,
}

/// The words of `strerror` for a negative result.
pub(crate) fn words(
    strerror: unsafe extern "C" fn(std::ffi::c_int) -> *const std::ffi::c_char,
    result: i64,
) -> String {
    let number = i32::try_from(-result).unwrap_or(i32::MAX);
    // SAFETY: takes any number.
    let text = unsafe { strerror(number) };
    if text.is_null() {
        return format!("error {number}");
    }
    // SAFETY: a string that lives as long as the library.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
