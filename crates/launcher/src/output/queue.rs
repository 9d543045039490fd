//! The thread that writes, and the queue it takes from.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;

/// How much may wait to be written before reading stops.
const FULL_BYTES: usize = 1024 * 1024;

/// How writing goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Health {
    /// Fine, or waiting for the reader.
    Writing,
    /// Everything is written and nothing more will come.
    Done,
    /// Nobody reads the output any more.
    NobodyReads,
    /// The system refuses to write.
    Failed(String),
}

#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
    wake: Arc<EventFd>,
}

#[derive(Debug)]
struct QueueState {
    waiting: VecDeque<Vec<u8>>,
    waiting_bytes: usize,
    closed: bool,
    health: Health,
}

impl Queue {
    pub(super) fn start(target: File, wake: Arc<EventFd>) -> io::Result<Arc<Self>> {
        let state =
            QueueState { waiting: VecDeque::new(), waiting_bytes: 0, closed: false, health: Health::Writing };
        let queue = Arc::new(Self { state: Mutex::new(state), changed: Condvar::new(), wake });
        let writer = Arc::clone(&queue);
        thread::Builder::new().name("output".to_owned()).spawn(move || writer.write_all(target))?;
        Ok(queue)
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, text: Vec<u8>) {
        let mut state = self.lock();
        if state.health == Health::Writing && !text.is_empty() {
            state.waiting_bytes += text.len();
            state.waiting.push_back(text);
            self.changed.notify_one();
        }
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    pub(super) fn is_full(&self) -> bool {
        self.lock().waiting_bytes > FULL_BYTES
    }

    pub(super) fn health(&self) -> Health {
        self.lock().health.clone()
    }

    /// The writer thread: runs until the queue is closed and empty, or writing fails.
    fn write_all(&self, mut target: File) {
        let mut state = self.lock();
        loop {
            let Some(text) = state.waiting.pop_front() else {
                if state.closed {
                    state.health = Health::Done;
                    break;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let written = write_patiently(&mut target, &text);
            state = self.lock();
            let was_full = state.waiting_bytes > FULL_BYTES;
            state.waiting_bytes -= text.len();
            if let Err(error) = written {
                state.health = match error.kind() {
                    io::ErrorKind::BrokenPipe => Health::NobodyReads,
                    _ => Health::Failed(error.to_string()),
                };
                state.waiting.clear();
                state.waiting_bytes = 0;
                break;
            }
            if was_full && state.waiting_bytes <= FULL_BYTES {
                self.wake_launcher();
            }
        }
        drop(state);
        self.wake_launcher();
    }

    fn wake_launcher(&self) {
        // The counter cannot overflow in a lifetime of wake-ups.
        let _ = self.wake.write(1);
    }
}

/// Writes all of `text`, also where somebody has made the descriptor non-blocking.
fn write_patiently(target: &mut File, mut text: &[u8]) -> io::Result<()> {
    while !text.is_empty() {
        match target.write(text) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => text = &text[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let mut ready = [PollFd::new(target.as_fd(), PollFlags::POLLOUT)];
                poll(&mut ready, PollTimeout::NONE)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
