//! A machine from an argument: a size, a name, or a file.

use super::{Error, MOST_CORES, Machine, known};
use std::path::Path;

impl Machine {
    /// The machine that `text` means: `SOCKETSxCORES` (cores per socket), the name of a known machine, or the
    /// path of a file that describes one.
    ///
    /// A text is a path if it has a `/`, ends in `.toml`, or names a file that is there.
    ///
    /// # Errors
    ///
    /// [`Error`] says what the text may be, or what is wrong in the file.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match Self::of_argument(text) {
            Some(machine) => machine,
            None if text.contains('/') || text.ends_with(".toml") || Path::new(text).is_file() => {
                Self::of_file(Path::new(text))
            }
            None => Err(unknown(text)),
        }
    }

    /// The machine of a size or a name; nothing if `text` is neither.
    pub(super) fn of_argument(text: &str) -> Option<Result<Self, Error>> {
        match size(text) {
            Some((sockets, cores)) => Some(of_size(text, sockets, cores)),
            None => known::machine(text).map(Ok),
        }
    }

    fn of_file(path: &Path) -> Result<Self, Error> {
        let read = |source| Error::Read { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(read)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Self::from_text(&path.display().to_string(), &stem, &text)
    }

    /// This machine, if it has cores and at most [`MOST_CORES`].
    pub(super) fn check_size(self, at: &str) -> Result<Self, Error> {
        let value = |key: &str, value: usize, allowed: String| {
            let (at, key, value) = (at.to_owned(), key.to_owned(), value.to_string());
            Error::Value { at, key, value, allowed }
        };
        for (key, count) in [("sockets", self.sockets), ("clusters", self.clusters), ("cores", self.cores)] {
            if !(1..=MOST_CORES).contains(&count) {
                return Err(value(key, count, format!("from 1 to {MOST_CORES}")));
            }
        }
        match self.cores_in_all() {
            count if count > MOST_CORES => {
                Err(value("sockets x clusters x cores", count, format!("at most {MOST_CORES}")))
            }
            _ => Ok(self),
        }
    }
}

pub(super) fn unknown(text: &str) -> Error {
    Error::Unknown { text: text.to_owned(), names: known::names().collect::<Vec<_>>().join(", ") }
}

/// `2x44` is two sockets of 44 cores.
fn size(text: &str) -> Option<(usize, usize)> {
    let (sockets, cores) = text.split_once('x')?;
    let number = |digits: &str| match digits.bytes().all(|digit| digit.is_ascii_digit()) {
        // More digits than a number has are a size, too, and one too large.
        true if !digits.is_empty() => Some(digits.parse().unwrap_or(usize::MAX)),
        _ => None,
    };
    Some((number(sockets)?, number(cores)?))
}

/// A plain server with these sockets, and these cores in each.
fn of_size(text: &str, sockets: usize, cores: usize) -> Result<Machine, Error> {
    Machine { name: text.to_owned(), sockets, clusters: 1, cores, last_level: 3, costs: known::PLAIN }
        .check_size(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_names_are_machines() {
        for (text, sockets, clusters, cores) in [
            ("2x44", 2, 1, 44),
            ("1x1", 1, 1, 1),
            ("4x48", 4, 1, 48),
            ("xeon-16", 1, 1, 16),
            ("haswell-88", 2, 1, 44),
            ("epyc-7742", 2, 16, 4),
            ("xeon-6242", 2, 1, 16),
            ("xeon-8375c", 2, 1, 32),
            ("knl-68", 1, 34, 2),
            ("here-2", 1, 1, 2),
        ] {
            let machine = Machine::parse(text).expect(text);
            assert_eq!(
                (machine.sockets, machine.clusters, machine.cores),
                (sockets, clusters, cores),
                "{text}"
            );
            assert_eq!(machine.name, text);
        }
    }

    #[test]
    fn nonsense_is_refused_and_named() {
        for text in ["", "x", "2x", "x44", "-1x4", "2x4x4", "2 x 4", "haswell", "2×44", "+2x4"] {
            let error = Machine::parse(text).expect_err(text).to_string();
            assert!(error.contains(&format!("{text:?}")) && error.contains("haswell-88"), "{error}");
        }
        for (text, key) in [
            ("0x4", "sockets = 0"),
            ("2x0", "cores = 0"),
            ("2x193", "cores = 193"),
            ("14x14", "sockets x clusters x cores = 196"),
            ("99999999999999999999x2", "sockets = "),
        ] {
            let error = Machine::parse(text).expect_err(text).to_string();
            assert!(error.contains(text) && error.contains(key) && error.contains("192"), "{error}");
        }
    }

    #[test]
    fn a_file_is_a_machine() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lab-7.toml");
        std::fs::write(&path, "base = \"epyc-7742\"\nsockets = 1\n[costs]\npause = 1.5\n").expect("written");
        let machine = Machine::parse(path.to_str().expect("a name")).expect("a machine");
        assert_eq!((machine.name.as_str(), machine.cores_in_all()), ("lab-7", 64));
        assert_eq!(machine.costs.pause, 1500);
        let absent = folder.path().join("absent");
        let error = Machine::parse(absent.to_str().expect("a name")).expect_err("absent").to_string();
        assert!(error.contains("absent"), "{error}");
    }
}
