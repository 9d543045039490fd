//! A job's command line in a file (MPI 5.0, section 11.5, "Form B"): each line is a block of ranks, as if a
//! `:` stood between them. Lines that begin with `#` are comments, and one that ends with `\` goes on in the
//! next.
//! Words are divided and quoted as in a shell, which expands nothing.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Why a file is no command line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ConfigFileError {
    #[error("reading {path}: {why}", path = .0.display(), why = .1)]
    Unreadable(PathBuf, String),
    #[error("{path} ends within a quotation, or with a '\\': {line}", path = .0.display(), line = .1)]
    Unfinished(PathBuf, String),
}

/// The words of the command line that the file stands for.
pub(crate) fn words(path: &Path) -> Result<Vec<OsString>, ConfigFileError> {
    let text = fs::read_to_string(path);
    let text = text.map_err(|error| ConfigFileError::Unreadable(path.to_owned(), error.to_string()))?;
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let lines = joined.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut words: Vec<OsString> = Vec::new();
    for line in lines {
        if !words.is_empty() {
            words.push(":".into());
        }
        let block = shlex::split(line);
        let block = block.ok_or_else(|| ConfigFileError::Unfinished(path.to_owned(), line.to_owned()))?;
        words.extend(block.into_iter().map(OsString::from));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Result<Vec<OsString>, ConfigFileError> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), text).expect("writing");
        words(file.path())
    }

    #[test]
    fn lines_are_blocks() {
        let text =
            "# a job\n-n 2 ./ocean -v\n\n  # and more\n-n 3 -env A 'b c' \\\n   ./atmos --at \"x y\"\n";
        let first = ["-n", "2", "./ocean", "-v", ":"];
        let second = ["-n", "3", "-env", "A", "b c", "./atmos", "--at", "x y"];
        assert_eq!(words_of(text).expect("words"), [&first[..], &second[..]].concat());
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(matches!(words_of("-n 2 'x"), Err(ConfigFileError::Unfinished(..))));
        let missing = words(Path::new("/nowhere/job")).expect_err("no such file");
        assert!(missing.to_string().starts_with("reading /nowhere/job: "), "{missing}");
        assert_eq!(words_of("# nothing\n"), Ok(Vec::new()));
    }
}
