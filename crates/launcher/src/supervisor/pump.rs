//! Waiting for something to happen, and moving input and output.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::phase::Phase;
use super::{Supervisor, TICK};
use crate::leftovers;
use crate::output::Source;

/// How many of the waited-for descriptors come before the ranks' pipes.
const FIXED: usize = 2;

impl Supervisor {
    /// Waits until something has happened or is due, and moves what can be moved without blocking.
    pub(super) fn pump(&mut self) {
        let full = [0, 1].map(|stream| self.sinks.of(stream).is_full());
        let timeout = self.timeout(full.contains(&true));
        let mut fds = vec![
            PollFd::new(self.signals.fd.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.wake.as_fd(), PollFlags::POLLIN),
        ];
        let mut pipes = Vec::new();
        for (rank, entry) in self.ranks.iter().enumerate() {
            for (index, stream) in entry.streams.iter().enumerate() {
                if let (Some(stream), false) = (stream, full[index]) {
                    pipes.push((rank, index));
                    fds.push(PollFd::new(stream.fd(), PollFlags::POLLIN));
                }
            }
        }
        if poll(&mut fds, timeout).is_err() {
            return;
        }
        let ready: Vec<bool> = fds.iter().map(|fd| fd.any().unwrap_or(false)).collect();
        drop(fds);
        if ready[1] {
            // A wake-up only: the sinks are asked anyhow.
            let _ = self.wake.read();
        }
        self.drained = !full.contains(&true) && !ready[FIXED..].contains(&true);
        for ((rank, index), _) in pipes.into_iter().zip(&ready[FIXED..]).filter(|(_, ready)| **ready) {
            let slot = &mut self.ranks[rank].streams[index];
            let Some(stream) = slot else { continue };
            let has_more = stream.pass_on(self.sinks.of(index));
            if let Some(text) = stream.complaint() {
                self.sinks.err().put(Source::Launcher, format!("mpiexec: {text}\n").as_bytes());
            }
            if !has_more {
                *slot = None;
            }
        }
    }

    /// How long nothing will be due if no event comes (room in a `full` output is one); prompts that are
    /// due are shown on the way.
    fn timeout(&mut self, full: bool) -> PollTimeout {
        let mut wait = match &self.phase {
            _ if !self.ended.is_empty() => Duration::ZERO,
            Phase::Running | Phase::Writing | Phase::Ending { kill_at: None } => TICK,
            Phase::Ending { kill_at: Some(at) } => at.saturating_duration_since(Instant::now()).min(TICK),
            Phase::Leftovers { gone: true, .. } if !full => Duration::ZERO,
            Phase::Leftovers { gone: true, .. } => TICK,
            Phase::Leftovers { .. } => leftovers::LOOK,
        };
        for rank in &mut self.ranks {
            for (index, stream) in rank.streams.iter_mut().enumerate() {
                let left = stream.as_mut().and_then(|stream| stream.prompt(self.sinks.of(index)));
                wait = wait.min(left.unwrap_or(wait));
            }
        }
        // Rounded up, or the last fraction of a millisecond would be spent in circles.
        PollTimeout::try_from(wait + Duration::from_micros(999)).unwrap_or(PollTimeout::ZERO)
    }
}
