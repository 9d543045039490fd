//! The machines of a job: how a list or a file names them, and how many ranks each gets.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use heddle_bootstrap::control::MAX_SIZE;

/// A machine with the number of ranks that it is meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    pub(crate) name: String,
    /// At least 1.
    pub(crate) slots: u32,
}

/// An error in the description of a machine.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum HostError {
    #[error("a machine's name is missing")]
    NoName,
    #[error("{0:?} is no machine's name (letters, digits, '.', '_' and '-')")]
    BadName(String),
    #[error("{0:?} is no number of ranks from 1 to 65536")]
    BadSlots(String),
    #[error("{0:?} is not understood; allowed are NAME, NAME:4 and NAME slots=4")]
    BadLine(String),
}

/// An error in a file of machines.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("the file of machines {path} cannot be read: {source}", path = path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{path}, line {line}: {why}", path = path.display())]
    Line { path: PathBuf, line: usize, why: HostError },
    #[error("the file of machines {path} names none", path = .0.display())]
    Empty(PathBuf),
}

/// Reads `first,second:4`. A machine that is named again gets the ranks of both places.
pub(crate) fn from_list(text: &str) -> Result<Vec<Host>, HostError> {
    let mut hosts = Vec::new();
    for word in text.split(',') {
        add(&mut hosts, host(word)?);
    }
    Ok(hosts)
}

/// Reads a file with a machine on each line.
pub(crate) fn from_file(path: &Path) -> Result<Vec<Host>, FileError> {
    let bytes = fs::read(path).map_err(|source| FileError::Unreadable { path: path.to_owned(), source })?;
    let text = String::from_utf8_lossy(&bytes);
    let mut hosts = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        let host = match (words.next(), words.next()) {
            (None, _) => host(first),
            (Some(second), None) if !first.contains(':') => with_slots(first, second, line),
            _ => Err(HostError::BadLine(line.trim().to_owned())),
        };
        let host = host.map_err(|why| FileError::Line { path: path.to_owned(), line: index + 1, why })?;
        add(&mut hosts, host);
    }
    if hosts.is_empty() { Err(FileError::Empty(path.to_owned())) } else { Ok(hosts) }
}

/// Reads `NAME` or `NAME:4`.
fn host(word: &str) -> Result<Host, HostError> {
    let (name, slots) = match word.split_once(':') {
        Some((name, number)) => (name, slots(number)?),
        None => (word, 1),
    };
    Ok(Host { name: checked(name)?, slots })
}

/// Reads `NAME slots=4`, which are two words of `line`.
fn with_slots(name: &str, second: &str, line: &str) -> Result<Host, HostError> {
    match second.strip_prefix("slots=") {
        Some(number) => Ok(Host { name: checked(name)?, slots: slots(number)? }),
        None => Err(HostError::BadLine(line.trim().to_owned())),
    }
}

fn slots(number: &str) -> Result<u32, HostError> {
    let parsed = number.parse().ok().filter(|slots| (1..=MAX_SIZE).contains(slots));
    parsed.ok_or_else(|| HostError::BadSlots(number.to_owned()))
}

/// A name that no launcher takes for something else, such as an option.
fn checked(name: &str) -> Result<String, HostError> {
    if name.is_empty() {
        return Err(HostError::NoName);
    }
    let ordinary = name.chars().all(|c| c.is_alphanumeric() || "._-".contains(c));
    if ordinary && !name.starts_with('-') {
        Ok(name.to_owned())
    } else {
        Err(HostError::BadName(name.to_owned()))
    }
}

fn add(hosts: &mut Vec<Host>, new: Host) {
    match hosts.iter_mut().find(|host| host.name == new.name) {
        Some(host) => host.slots = host.slots.saturating_add(new.slots),
        None => hosts.push(new),
    }
}

/// True if `name` means the machine whose own name is `own`, perhaps without the domain. A name with a domain
/// that `own` lacks may be that of another machine.
pub(crate) fn is_here(name: &str, own: &str) -> bool {
    let short = own.split('.').next().unwrap_or_default();
    ["localhost", "127.0.0.1", own, short]
        .iter()
        .any(|known| !known.is_empty() && name.eq_ignore_ascii_case(known))
}

/// How many of `ranks` ranks run on each machine: the slots are filled in order, as often as it takes.
/// Machines without a rank are left out.
pub(crate) fn shares<'h>(hosts: &'h [Host], ranks: u64) -> Vec<(&'h str, u64)> {
    let slots: u64 = hosts.iter().map(|host| u64::from(host.slots)).sum();
    let (rounds, mut rest) = (ranks / slots, ranks % slots);
    let share = |Host { name, slots }: &'h Host| {
        let slots = u64::from(*slots);
        let more = rest.min(slots);
        rest -= more;
        (name.as_str(), slots * rounds + more)
    };
    hosts.iter().map(share).filter(|share| share.1 > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(of: &[(&str, u32)]) -> Vec<Host> {
        of.iter().map(|&(name, slots)| Host { name: name.to_owned(), slots }).collect()
    }

    fn file(text: &str) -> Result<Vec<Host>, String> {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("machines");
        fs::write(&path, text).expect("a file");
        from_file(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn lists() {
        assert_eq!(from_list("a"), Ok(hosts(&[("a", 1)])));
        assert_eq!(from_list("10.0.0.1:4,b-2.x_y"), Ok(hosts(&[("10.0.0.1", 4), ("b-2.x_y", 1)])));
        assert_eq!(from_list("a,b,a:2"), Ok(hosts(&[("a", 3), ("b", 1)])));
        assert_eq!(from_list(""), Err(HostError::NoName));
        assert_eq!(from_list("a,"), Err(HostError::NoName));
        assert_eq!(from_list("-x"), Err(HostError::BadName("-x".into())));
        assert_eq!(from_list("a b"), Err(HostError::BadName("a b".into())));
        for number in ["", "0", "-1", "65537", "two", ":1"] {
            assert_eq!(from_list(&format!("a:{number}")), Err(HostError::BadSlots(number.into())));
        }
    }

    #[test]
    fn files() {
        let text = "# machines\n\nfirst\n second:4  # four\nthird slots=2\r\nfirst\n";
        assert_eq!(file(text), Ok(hosts(&[("first", 2), ("second", 4), ("third", 2)])));
    }

    #[test]
    fn errors_in_files_name_the_line() {
        for (text, says) in [
            ("", "names none"),
            ("# nothing\n\n", "names none"),
            ("a\nb:x\n", "line 2: \"x\" is no number"),
            ("a slots=0", "line 1: \"0\" is no number"),
            ("\na max_slots=3", "line 2: \"a max_slots=3\" is not understood"),
            ("a:2 slots=2", "line 1: \"a:2 slots=2\" is not understood"),
            ("a b c", "line 1: \"a b c\" is not understood"),
            ("a,b", "line 1: \"a,b\" is no machine's name"),
            ("\u{0}\u{1}", "line 1"),
        ] {
            let error = file(text).expect_err(text);
            assert!(error.contains(says), "{text:?} gave: {error}");
        }
        let missing = from_file(Path::new("/nowhere/machines")).expect_err("no file").to_string();
        assert!(missing.contains("/nowhere/machines cannot be read: No such file"), "{missing}");
    }

    #[test]
    fn own_names() {
        for (name, own) in
            [("localhost", "x"), ("node1", "node1"), ("Node1", "node1.site"), ("node1.site", "Node1.site")]
        {
            assert!(is_here(name, own), "{name} is {own}");
        }
        for (name, own) in [
            ("node2", "node1"),
            ("node1.site", "node1"),
            ("node1.site", "node1.other"),
            ("10.0.0.1", "10.0.0.2"),
            ("", "x"),
        ] {
            assert!(!is_here(name, own), "{name} is not {own}");
        }
    }

    #[test]
    fn ranks_fill_the_slots_in_order() {
        let two = hosts(&[("a", 1), ("b", 1)]);
        assert_eq!(shares(&two, 1), [("a", 1)]);
        assert_eq!(shares(&two, 4), [("a", 2), ("b", 2)]);
        assert_eq!(shares(&two, 5), [("a", 3), ("b", 2)]);
        let uneven = hosts(&[("a", 1), ("b", 3), ("c", 2)]);
        assert_eq!(shares(&uneven, 3), [("a", 1), ("b", 2)]);
        assert_eq!(shares(&uneven, 12), [("a", 2), ("b", 6), ("c", 4)]);
        assert_eq!(shares(&uneven, 8), [("a", 2), ("b", 4), ("c", 2)]);
    }
}
