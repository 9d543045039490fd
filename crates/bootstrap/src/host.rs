//! The name of this host.

use std::fs;

/// The name of this host, without characters that a launcher gives a meaning.
#[must_use]
pub fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.chars().filter(|c| c.is_ascii_alphanumeric() || "-._".contains(*c)).collect()
}
