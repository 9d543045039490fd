//! The descriptor over which a rank and its launcher talk, and the versions of PMI on which they agree.
//!
//! The first exchange is a line each, whatever follows: the rank names a version, and the launcher says
//! whether it is to be that one.

use super::wire::{unexpected, value_in};
use crate::BootstrapError;
use crate::descriptor::{HeldFile, close_on_exec, duplicate};
use crate::external::LAUNCHER_THREAD;
use heddle_platform::background;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, RawFd};

/// A version of PMI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// PMI 1.1: lines of words.
    One,
    /// PMI 2.0: messages with their length.
    Two,
}

impl Version {
    fn number(self) -> &'static str {
        match self {
            Version::One => "1",
            Version::Two => "2",
        }
    }

    /// The request to speak this version.
    fn request(self) -> String {
        let subversion = if self == Version::One { 1 } else { 0 };
        format!("cmd=init pmi_version={} pmi_subversion={subversion}\n", self.number())
    }
}

/// A connection to the launcher.
#[derive(Debug)]
pub(super) struct Channel(BufReader<HeldFile>);

impl Channel {
    /// Takes over the descriptor.
    pub(super) fn open(fd: RawFd) -> Result<Channel, BootstrapError> {
        let wrong = |why: String| BootstrapError::Launcher { what: format!("PMI_FD: {why}") };
        let file = duplicate(fd).map_err(wrong)?;
        let status = file.metadata().map_err(|error| wrong(error.to_string()))?;
        // A request would go into the program's file.
        if status.is_file() || status.is_dir() {
            return Err(wrong(format!(
                "descriptor {fd} is a file and not the launcher's: the program has closed that one before MPI_Init"
            )));
        }
        close_on_exec(fd);
        let held = HeldFile::new(file).map_err(|error| wrong(error.to_string()))?;
        Ok(Channel(BufReader::new(held)))
    }

    /// Proposes the versions in turn; returns the first one that the launcher speaks, too.
    pub(super) fn agree(&mut self, versions: &[Version]) -> Result<Version, BootstrapError> {
        let mut refused = String::new();
        for &version in versions {
            self.send(&version.request())?;
            let answer = self.line()?;
            let value = |name| value_in(answer.split(' '), name);
            let agrees = value("cmd") == Some("response_to_init") && value("rc").is_none_or(|rc| rc == "0");
            // Without a number it is the version that was proposed.
            let number = value("pmi_version").unwrap_or(version.number());
            if agrees && let Some(&spoken) = versions.iter().find(|spoken| spoken.number() == number) {
                return Ok(spoken);
            }
            if answer.is_empty() {
                return Err(unexpected(version.request().trim_end(), "response_to_init", ""));
            }
            let number = version.number();
            refused += &format!("asked to speak PMI-{number}, the launcher says {answer:?}; ");
        }
        let what = refused + "HEDDLE_BOOTSTRAP=pmi asks for PMI-1 alone, pmi2 for PMI-2 alone";
        Err(BootstrapError::Launcher { what })
    }

    /// Starts a thread that calls `hung_up` when the launcher's end of the descriptor is closed.
    pub(super) fn watch(&self, hung_up: impl FnOnce() + Send + 'static) -> Result<(), BootstrapError> {
        let failed = |source| BootstrapError::System { what: "watching the launcher (PMI)", source };
        // The other one may be closed, and its number given to another file, while the thread waits.
        let watched = self.0.get_ref().try_clone().map_err(failed)?;
        let body = move || {
            await_hangup(&watched);
            hung_up();
        };
        background::start(LAUNCHER_THREAD, None, body).map(drop).map_err(failed)
    }

    /// Sends a request.
    pub(super) fn send(&mut self, request: &str) -> Result<(), BootstrapError> {
        let source = match self.0.get_mut().write_all(request.as_bytes()) {
            Ok(()) => return Ok(()),
            Err(source) => source,
        };
        Err(BootstrapError::System { what: "a request to the launcher (PMI)", source })
    }

    /// The next line, without its end unless it is empty; nothing if the launcher has gone.
    pub(super) fn line(&mut self) -> Result<String, BootstrapError> {
        let mut line = String::new();
        self.0.read_line(&mut line).map_err(unread)?;
        // A newline alone is an answer, too.
        let end = if line == "\n" { &line } else { line.trim_end() };
        Ok(end.to_owned())
    }

    /// The next bytes; nothing if the launcher has gone.
    pub(super) fn bytes(&mut self, count: usize) -> Result<String, BootstrapError> {
        let mut bytes = vec![0; count];
        match self.0.read_exact(&mut bytes) {
            Ok(()) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(String::new()),
            Err(error) => Err(unread(error)),
        }
    }
}

/// Waits until the other end is closed, whatever comes before.
fn await_hangup(file: &File) {
    let mut watched = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLRDHUP, revents: 0 };
    while watched.revents == 0 {
        // SAFETY: a list of one. An interrupted call only makes this thread wait once more.
        unsafe { libc::poll(&raw mut watched, 1, -1) };
    }
}

fn unread(source: io::Error) -> BootstrapError {
    BootstrapError::System { what: "a reply of the launcher (PMI)", source }
}

#[cfg(test)]
mod tests {
    use super::super::scripted::with_launcher;
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc;

    fn agreed(versions: &[Version], replies: &[&str]) -> (Result<Version, BootstrapError>, Vec<String>) {
        with_launcher(replies, |fd| Channel::open(fd).expect("a descriptor").agree(versions))
    }

    const FIRST: &str = "cmd=init pmi_version=1 pmi_subversion=1\n";
    const SECOND: &str = "cmd=init pmi_version=2 pmi_subversion=0\n";

    #[test]
    fn the_launcher_chooses_among_the_versions_that_were_proposed() {
        const BOTH: [Version; 2] = [Version::Two, Version::One];
        let two = "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n";
        let one = "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=2\n";
        let no = "cmd=response_to_init rc=-1 pmi_version=2 pmi_subversion=0\n";
        for (versions, replies, spoken, asked) in [
            (&BOTH[..], &[two][..], Version::Two, &[SECOND][..]),
            (&BOTH, &[one], Version::One, &[SECOND]),
            (&BOTH, &[no, one], Version::One, &[SECOND, FIRST]),
            (&[Version::One], &["cmd=response_to_init rc=0\n"], Version::One, &[FIRST]),
        ] {
            let (version, requests) = agreed(versions, replies);
            assert_eq!(version.expect("a version"), spoken, "{replies:?}");
            assert_eq!(requests, asked, "{replies:?}");
        }
    }

    #[test]
    fn the_end_of_the_launcher_is_seen_and_its_words_are_not_taken_for_it() {
        let (mut launcher, rank) = UnixStream::pair().expect("a pair");
        let mut channel = Channel::open(rank.as_raw_fd()).expect("a descriptor");
        let (tell, told) = mpsc::channel();
        channel.watch(move || tell.send(()).expect("the test listens")).expect("a thread");
        for _ in 0..100 {
            launcher.write_all(b"word\n").expect("written");
            assert_eq!(channel.line().expect("a line"), "word");
        }
        assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Empty));
        drop(launcher);
        told.recv().expect("it is seen");
    }

    #[test]
    fn a_launcher_that_refuses_or_goes_is_an_error() {
        let one = "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n";
        let (version, _) = agreed(&[Version::Two], &[one]);
        let text = version.expect_err("it speaks another version").to_string();
        assert!(
            text.contains("HEDDLE_BOOTSTRAP") && text.contains("PMI-2, the launcher says \"cmd=response"),
            "{text}"
        );
        let (version, _) = agreed(&[Version::Two, Version::One], &["garbage\n", "\n"]);
        let text = version.expect_err("it says nothing").to_string();
        assert!(text.contains("garbage") && text.contains("PMI-1, the launcher says \"\\n\""), "{text}");
        let (version, _) = with_launcher(&[], |fd| {
            // SAFETY: the test's own socket.
            unsafe { libc::shutdown(fd, libc::SHUT_RD) };
            Channel::open(fd).expect("a descriptor").agree(&[Version::One])
        });
        assert!(version.expect_err("nothing to read").to_string().contains("gone"));
    }
}
