//! The functions that libfabric calls instead of those of the C library. They do the same, and:
//!
//! | function | beside that |
//! |---|---|
//! | `listen` | notes the ports of this crate's endpoints |
//! | `accept` | returns only connections to such a port that begin with a proof |
//! | `connect` | remembers to whom a proof is due |
//! | `getsockopt` | sends it when libfabric learns that it is connected, before it sends anything |
//!
//! A connection that libfabric's peer loses here, because its proof came too late, is no failure: libfabric
//! makes another one for the next message.

use super::doors::{doors, proof_for, socket_address};
use super::proof::{JobKey, PROOF_BYTES};
use super::replace::Replacement;
use libc::{c_int, c_void, sockaddr, socklen_t};
use std::io;
use std::net::SocketAddr;
use std::os::fd::RawFd;

/// The seconds for which the kernel keeps a connection that says nothing. A process that computes sends its
/// proof when it calls MPI next; if that is later, libfabric connects once more.
static SILENCE: c_int = 30;

/// How long a call of `accept` waits for proofs, in ms. The kernel hands out a connection without data if it
/// has too many, or after [`SILENCE`].
const SHORTLY: c_int = 2;

/// The most strangers that one call turns away.
const AT_ONCE: usize = 64;

/// All of them.
pub(super) fn all() -> [Replacement; 4] {
    [
        Replacement { name: c"listen", by: listen as *const c_void },
        Replacement { name: c"accept", by: accept as *const c_void },
        Replacement { name: c"connect", by: connect as *const c_void },
        Replacement { name: c"getsockopt", by: getsockopt as *const c_void },
    ]
}

unsafe extern "C" fn listen(port: c_int, backlog: c_int) -> c_int {
    if doors().listens(port) {
        // It is an advantage, and no more.
        // SAFETY: a number, whose address and length are given.
        unsafe {
            libc::setsockopt(
                port,
                libc::IPPROTO_TCP,
                libc::TCP_DEFER_ACCEPT,
                (&raw const SILENCE).cast(),
                size_of::<c_int>() as socklen_t,
            )
        };
    }
    // SAFETY: the caller's arguments.
    unsafe { libc::listen(port, backlog) }
}

unsafe extern "C" fn accept(port: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int {
    let is_guarded = doors().guards(port);
    let mut patience = SHORTLY;
    for _ in 0..AT_ONCE {
        // SAFETY: the caller's arguments.
        let connection = unsafe { libc::accept(port, address, len) };
        if connection < 0 || !is_guarded {
            return connection;
        }
        if has_proof(connection, &mut patience) {
            return connection;
        }
        turn_away(connection);
        if !is_readable(port, 0) {
            break;
        }
    }
    fails_with(libc::EAGAIN)
}

unsafe extern "C" fn connect(connection: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    let bytes: &[u8] = if address.is_null() {
        &[]
    } else {
        // SAFETY: the caller's address, of that length.
        unsafe { std::slice::from_raw_parts(address.cast(), len as usize) }
    };
    let key = socket_address(bytes).and_then(|address| doors().known.get(&address).copied());
    doors().connects(connection, key);
    // SAFETY: the caller's arguments.
    let result = unsafe { libc::connect(connection, address, len) };
    if result != 0 {
        return result;
    }
    match prove_if_due(connection) {
        Ok(()) => 0,
        Err(error) => fails_with(error),
    }
}

unsafe extern "C" fn getsockopt(
    socket: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's arguments.
    let result = unsafe { libc::getsockopt(socket, level, name, value, len) };
    if result == 0 && (level, name) == (libc::SOL_SOCKET, libc::SO_ERROR) {
        let error = value.cast::<c_int>();
        // SAFETY: the kernel has written the error there.
        if unsafe { error.read() } == 0
            && let Err(why) = prove_if_due(socket)
        {
            // SAFETY: the same place.
            unsafe { error.write(why) };
        }
    }
    result
}

fn fails_with(error: c_int) -> c_int {
    // SAFETY: takes nothing.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: the thread's own word.
    unsafe { errno.write(error) };
    -1
}

fn error() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Sends a proof over a connection that is made, if one is due.
fn prove_if_due(connection: RawFd) -> Result<(), c_int> {
    let Some(key) = doors().due(connection) else { return Ok(()) };
    match prove(connection, key) {
        // It is not connected yet.
        Err(libc::EAGAIN | libc::ENOTCONN) => {
            doors().connects(connection, Some(key));
            Ok(())
        }
        proved => proved,
    }
}

/// Sends a proof, in one segment with libfabric's request, which follows at once (`MSG_MORE`).
fn prove(connection: RawFd, key: JobKey) -> Result<(), c_int> {
    let proof = proof_for(key).ok_or(libc::EIO)?;
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | libc::MSG_MORE;
    // SAFETY: the proof's bytes.
    let sent = unsafe { libc::send(connection, proof.as_ptr().cast(), PROOF_BYTES, flags) };
    match usize::try_from(sent) {
        Ok(PROOF_BYTES) => Ok(()),
        Ok(_) => Err(libc::EIO),
        Err(_) => Err(error()),
    }
}

/// Returns true if a connection begins with a proof, and takes it out. Waits for one if there is `patience`
/// left, which is used up by that.
fn has_proof(connection: RawFd, patience: &mut c_int) -> bool {
    let mut proof = [0; PROOF_BYTES];
    let mut receive = || {
        let flags = libc::MSG_DONTWAIT;
        // SAFETY: room for that many bytes.
        unsafe { libc::recv(connection, proof.as_mut_ptr().cast(), PROOF_BYTES, flags) }
    };
    let mut received = receive();
    if received < 0 && error() == libc::EAGAIN && is_readable(connection, std::mem::take(patience)) {
        received = receive();
    }
    received == PROOF_BYTES as isize && doors().admits(&proof)
}

fn is_readable(descriptor: RawFd, within: c_int) -> bool {
    let mut watched = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    // SAFETY: a list of one.
    unsafe { libc::poll(&raw mut watched, 1, within) == 1 }
}

/// Closes the connection of a stranger, and reports it.
#[cold]
fn turn_away(connection: RawFd) {
    let address = address_of_peer(connection);
    // SAFETY: a descriptor that `accept` has just made, and nobody else knows.
    unsafe { libc::close(connection) };
    let report = {
        let mut doors = doors();
        doors.turned_away += 1;
        doors.report
    };
    if let (Some(report), Some(address)) = (report, address) {
        report(address);
    }
}

fn address_of_peer(connection: RawFd) -> Option<SocketAddr> {
    let mut bytes = [0; size_of::<libc::sockaddr_storage>()];
    let mut len = bytes.len() as socklen_t;
    // SAFETY: room for an address of any family.
    let result = unsafe { libc::getpeername(connection, bytes.as_mut_ptr().cast(), &raw mut len) };
    if result == 0 { socket_address(&bytes[..len as usize]) } else { None }
}
