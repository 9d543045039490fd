//! Passing on what ranks write, line by line.
//!
//! ```text
//! rank's pipe -> Stream: cuts at line ends -> Sink: labels, keeps lines apart -> queue -> writer thread
//! ```
//!
//! Invariants:
//! 1. A line of output never holds text of two ranks. An incomplete line of a rank is passed on when the
//!    rank has closed its pipe, when it is too long to be kept, or, to a terminal, when nothing followed
//!    for a moment (a prompt). If another rank's text comes next, a line end is put between.
//! 2. Without labels, the bytes of a rank are passed on unchanged and in order.
//! 3. The launcher never blocks in a write: only the writer thread does. When it is behind, the launcher
//!    stops reading (see [`Sink::is_full`]), so the ranks wait as they would for any slow reader, and signals
//!    and failures are still seen. Copies of the output in files are the exception: a disk is waited for.

mod queue;

use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use nix::sys::eventfd::EventFd;
use std::sync::Arc;

pub(crate) use queue::Health;
use queue::Queue;

/// How much is read from a pipe at a time: what a pipe holds.
const READ_BYTES: usize = 64 * 1024;
/// The longest line that is kept back until it is complete.
const LINE_BYTES: usize = 1024 * 1024;
/// How long an incomplete line is kept from a terminal.
const PROMPT: Duration = Duration::from_millis(100);

/// A file for a rank's output, with its name.
pub(crate) type NamedFile = (PathBuf, File);

/// Who wrote something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A rank.
    Rank(u32),
    /// The launcher itself.
    Launcher,
}

/// One of the launcher's own outputs.
#[derive(Debug)]
pub(crate) struct Sink {
    queue: Arc<Queue>,
    labels: Labels,
    terminal: bool,
    /// Whose incomplete line was passed on last.
    open_line: Option<Source>,
}

impl Sink {
    /// Starts writing to `target`; `wake` becomes readable when the sink has room
    /// again, is broken, or is done.
    pub(crate) fn new(target: BorrowedFd<'_>, labels: Labels, wake: Arc<EventFd>) -> io::Result<Self> {
        let terminal = nix::unistd::isatty(target).unwrap_or(false);
        let queue = Queue::start(File::from(target.try_clone_to_owned()?), wake)?;
        Ok(Self { queue, labels, terminal, open_line: None })
    }

    /// Passes on `text` of `source`.
    pub(crate) fn put(&mut self, source: Source, text: &[u8]) {
        let mut out = Vec::with_capacity(text.len() + 16);
        if self.open_line.is_some_and(|other| other != source) {
            out.push(b'\n');
            self.open_line = None;
        }
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            if let (None, Source::Rank(rank)) = (self.open_line, source) {
                out.extend_from_slice(self.labels.of(rank).as_bytes());
            }
            out.extend_from_slice(line);
            self.open_line = if line.ends_with(b"\n") { None } else { Some(source) };
        }
        self.queue.push(out);
    }

    /// Returns true if the reader of the output is so far behind that nothing more should be read.
    pub(crate) fn is_full(&self) -> bool {
        self.queue.is_full()
    }

    /// How the writing goes.
    pub(crate) fn health(&self) -> Health {
        self.queue.health()
    }

    /// Says that nothing more will come. [`health`](Self::health) tells when all is written.
    pub(crate) fn close(&self) {
        self.queue.close();
    }
}

/// The beginning of each line of output.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Labels {
    /// The rank.
    pub(crate) rank: bool,
    /// The time.
    pub(crate) time: bool,
}

impl Labels {
    /// What a line of that rank begins with.
    fn of(self, rank: u32) -> String {
        let mut label = String::new();
        if self.time {
            label.push_str(&format!("{} ", humantime::format_rfc3339_millis(SystemTime::now())));
        }
        if self.rank {
            label.push_str(&format!("[{rank}] "));
        }
        label
    }
}

/// One output of one rank.
#[derive(Debug)]
pub(crate) struct Stream {
    pipe: PipeReader,
    source: Source,
    /// An incomplete line.
    partial: Vec<u8>,
    /// When the last of it came.
    came: Instant,
    /// A file that gets what is passed on.
    copy: Option<NamedFile>,
    /// Why it gets no more.
    said: Option<String>,
}

impl Stream {
    /// Takes the reading end of a rank's pipe.
    pub(crate) fn new(rank: u32, pipe: PipeReader, copy: Option<NamedFile>) -> Self {
        let source = Source::Rank(rank);
        Self { pipe, source, partial: Vec::new(), came: Instant::now(), copy, said: None }
    }

    /// The pipe.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Reads once, which must not block (the pipe is readable), and passes on what is complete.
    /// False at the end of the pipe.
    pub(crate) fn pass_on(&mut self, sink: &mut Sink) -> bool {
        let kept = self.partial.len();
        self.partial.resize(kept + READ_BYTES, 0);
        let read = match self.pipe.read(&mut self.partial[kept..]) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.partial.truncate(kept);
                return true;
            }
            Err(_) => 0,
        };
        self.partial.truncate(kept + read);
        self.write_copy(kept);
        if read == 0 {
            self.flush(sink);
            return false;
        }
        self.came = Instant::now();
        let complete = match self.partial[kept..].iter().rposition(|&byte| byte == b'\n') {
            Some(last) => kept + last + 1,
            None if self.partial.len() > LINE_BYTES => self.partial.len(),
            None => 0,
        };
        if complete > 0 {
            sink.put(self.source, &self.partial[..complete]);
            self.partial.drain(..complete);
        }
        true
    }

    /// Writes what has come behind the first `kept` bytes to the file that gets a copy.
    fn write_copy(&mut self, kept: usize) {
        if let Some((path, file)) = &mut self.copy
            && let Err(error) = file.write_all(&self.partial[kept..])
        {
            self.said = Some(format!("{} does not get the rest of the output: {error}", path.display()));
            self.copy = None;
        }
    }

    /// What is to be said of the file that gets a copy, once.
    pub(crate) fn complaint(&mut self) -> Option<String> {
        self.said.take()
    }

    /// Passes on an incomplete line to a terminal if it looks like a prompt; otherwise says how
    /// long it may still be kept.
    pub(crate) fn prompt(&mut self, sink: &mut Sink) -> Option<Duration> {
        if self.partial.is_empty() || !sink.terminal {
            return None;
        }
        let left = PROMPT.saturating_sub(self.came.elapsed());
        if left.is_zero() {
            self.flush(sink);
            return None;
        }
        Some(left)
    }

    /// Passes on an incomplete line.
    pub(crate) fn flush(&mut self, sink: &mut Sink) {
        if !self.partial.is_empty() {
            sink.put(self.source, &self.partial);
            self.partial.clear();
        }
    }
}
