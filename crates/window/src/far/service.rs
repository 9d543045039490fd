//! Sending, and waiting, for all windows of the process that have processes on other machines.

use super::calls::Calls;
use super::part::Part;
use heddle_message::domain::Domain;
use heddle_platform::Scope;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_sync::Event;
use heddle_transport::{OneSided, Polled, Request};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The polls in vain before a thread goes to sleep: some messages' way there and back, if there is a core for
/// each process of the machine, and next to none if they wait for one.
const POLLS: [u32; 2] = [2, 64];
/// The longest sleep of a thread before it makes progress on messages.
const LONGEST_PARK: Duration = Duration::from_millis(1);

/// The part of the library that moves data of windows between machines.
pub(super) struct Service {
    domain: &'static Domain,
    port: Arc<OneSided>,
    parts: Mutex<HashMap<u64, Part>>,
    calls: Calls,
    numbers: AtomicU64,
    /// The number of requests of the program that wait for data.
    requests: AtomicU64,
    /// Where threads sleep until messages were handled.
    handled: Event,
}

impl fmt::Debug for Service {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Service").field("port", &self.port).finish_non_exhaustive()
    }
}

impl Service {
    pub(super) fn new(domain: &'static Domain, port: Arc<OneSided>) -> Service {
        Service {
            domain,
            port,
            parts: Mutex::default(),
            calls: Calls::default(),
            numbers: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            handled: Event::default(),
        }
    }

    pub(super) fn address(&self) -> &str {
        self.port.address()
    }

    pub(super) fn know(&self, process: usize, address: &str) {
        self.port.know(process, address);
    }

    pub(super) fn new_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn domain(&self) -> &'static Domain {
        self.domain
    }

    pub(super) fn port(&self) -> &Arc<OneSided> {
        &self.port
    }

    pub(super) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// This process's parts of windows, by their numbers.
    pub(super) fn parts(&self) -> MutexGuard<'_, HashMap<u64, Part>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, window: u64, part: Part) {
        self.parts().insert(window, part);
    }

    pub(super) fn remove(&self, window: u64) {
        self.parts().remove(&window);
    }

    /// Sends a message to a process, once there is room for it.
    pub(super) fn send(&self, process: u32, message: &Request, fill: impl Fn(*mut u8)) {
        self.wait_until(|| self.port.send(process as usize, message, &fill));
    }

    /// From now on a message may be what a request waits for, whose thread sleeps at the doorbell.
    pub(super) fn begin_request(&self) {
        self.requests.fetch_add(1, Ordering::SeqCst);
    }

    /// One such request is complete.
    pub(super) fn end_request(&self) {
        self.requests.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes the threads that wait, after messages were handled.
    pub(super) fn wake(&self) {
        self.handled.wake(Scope::Process);
        if self.requests.load(Ordering::SeqCst) != 0 {
            let fabric = self.domain.fabric();
            fabric.wake(fabric.rank());
        }
    }

    /// Waits until `is_over` returns true; meanwhile handles what arrives.
    pub(super) fn wait_until(&self, mut is_over: impl FnMut() -> bool) {
        if is_over() {
            return;
        }
        self.port.send_open();
        let (mut vain, polls) = (0, POLLS[usize::from(self.domain.has_cores())]);
        while !is_over() {
            match self.port.poll() {
                Polled::Something => vain = 0,
                Polled::Nothing if vain < polls => {
                    vain += 1;
                    thread::yield_now();
                }
                Polled::Nothing | Polled::Elsewhere => {
                    let ticket = self.handled.prepare();
                    if is_over() {
                        return;
                    }
                    self.port.call();
                    let sleep = || ticket.sleep(Some(LONGEST_PARK), Scope::Process);
                    if !self.domain.calls().outside(sleep) {
                        self.make_progress();
                    }
                }
            }
        }
    }

    /// Waits for that time, or until messages were handled.
    pub(super) fn pause(&self, time: Duration) {
        let ticket = self.handled.prepare();
        self.port.call();
        if !self.domain.calls().outside(|| ticket.sleep(Some(time), Scope::Process)) {
            self.make_progress();
        }
    }

    /// Makes progress on messages, unless there are threads for that.
    fn make_progress(&self) {
        if !self.domain.is_offloaded() {
            self.domain.poll_everywhere();
        }
    }
}
