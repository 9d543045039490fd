//! The network between machines, through libfabric.
//!
//! Each VNI has a [`Port`]: an endpoint with a completion queue of its own, so threads on different VNIs do
//! not meet here either. What `Outbox` and `Inbox` promise holds across machines as well: a header with
//! bytes, in order for each sender, receiver and VNI; `false` where there is no room.
//!
//! | file | idea |
//! |---|---|
//! | `packet.rs` | messages as they travel |
//! | `address.rs` | the words by which others find a VNI |
//! | `alike.rs` | choices that all processes of a job must make alike |
//! | `buffers.rs` | memory for packets |
//! | `connection.rs` | the connection to a rank: flow control, order |
//! | `port` | the port of a VNI: its endpoint and connections; remote reads |
//! | `pace.rs` | how often the network is looked at beside the rings |
//! | `heartbeat.rs` | whether a peer is alive |
//! | `listener.rs` | the thread that wakes sleepers, sends open packets and lets ports beat |
//! | `late.rs` | descriptors that are opened while the listener waits |
//! | `signal.rs` | the word by which threads call it |
//! | `strangers.rs` | what is said of processes that do not belong to the job |
//! | `at_exit.rs` | keeps the library's threads from using the network while the process ends |
//! | `one_sided.rs` | the port for operations that a thread of the library carries out at their target |

mod address;
mod alike;
mod at_exit;
mod buffers;
mod connection;
mod heartbeat;
mod late;
mod listener;
mod one_sided;
mod pace;
mod packet;
mod port;
mod signal;
mod strangers;
#[cfg(test)]
mod tests;

use crate::error::TransportError;
use crate::single_copy::random;
pub use alike::Alike;
use at_exit::LISTENER;
pub(crate) use buffers::LONGEST_PAYLOAD;
use heddle_bootstrap::Joining;
use heddle_libfabric::guard;
use heddle_libfabric::{Library, Provider, Wish};
use heddle_platform::atomic::AtomicU32;
use late::Latecomers;
use listener::{Beats, Duties, Listener};
pub use one_sided::{Handler, LONGEST_REQUEST, OneSided, Polled, Request};
pub(crate) use pace::Pace;
pub(crate) use port::Lasts;
pub use port::{CopyDirection, Exposed, RemoteCopy};
pub(crate) use port::{Outgoing, Port, ProcessInfo};
use signal::Signal;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Which network is used between machines (`HEDDLE_FABRIC`, `HEDDLE_FABRIC_DOMAIN`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum NetworkChoice {
    /// The first provider that connects machines, if there are several.
    #[default]
    Auto,
    /// None.
    Off,
    /// The provider of this name, if given, on the domain of this name, if given.
    Wish(Wish),
}

impl NetworkChoice {
    /// The provider of this name, if given, on the domain of this name, if given.
    #[must_use]
    pub fn wish(provider: Option<&str>, domain: Option<&str>) -> NetworkChoice {
        NetworkChoice::Wish(Wish { provider: provider.map(str::to_owned), domain: domain.map(str::to_owned) })
    }
}

/// Counts of messages and connections of processes that do not belong to the job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Strangers {
    /// Packets, and messages that failed.
    pub packets: u64,
    /// Connections that were turned away.
    pub turned_away: u64,
}

/// A network whose ports nobody sends to yet.
#[derive(Debug)]
pub struct Network {
    opened: Result<Vec<port::Opened>, TransportError>,
    pub(crate) alike: Alike,
    timeout: Option<Duration>,
}

impl Network {
    /// Opens the network, if ranks may run on several machines, and leaves the addresses of its ports for the
    /// other ranks. A rank that is silent for `timeout` will be lost.
    ///
    /// # Errors
    /// If it cannot be opened although it is needed, or an address cannot be left.
    pub fn open(
        choice: &NetworkChoice,
        alike: Alike,
        timeout: Option<Duration>,
        joining: &Joining,
    ) -> Result<Option<Network>, TransportError> {
        if joining.shares_memory() {
            return Ok(None);
        }
        let spans = joining.spans_machines();
        let wish = match choice {
            NetworkChoice::Off => return Ok(None),
            NetworkChoice::Auto if spans == Some(false) => return Ok(None),
            NetworkChoice::Auto => Wish::default(),
            NetworkChoice::Wish(wish) => wish.clone(),
        };
        let opened = open_ports(&wish, alike, joining);
        // If the launcher does not say where ranks run, they may do without a network.
        if spans.is_none() && *choice == NetworkChoice::Auto {
            return Ok(Some(Network { opened, alike, timeout }));
        }
        opened.map(|ports| Some(Network { opened: Ok(ports), alike, timeout }))
    }
}

fn open_ports(wish: &Wish, alike: Alike, joining: &Joining) -> Result<Vec<port::Opened>, TransportError> {
    let provider: Arc<Provider> = Arc::new(Library::open()?.provider(wish, port::DEPTH)?);
    guard::report_strangers(strangers::report);
    let key = random();
    let mut ports = Vec::new();
    for vni in 0..alike.vnis {
        let port = port::Opened::new(&provider, key)?;
        joining.publish(vni, &port.address(alike)?.to_string())?;
        ports.push(port);
    }
    Ok(ports)
}

/// The listener's work for the ports.
struct Service<R> {
    ports: Vec<Arc<Port>>,
    ring: R,
}

impl<R: Fn() + Send + 'static> Duties for Service<R> {
    fn ring(&self) {
        (self.ring)();
    }

    fn has_work(&self) -> bool {
        LISTENER.with_network(|| self.ports.iter().any(|port| !port.is_at_rest()))
    }

    fn longest_wait(&self) -> Option<Duration> {
        self.ports.iter().filter_map(|port| port.longest_wait()).min()
    }

    fn send_open(&self) {
        LISTENER.with_network(|| self.ports.iter().for_each(|port| _ = port.send_open()));
    }

    fn send_open_if_free(&self) -> bool {
        LISTENER.with_network(|| self.ports.iter().fold(false, |sent, port| port.send_open_if_free() | sent))
    }
}

/// The ports of a process, and the thread that serves them.
#[derive(Debug)]
pub(crate) struct Ports {
    ports: Vec<Arc<Port>>,
    listener: Listener,
    /// The time after which a silent peer is lost, if it ever is.
    timeout: Option<Duration>,
    /// The port for one-sided operations, once it is wanted.
    one_sided: OnceLock<Arc<OneSided>>,
    process: ProcessInfo,
    provider: Arc<Provider>,
}

impl Ports {
    /// Takes the ports into use. `throttle` gives the flag by which a VNI throttles its senders.
    ///
    /// # Errors
    /// If there is no memory, or if the processes of this machine agreed on more VNIs than were opened.
    ///
    /// # Safety
    /// The flags live longer than the ports.
    pub(crate) unsafe fn new(
        network: Network,
        process: &ProcessInfo,
        throttle: impl Fn(usize) -> *const AtomicU32,
    ) -> Result<Ports, TransportError> {
        let Network { opened, timeout, .. } = network;
        let opened = opened?;
        let (vnis, there) = (process.alike.vnis, opened.len());
        if there != vnis {
            return Err(TransportError::Vnis { here: there, machine: vnis });
        }
        let Some(provider) = opened.first().map(port::Opened::provider) else {
            return Err(TransportError::NoNetwork { rank: process.rank as usize });
        };
        let late = Latecomers::new().map_err(|source| TransportError::Reserve { source })?;
        let late = Arc::new(late);
        let process = ProcessInfo { late: Some(Arc::clone(&late)), ..process.clone() };
        let (mut ports, signal) = (Vec::new(), Arc::new(Signal::new()));
        for (vni, opened) in opened.into_iter().enumerate() {
            // SAFETY: by the caller's promise.
            let port = unsafe { Port::new(vni, process.clone(), throttle(vni), Arc::clone(&signal), opened) };
            ports.push(Arc::new(port.map_err(|source| TransportError::Reserve { source })?));
        }
        let descriptors =
            ports.iter().map(|port| port.wait_descriptor()).chain([Some(late.descriptor())]).collect();
        Ok(Ports {
            ports,
            listener: Listener::new(signal, descriptors),
            timeout,
            one_sided: OnceLock::new(),
            process,
            provider,
        })
    }

    /// The port of a VNI.
    pub(crate) fn port(&self, vni: usize) -> &Arc<Port> {
        &self.ports[vni]
    }

    /// Starts the listener, which calls `ring` when something comes from the network while it is
    /// [armed](Self::arm).
    pub(crate) fn start_listener(&self, ring: impl Fn() + Send + 'static) {
        let beats = self.timeout.map(|timeout| {
            let ports = self.ports.clone();
            let beat = Box::new(move || ports.iter().for_each(|port| port.beat(timeout)));
            Beats { interval: heartbeat::interval(timeout), beat }
        });
        self.listener.start(beats, Service { ports: self.ports.clone(), ring });
    }

    /// The port for one-sided operations, opened by the first call, which no other call is beside.
    ///
    /// # Errors
    /// That of the network.
    pub(crate) fn one_sided(&self) -> Result<&Arc<OneSided>, TransportError> {
        if let Some(port) = self.one_sided.get() {
            return Ok(port);
        }
        let opened = port::Opened::new(&self.provider, random())?;
        let port = OneSided::new(self.process.clone(), opened, self.timeout)?;
        Ok(self.one_sided.get_or_init(|| Arc::new(port)))
    }

    /// All ports that are open.
    fn all(&self) -> impl Iterator<Item = &Port> {
        let one_sided = self.one_sided.get().map(|one_sided| one_sided.port());
        self.ports.iter().map(|port| &**port).chain(one_sided)
    }

    /// Lets the listener ring when something comes from the network. Returns false if there is something to
    /// do already, or no listener.
    pub(crate) fn arm(&self) -> bool {
        self.ports.iter().all(|port| port.may_wait()) && self.listener.arm()
    }

    /// Tells the peers that this process leaves the network, or that it is there again.
    pub(crate) fn set_leaves(&self, leaves: bool) {
        self.all().for_each(|port| port.set_leaves(leaves));
    }

    /// Returns true if the network has taken everything that was sent.
    pub(crate) fn are_drained(&self) -> bool {
        self.all().all(Port::is_drained)
    }

    /// The number of packets and connections that came from processes which do not belong to the job.
    pub(crate) fn strangers(&self) -> Strangers {
        let packets = self.all().map(Port::strangers).sum();
        Strangers { packets, turned_away: guard::turned_away() }
    }
}
