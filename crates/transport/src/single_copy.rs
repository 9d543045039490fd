//! Large messages in one copy: the kernel moves bytes straight between two processes' memory
//! (`process_vm_readv`, `process_vm_writev`). Containers and hardened kernels may forbid it; then
//! `heddle-message` streams through the rings instead.
//!
//! A process id means something only within its PID namespace: in another container the peer's id may be that
//! of this process, or of a stranger. So a peer must prove that its id means the peer before its memory is
//! touched. Each process publishes a random number, its *cookie*, together with the cookie's address in its
//! memory (`presence.rs`). Before the first copy to or from a peer this process reads that
//! memory by the peer's id. If the kernel forbids this, or if another number lies there, then everything from
//! and to this peer is streamed.

use heddle_platform::atomic::{AtomicU8, AtomicU64, Ordering};
use std::io;
use std::sync::OnceLock;

/// The number that this process's peers read in its memory; see the [module](self).
static COOKIE: AtomicU64 = AtomicU64::new(0);

/// Where a process's memory is, and how to recognise it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The process id, as the process itself knows it.
    pub(crate) pid: u32,
    /// The address of the cookie.
    pub(crate) address: u64,
    /// The cookie.
    pub(crate) cookie: u64,
}

impl Identity {
    /// The identity of this process.
    pub(crate) fn of_this_process() -> Identity {
        static CHOSEN: OnceLock<u64> = OnceLock::new();
        let cookie = *CHOSEN.get_or_init(|| {
            let cookie = random();
            COOKIE.store(cookie, Ordering::Relaxed);
            cookie
        });
        let address = (&raw const COOKIE).expose_provenance() as u64;
        Identity { pid: std::process::id(), address, cookie }
    }

    /// Returns true if the process id means the process with this cookie, as seen from here.
    fn is_reachable(&self) -> bool {
        let mut found = 0u64.to_ne_bytes();
        // SAFETY: the array has the length given.
        let read = unsafe { read(self.pid, self.address, found.as_mut_ptr(), found.len()) };
        read.is_ok() && u64::from_ne_bytes(found) == self.cookie && self.cookie != 0
    }
}

/// A number that no other process of the machine has, with the certainty of 64 random bits; 0 if there is no
/// randomness, and then it proves nothing.
pub(crate) fn random() -> u64 {
    let mut bytes = 0u64.to_ne_bytes();
    // SAFETY: the array has the length given.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got == bytes.len().cast_signed() { u64::from_ne_bytes(bytes) } else { 0 }
}

const UNKNOWN: u8 = 0;
const PROVED: u8 = 1;
const REFUSED: u8 = 2;

/// For each peer, whether this process may copy from and to its memory.
#[derive(Debug)]
pub(crate) struct Proofs(Box<[AtomicU8]>);

impl Proofs {
    /// The state in which no peer has proved anything yet.
    pub(crate) fn new(peers: usize) -> Proofs {
        Proofs((0..peers).map(|_| AtomicU8::new(UNKNOWN)).collect())
    }

    /// The process id of a peer whose memory may be copied. The first call for a peer asks it for a proof.
    pub(crate) fn pid(&self, peer: usize, identity: Identity) -> Option<u32> {
        // Relaxed: the state carries nothing else. Threads that ask for a proof at the same time get the
        // same answer.
        let mut state = self.0[peer].load(Ordering::Relaxed);
        if state == UNKNOWN {
            state = if identity.is_reachable() { PROVED } else { REFUSED };
            self.0[peer].store(state, Ordering::Relaxed);
        }
        (state == PROVED).then_some(identity.pid)
    }

    /// No copy from or to the peer is made any more.
    pub(crate) fn refuse(&self, peer: usize) {
        self.0[peer].store(REFUSED, Ordering::Relaxed);
    }
}

/// A piece of this process's memory, as the kernel wants to have it.
pub type Piece = libc::iovec;

/// A piece of memory at `address`.
pub fn piece(address: *mut u8, len: usize) -> Piece {
    Piece { iov_base: address.cast(), iov_len: len }
}

/// Lets the other ranks of the job read this process's memory where the Yama security module restricts it to
/// ancestors. Without Yama it does nothing.
pub fn allow_peers() {
    // SAFETY: prctl with plain numbers; failure (no Yama) is as good as success.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
}

/// Copies `len` bytes at `remote` in process `pid` to `local`.
///
/// # Errors
/// The kernel's error: `EPERM` if it forbids this, `ESRCH` if the process is gone,
/// `EFAULT` for a bad address.
///
/// # Safety
/// `local` is valid for writes of `len` bytes.
pub unsafe fn read(pid: u32, remote: u64, local: *mut u8, len: usize) -> io::Result<()> {
    // SAFETY: by the caller's promise; the kernel checks the remote side.
    unsafe { transfer(libc::process_vm_readv, pid, remote, local, len) }
}

/// Copies `len` bytes at `local` to `remote` in process `pid`.
///
/// # Errors
/// The same as for [`read`].
///
/// # Safety
/// `local` is valid for reads of `len` bytes.
pub unsafe fn write(pid: u32, remote: u64, local: *mut u8, len: usize) -> io::Result<()> {
    // SAFETY: by the caller's promise; the kernel checks the remote side.
    unsafe { transfer(libc::process_vm_writev, pid, remote, local, len) }
}

type Transfer = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> libc::ssize_t;

unsafe fn transfer(call: Transfer, pid: u32, remote: u64, local: *mut u8, len: usize) -> io::Result<()> {
    let mut done = 0;
    while done < len {
        let here = piece(local.wrapping_add(done), len - done);
        let there = piece(std::ptr::with_exposed_provenance_mut(remote as usize + done), len - done);
        // SAFETY: `here` is valid by the caller's promise.
        let moved = unsafe { call(pid.cast_signed(), &raw const here, 1, &raw const there, 1, 0) };
        match moved {
            1.. => done += moved as usize,
            0 => return Err(io::Error::from_raw_os_error(libc::EFAULT)),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_within_this_process_and_reports_a_bad_address() {
        let source = vec![42u8; 100_000];
        let mut target = vec![0u8; 100_000];
        let pid = std::process::id();
        let remote = source.as_ptr().expose_provenance() as u64;
        // SAFETY: `target` has the length given.
        match unsafe { read(pid, remote, target.as_mut_ptr(), target.len()) } {
            Ok(()) => assert_eq!(source, target),
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EPERM), "{error}"),
        }
        // SAFETY: `target` has at least 16 bytes.
        assert!(unsafe { read(pid, 8, target.as_mut_ptr(), 16) }.is_err());
    }

    #[test]
    fn only_the_process_with_the_cookie_is_reachable() {
        let own = Identity::of_this_process();
        assert_ne!(own.cookie, 0);
        if !own.is_reachable() {
            return eprintln!("skipped: the kernel forbids single copies here");
        }
        // In another PID namespace the id would mean this process, where other data lies at that address.
        assert!(!Identity { cookie: own.cookie ^ 1, ..own }.is_reachable());
        assert!(!Identity { address: 8, ..own }.is_reachable());
        assert!(!Identity { pid: u32::MAX, ..own }.is_reachable());
        assert!(!Identity { cookie: 0, ..own }.is_reachable());
    }

    #[test]
    fn a_peer_proves_itself_once_and_can_be_refused() {
        let (own, proofs) = (Identity::of_this_process(), Proofs::new(3));
        let expected = own.is_reachable().then_some(own.pid);
        let stranger = Identity { cookie: own.cookie ^ 1, ..own };
        assert_eq!(proofs.pid(0, own), expected);
        assert_eq!(proofs.pid(1, stranger), None);
        assert_eq!(proofs.pid(1, own), None, "it is not asked again");
        proofs.refuse(0);
        assert_eq!(proofs.pid(0, own), None);
        assert_eq!(proofs.pid(2, own), expected, "the others are not concerned");
    }
}
