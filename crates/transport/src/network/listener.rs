//! The thread of the library that serves the network: it wakes sleepers when something comes, sends packets
//! that were left open, and lets the ports beat.
//!
//! A thread with nothing to do sleeps on the doorbell of its process, in memory that it shares with the ranks
//! of its machine. The kernel lets nobody sleep on that and on descriptors at once; so this thread waits for
//! the descriptors while one sleeps, and rings the doorbell.
//!
//! ```text
//!   the sleeper                                  the listener
//!   raises its flag in the doorbell              waits for the signal
//!   looks for work once more, at the rings
//!   and at the network
//!   arms the listener ─────────────────────────▶ waits for the descriptors
//!   sleeps on the doorbell                       disarms itself
//!                                  ◀──────────── rings the doorbell
//! ```
//!
//! A sleeper that comes between the last two steps finds it disarmed and arms it once more, or finds it armed
//! and is rung for, since its flag was up before it looked. A beat takes what has come to the descriptors, so
//! it rings, too.

use super::at_exit::{LISTENER, NetworkThread, end_at_exit};
use super::signal::Signal;
use heddle_platform::background;
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How often one after the other a descriptor may be readable at once, and in vain.
const PATIENCE_IN_VAIN: u32 = 4;
/// The same where peers copy from and to this process's memory, of which nothing tells: data may have come.
pub(super) const PATIENCE_WITH_COPIES: u32 = 1000;
/// How long the listener waits where a provider has no descriptor, or does not use it rightly.
const WITHOUT_DESCRIPTOR: Duration = Duration::from_millis(1);
/// The pause before the listener sends packets that their threads have left open. Each pause after which
/// there is none doubles the next one, up to [`LONGEST_PAUSE`]: threads that send their packets themselves,
/// as in a dialogue, are disturbed rarely.
const PAUSE: Duration = Duration::from_micros(100);
/// The longest of them.
const LONGEST_PAUSE: Duration = Duration::from_micros(1600);
/// The number of pauses without an open packet after which it waits to be called.
const PATIENCE: u32 = 10;

/// The listener of a process.
#[derive(Debug)]
pub(super) struct Listener {
    signal: Arc<Signal>,
    /// The descriptors of all ports; none if one of them has none.
    descriptors: Option<Vec<RawFd>>,
    started: OnceLock<bool>,
}

/// The listener's work at intervals.
pub(super) struct Beats {
    pub(super) interval: Duration,
    pub(super) beat: Box<dyn Fn() + Send>,
}

impl Listener {
    pub(super) fn new(signal: Arc<Signal>, descriptors: Option<Vec<RawFd>>) -> Listener {
        Listener { signal, descriptors, started: OnceLock::new() }
    }

    /// Starts the thread. Only the first call counts. Returns false if the system has no thread for it.
    pub(super) fn start(&self, beats: Option<Beats>, duties: impl Duties) -> bool {
        *self.started.get_or_init(|| self.try_start(beats, duties).is_ok())
    }

    /// From now on something from the network rings. Returns false if there is no listener.
    pub(super) fn arm(&self) -> bool {
        self.signal.arm()
    }

    fn try_start(&self, beats: Option<Beats>, duties: impl Duties) -> io::Result<()> {
        let (signal, descriptors) = (Arc::clone(&self.signal), self.descriptors.clone());
        end_at_exit();
        let mut rhythm = beats.map(|beats| Rhythm::new(&LISTENER, beats));
        let mut pause = PAUSE;
        let body = move || loop {
            let left = rhythm.as_ref().map(Rhythm::left);
            signal.wait(left);
            if signal.has_open() {
                send_open_packets(&signal, &duties, &mut pause);
            }
            let is_armed = signal.is_armed();
            // A thread may have left a packet open before the signal said that none is, or that one is armed.
            duties.send_open();
            if is_armed {
                let mut waits = Waits::new(descriptors.as_deref());
                let left = || rhythm.iter().map(Rhythm::left).chain(duties.longest_wait()).min();
                while waits.wait(left()) && !duties.has_work() {}
            }
            if let Some(rhythm) = &mut rhythm {
                rhythm.beat_if_due();
            }
            if signal.disarm() {
                duties.ring();
            }
        };
        // It lives as long as the process.
        background::start(LISTENER.name, None, body)?;
        self.signal.listener_is_there();
        Ok(())
    }
}

/// The listener's work when it is called.
pub(super) trait Duties: Send + 'static {
    /// Wakes the sleepers.
    fn ring(&self);

    /// Returns true if there is something to do.
    fn has_work(&self) -> bool;

    /// The longest that it may wait for the descriptors before it looks for work; none if they tell in time.
    fn longest_wait(&self) -> Option<Duration>;

    /// Sends the packets that were left open.
    fn send_open(&self);

    /// Sends the packets that were left open in ports that no thread is in. Returns true if there were some.
    fn send_open_if_free(&self) -> bool;
}

/// Sends open packets after a pause, in which their threads may do so, until there are none for a while or
/// a thread arms the listener. One may still be open then.
fn send_open_packets(signal: &Signal, duties: &impl Duties, pause: &mut Duration) {
    let mut idle = 0;
    while idle < PATIENCE && !signal.is_armed() {
        signal.wait_while_open(*pause);
        let sent = duties.send_open_if_free();
        idle = if sent { 0 } else { idle + 1 };
        *pause = pause_after(*pause, sent);
    }
    signal.none_is_open();
}

/// The pause that follows another one, behind which there were packets or not.
fn pause_after(pause: Duration, sent: bool) -> Duration {
    if sent { PAUSE } else { (pause * 2).min(LONGEST_PAUSE) }
}

/// Beats, and when the next one is due.
pub(super) struct Rhythm {
    thread: &'static NetworkThread,
    beats: Beats,
    due: Instant,
}

impl Rhythm {
    pub(super) fn new(thread: &'static NetworkThread, beats: Beats) -> Rhythm {
        Rhythm { thread, due: Instant::now() + beats.interval, beats }
    }

    /// When the next beat is due.
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// The time until the next beat.
    pub(super) fn left(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    pub(super) fn beat_if_due(&mut self) {
        if self.left().is_zero() {
            self.thread.with_network(|| (self.beats.beat)());
            self.due = Instant::now() + self.beats.interval;
        }
    }
}

/// Waits for descriptors. One may be readable although there is nothing to do: those of `tcp;ofi_rxm` 1.17
/// are so for ever once strangers have written to its ports. After a few such times they are left alone.
pub(super) struct Waits<'a> {
    descriptors: Option<&'a [RawFd]>,
    vain: u32,
    patience: u32,
}

impl<'a> Waits<'a> {
    pub(super) fn new(descriptors: Option<&'a [RawFd]>) -> Waits<'a> {
        Waits { descriptors, vain: 0, patience: PATIENCE_IN_VAIN }
    }

    /// The descriptors may be readable in vain so often.
    pub(super) fn have_patience(&mut self, patience: u32) {
        self.patience = patience;
    }

    /// There was something to do.
    pub(super) fn are_not_in_vain(&mut self) {
        self.vain = 0;
    }

    /// Waits until one of the descriptors is readable, or may be, for that time at most. Returns false if the
    /// time is over.
    pub(super) fn wait(&mut self, longest: Option<Duration>) -> bool {
        if longest == Some(Duration::ZERO) {
            return false;
        }
        let descriptors = self.descriptors.filter(|_| self.vain < self.patience);
        let longest = match descriptors {
            Some(_) => longest,
            None => Some(WITHOUT_DESCRIPTOR.min(longest.unwrap_or(WITHOUT_DESCRIPTOR))),
        };
        let watched = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut watched: Vec<_> = descriptors.unwrap_or_default().iter().copied().map(watched).collect();
        // A part of a millisecond counts as one, so that no time is spent in turns without a wait.
        let timeout = longest.map_or(-1, |longest| longest.as_micros().div_ceil(1000) as i32);
        let mut poll = |timeout| {
            // SAFETY: a list of that length. An interrupted call only makes the caller poll once more.
            unsafe { libc::poll(watched.as_mut_ptr(), watched.len() as libc::nfds_t, timeout) }
        };
        if descriptors.is_none() {
            poll(timeout);
        } else if poll(0) != 0 {
            self.vain += 1;
        } else {
            self.vain = 0;
            poll(timeout);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc;

    /// Duties that tell what the listener does.
    struct Told(mpsc::Sender<&'static str>);

    impl Told {
        fn tell(&self, what: &'static str) {
            // The test may be over.
            let _ = self.0.send(what);
        }
    }

    impl Duties for Told {
        fn ring(&self) {
            self.tell("rings");
        }

        fn has_work(&self) -> bool {
            self.tell("looks for work");
            true
        }

        fn longest_wait(&self) -> Option<Duration> {
            None
        }

        fn send_open(&self) {
            self.tell("sends open packets");
        }

        fn send_open_if_free(&self) -> bool {
            self.tell("sends open packets of free ports");
            false
        }
    }

    #[test]
    fn packets_that_are_open_when_a_thread_is_armed_are_sent_before_the_listener_waits() {
        for is_open in [false, true] {
            let signal = Arc::new(Signal::new());
            signal.listener_is_there();
            assert!(!is_open || signal.leave_open());
            assert!(signal.arm());
            let (tell, told) = mpsc::channel();
            assert!(Listener::new(signal, None).start(None, Told(tell)));
            let done = ["sends open packets", "looks for work", "rings"];
            assert_eq!(done.map(|_| told.recv().expect("the listener goes on")), done);
        }
    }

    #[test]
    fn pauses_in_vain_become_longer_across_calls() {
        let signal = Signal::new();
        signal.listener_is_there();
        let (tell, _told) = mpsc::channel();
        let (duties, mut pause) = (Told(tell), PAUSE);
        assert!(signal.leave_open());
        send_open_packets(&signal, &duties, &mut pause);
        assert_eq!(pause, LONGEST_PAUSE, "its threads have sent the packet");
        assert!(!signal.has_open());
        assert_eq!([true, false].map(|sent| pause_after(pause, sent)), [PAUSE, LONGEST_PAUSE]);
        assert_eq!(pause_after(PAUSE, false), 2 * PAUSE);
    }

    #[test]
    fn descriptors_that_are_readable_at_once_too_often_are_left_alone() {
        let (mut from, to) = UnixStream::pair().expect("a pair");
        let descriptors = [to.as_raw_fd()];
        let mut waits = Waits::new(Some(&descriptors));
        let wait = |waits: &mut Waits<'_>| waits.wait(Some(Duration::from_millis(1)));
        waits.vain = 3;
        assert!(wait(&mut waits));
        assert_eq!(waits.vain, 0, "it was waited for");
        from.write_all(b"x").expect("written");
        (0..2 * PATIENCE_IN_VAIN).for_each(|_| assert!(wait(&mut waits)));
        assert_eq!(waits.vain, PATIENCE_IN_VAIN, "it is polled no more");
        waits.have_patience(PATIENCE_WITH_COPIES);
        (0..PATIENCE_IN_VAIN).for_each(|_| assert!(wait(&mut waits)));
        assert_eq!(waits.vain, 2 * PATIENCE_IN_VAIN, "it is polled again");
    }
}
