//! Where a rank runs, and where the memory that it has made is found.

use crate::BootstrapError;
use crate::JobControl;
use crate::control::pid_namespace;
use crate::host::host;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// A descriptor of a process on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    host: String,
    /// The name of the machine's present run, and of the namespace in which `pid` is valid.
    machine: String,
    pid: u32,
    fd: i32,
}

impl Place {
    /// The place of memory that the calling process has made.
    pub(super) fn of(control: &JobControl) -> Place {
        Place { host: host(), machine: machine(), pid: std::process::id(), fd: control.fd().as_raw_fd() }
    }

    /// Reads what [`Display`](fmt::Display) has written.
    ///
    /// # Errors
    /// When it is something else.
    pub(super) fn parse(text: &str) -> Result<Place, BootstrapError> {
        let mut words = text.split('/');
        let place = (|| {
            let (host, machine) = (words.next()?.to_owned(), words.next()?.to_owned());
            let (pid, fd) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            words.next().is_none().then_some(Place { host, machine, pid, fd })
        })();
        place.ok_or_else(|| BootstrapError::Launcher {
            what: format!("the place of a rank is {text:?}, which no rank can have put there"),
        })
    }

    /// Returns true if processes there and at `other` can open each other's memory.
    pub(super) fn is_beside(&self, other: &Place) -> bool {
        (&self.host, &self.machine) == (&other.host, &other.machine)
    }

    /// Opens the memory for `rank`, which is [beside](Self::is_beside) it. Returns its path, too.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn open(&self, rank: u32) -> Result<(File, PathBuf), BootstrapError> {
        let path = PathBuf::from(format!("/proc/{}/fd/{}", self.pid, self.fd));
        match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => Ok((file, path)),
            Err(error) => Err(BootstrapError::Hidden { rank, why: format!("{}: {error}", path.display()) }),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.host, self.machine, self.pid, self.fd)
    }
}

/// The name of the run of this machine that began with its last start, and of the namespace of processes.
fn machine() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!("{}-{:x}", boot.trim(), pid_namespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};

    #[test]
    fn the_memory_is_found_by_the_words_of_its_place() {
        let control = JobControl::create(2).expect("a job");
        let place = Place::parse(&Place::of(&control).to_string()).expect("a place");
        let (mut there, _) = place.open(1).expect("the same machine");
        there.write_all(b"seen").expect("written");
        let mut here = control.into_file();
        here.rewind().expect("a file");
        let mut bytes = [0; 4];
        here.read_exact(&mut bytes).expect("read");
        assert_eq!(&bytes, b"seen");
    }

    #[test]
    fn another_machine_is_elsewhere_and_another_word_is_refused() {
        let here = Place { host: host(), machine: machine(), pid: 1, fd: 3 };
        assert!(here.is_beside(&Place { pid: 2, ..here.clone() }));
        assert!(!here.is_beside(&Place { host: "elsewhere".to_owned(), ..here.clone() }));
        assert!(!here.is_beside(&Place { machine: "1-2".to_owned(), ..here.clone() }));
        for text in ["", "a/b/c/d", "a/b/1", "a/b/1/2/3"] {
            assert!(Place::parse(text).expect_err("no place").to_string().contains(text));
        }
    }
}
