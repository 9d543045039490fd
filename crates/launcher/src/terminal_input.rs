//! Standard input from a terminal.
//!
//! A file or a pipe is simply inherited by rank 0. A terminal cannot be: rank 0 is in a session that is not
//! the terminal's, where nothing keeps it from reading what is meant for another program. So the front reads,
//! while it is in the foreground, and passes on through a pipe.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::PollFlags;
use nix::unistd::{getpgrp, tcgetpgrp};

/// The front's end of rank 0's standard input.
#[derive(Debug)]
pub(crate) struct TerminalInput {
    pipe: PipeWriter,
    /// Read, but not yet passed on.
    pending: Vec<u8>,
}

impl TerminalInput {
    /// Makes the pipe if standard input is a terminal; the reading end is for rank 0.
    pub(crate) fn open() -> io::Result<Option<(Self, PipeReader)>> {
        if !nix::unistd::isatty(io::stdin()).unwrap_or(false) {
            return Ok(None);
        }
        let (reader, pipe) = io::pipe()?;
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Some((Self { pipe, pending: Vec::new() }, reader)))
    }

    /// What to wait for before [`step`](Self::step) can do something.
    pub(crate) fn interest<'a>(&'a self, stdin: &'a io::Stdin) -> Option<(BorrowedFd<'a>, PollFlags)> {
        if !self.pending.is_empty() {
            return Some((self.pipe.as_fd(), PollFlags::POLLOUT));
        }
        let in_foreground = tcgetpgrp(stdin).is_ok_and(|group| group == getpgrp());
        in_foreground.then(|| (stdin.as_fd(), PollFlags::POLLIN))
    }

    /// Reads or writes once; false when there is nothing more to pass on, or nobody to pass it to.
    pub(crate) fn step(&mut self, stdin: &io::Stdin) -> bool {
        if self.pending.is_empty() {
            let mut text = [0; 4096];
            // Not through `Stdin`'s own buffer, which poll does not know of.
            match nix::unistd::read(stdin, &mut text) {
                Ok(0) => return false,
                Ok(read) => self.pending.extend_from_slice(&text[..read]),
                Err(error) => return error == nix::errno::Errno::EINTR,
            }
        }
        match self.pipe.write(&self.pending) {
            Ok(written) => {
                self.pending.drain(..written);
                true
            }
            Err(error) => matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
        }
    }
}
