//! Keeps strangers away from libfabric's providers for TCP.
//!
//! These providers accept whoever connects to their port, and believe what he sends: libfabric 1.17 ends in a
//! signal at an acknowledgement that it does not expect, and gives all messages, also those that break off,
//! to the endpoint. So this module stands in front of the port. A process that connects shows first that it
//! knows the key (`proof.rs`) of the process that listens; a connection without that proof is closed before
//! libfabric sees it.
//!
//! ```text
//!   the process that connects                 the process that listens
//!   libfabric calls connect
//!   libfabric asks whether it is connected
//!     ── proof ───────────────────────────▶   libfabric calls accept: the proof is read and checked;
//!                                             without it there is no connection to accept
//!     ── libfabric's request ─────────────▶   libfabric reads
//! ```
//!
//! libfabric has no place for that. So its calls of four functions of the C library lead to this module
//! (`replace.rs`); the calls of the program and of other libraries do not. The functions act on ports that
//! were opened here, and on addresses that were [introduced](introduce). Whoever uses libfabric beside
//! Heddle notices nothing.
//!
//! The kernel keeps a connection for itself until something was sent over it (`TCP_DEFER_ACCEPT`), so
//! thousands that say nothing cost the process no descriptor and no time.
//!
//! | file | idea |
//! |---|---|
//! | `proof.rs` | keys, and the proof that one knows them |
//! | `calls.rs` | the functions that libfabric calls |
//! | `doors.rs` | what they remember |
//! | `replace.rs` | how libfabric's calls come here |
//!
//! Where that cannot be, ports stay open for all: other architectures, providers that are not for TCP, and
//! libfabric with `io_uring`, which makes no calls.

mod calls;
mod doors;
mod proof;
mod replace;

use crate::library::Provider;
use doors::{doors, socket_address};
pub use proof::JobKey;
use std::net::SocketAddr;
use std::sync::OnceLock;

/// The providers whose connections are TCP's, by the first part of their names.
const PROVIDERS: [&str; 2] = ["net", "tcp"];

/// By this variable `tcp` does without system calls, since version 1.18.
const WITHOUT_CALLS: &str = "FI_TCP_IO_URING";

/// The key of this process, once libfabric's calls come here.
static KEY: OnceLock<Option<JobKey>> = OnceLock::new();

/// The time in which an endpoint is opened.
pub(crate) struct Opening(Option<JobKey>);

impl Opening {
    /// Begins it: ports that this thread listens to from now on are guarded, if the provider's can be.
    pub(crate) fn begin(provider: &Provider) -> Opening {
        let name = provider.name();
        let is_tcp = PROVIDERS.contains(&name.split(';').next().unwrap_or_default());
        let key = if is_tcp { key(provider) } else { None };
        if key.is_some() {
            doors().begins_to_open();
        }
        Opening(key)
    }

    /// Ends it. Returns the key that others need to connect to the endpoint, if they need one.
    pub(crate) fn end(self) -> Option<JobKey> {
        self.0.filter(|_| doors().ends_to_open())
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if self.0.is_some() {
            doors().ends_to_open();
        }
    }
}

fn key(provider: &Provider) -> Option<JobKey> {
    *KEY.get_or_init(|| {
        let uses_no_calls = std::env::var(WITHOUT_CALLS).is_ok_and(|value| {
            !["", "0", "n", "no", "off", "f", "false"].contains(&value.to_lowercase().as_str())
        });
        let inside = provider.functions.address();
        let key = JobKey::random().filter(|_| !uses_no_calls && replace::replace(inside, &calls::all()))?;
        doors().key = Some(key);
        Some(key)
    })
}

/// Says which key the process has that listens at an address, by the name of its endpoint; none if it does
/// not ask for one.
pub fn introduce(name: &[u8], key: Option<JobKey>) {
    let Some(address) = socket_address(name) else { return };
    match key {
        Some(key) => _ = doors().known.insert(address, key),
        None => _ = doors().known.remove(&address),
    }
}

/// Calls this with the address of each process that was turned away.
pub fn report_strangers(report: fn(SocketAddr)) {
    doors().report = Some(report);
}

/// The number of connections that were turned away.
#[must_use]
pub fn turned_away() -> u64 {
    doors().turned_away
}
