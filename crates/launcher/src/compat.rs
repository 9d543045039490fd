//! Programs that were compiled for another library's ABI: the folder where the loader finds Heddle's library
//! of that name.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The loader's variable.
pub(crate) const SEARCH_PATH: &str = "LD_LIBRARY_PATH";

/// The folder, in an installation that has it.
fn folder() -> Option<PathBuf> {
    let program = env::current_exe().ok()?.canonicalize().ok()?;
    let folder = program.parent()?.parent()?.join("lib/compat");
    folder.is_dir().then_some(folder)
}

/// The value of [`SEARCH_PATH`] for a rank that would otherwise have this one. `None` if it stays.
pub(crate) fn search_path(otherwise: Option<&OsStr>) -> Option<OsString> {
    Some(before(&folder()?, otherwise))
}

/// A folder, and behind it those that were there: the loader takes the first that has the library.
fn before(folder: &Path, others: Option<&OsStr>) -> OsString {
    let mut path = folder.as_os_str().to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        path.push(":");
        path.push(others);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_comes_before_those_of_the_program() {
        let path = |others: Option<&str>| before(Path::new("/here/lib/compat"), others.map(OsStr::new));
        assert_eq!(path(Some("/a:/b")), "/here/lib/compat:/a:/b");
        assert_eq!(path(Some("")), "/here/lib/compat", "an empty entry would be the current folder");
        assert_eq!(path(None), "/here/lib/compat");
    }
}
