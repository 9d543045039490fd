//! The guard's memory: the ports that it stands in front of, and the keys of others.

use super::proof::{JobKey, PROOF_BYTES, random};
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::RawFd;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// The memory of the guard.
#[derive(Default)]
pub(super) struct Doors {
    /// The key of this process.
    pub(super) key: Option<JobKey>,
    /// The keys of processes to which this one connects.
    pub(super) known: HashMap<SocketAddr, JobKey>,
    /// Called when a stranger was turned away.
    pub(super) report: Option<fn(SocketAddr)>,
    pub(super) turned_away: u64,
    /// The threads that open an endpoint, and the number of ports that each listens to since.
    opening: HashMap<ThreadId, usize>,
    /// The descriptors of the ports.
    listening: HashSet<RawFd>,
    /// Connections that are being made, and to whom a proof is due.
    connecting: HashMap<RawFd, JobKey>,
    /// The numbers of all proofs that were accepted.
    seen: HashSet<u64>,
}

static DOORS: LazyLock<Mutex<Doors>> = LazyLock::new(Mutex::default);

pub(super) fn doors() -> MutexGuard<'static, Doors> {
    DOORS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Doors {
    pub(super) fn begins_to_open(&mut self) {
        self.opening.insert(thread::current().id(), 0);
    }

    /// Returns true if this thread has listened to a port since it began to open an endpoint.
    pub(super) fn ends_to_open(&mut self) -> bool {
        self.opening.remove(&thread::current().id()).is_some_and(|ports| ports != 0)
    }

    /// Notes a port that libfabric listens to. Returns true if it is to be guarded: descriptors of other
    /// endpoints may have a number that one of these had.
    pub(super) fn listens(&mut self, port: RawFd) -> bool {
        self.listening.remove(&port);
        let Some(ports) = self.opening.get_mut(&thread::current().id()) else { return false };
        *ports += 1;
        self.listening.insert(port)
    }

    pub(super) fn guards(&self, port: RawFd) -> bool {
        self.listening.contains(&port)
    }

    /// Returns true if these bytes prove that somebody knows this process's key, and were never seen before.
    pub(super) fn admits(&mut self, proof: &[u8; PROOF_BYTES]) -> bool {
        let number = self.key.and_then(|key| key.check(proof));
        number.is_some_and(|number| self.seen.insert(number))
    }

    /// Notes a connection that is being made, to whose other end a proof is due if that has a key.
    pub(super) fn connects(&mut self, connection: RawFd, key: Option<JobKey>) {
        match key {
            Some(key) => _ = self.connecting.insert(connection, key),
            None => _ = self.connecting.remove(&connection),
        }
    }

    /// The key for which a proof is due over this connection, which is none from now on.
    pub(super) fn due(&mut self, connection: RawFd) -> Option<JobKey> {
        self.connecting.remove(&connection)
    }
}

/// A proof for the owner of a key. Returns `None` if the system has no random numbers.
pub(super) fn proof_for(key: JobKey) -> Option<[u8; PROOF_BYTES]> {
    random().map(|number| key.prove(number))
}

/// The address and port in the bytes of a `sockaddr`; `None` if they are not those of the internet.
pub(super) fn socket_address(bytes: &[u8]) -> Option<SocketAddr> {
    let family = i32::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    let address = match family {
        libc::AF_INET => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes.get(4..8)?).ok()?)),
        libc::AF_INET6 => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes.get(8..24)?).ok()?)),
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_from_bytes() {
        let mut bytes = (libc::AF_INET as u16).to_ne_bytes().to_vec();
        bytes.extend([0x1f, 0x90, 10, 77, 0, 2]);
        assert_eq!(socket_address(&bytes), Some("10.77.0.2:8080".parse().expect("an address")));
        assert_eq!(socket_address(&bytes[..7]), None);
        let mut bytes = (libc::AF_INET6 as u16).to_ne_bytes().to_vec();
        bytes.extend([0, 80, 0, 0, 0, 0, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
        assert_eq!(socket_address(&bytes), Some("[fe80::1]:80".parse().expect("an address")));
        assert_eq!(socket_address(&[]), None);
    }

    #[test]
    fn a_proof_admits_once() {
        let key = JobKey::random().expect("random numbers");
        let mut doors = Doors { key: Some(key), ..Doors::default() };
        let proof = proof_for(key).expect("random numbers");
        assert!(doors.admits(&proof));
        assert!(!doors.admits(&proof), "a proof was taken twice");
        assert!(!doors.admits(&[0; PROOF_BYTES]));
    }

    #[test]
    fn only_ports_that_were_opened_here_are_guarded() {
        let mut doors = Doors::default();
        assert!(!doors.listens(5) && !doors.guards(5));
        doors.begins_to_open();
        assert!(doors.listens(5) && doors.guards(5) && doors.ends_to_open());
        // Its number is another port's now.
        assert!(!doors.listens(5) && !doors.guards(5) && !doors.ends_to_open());
    }
}
