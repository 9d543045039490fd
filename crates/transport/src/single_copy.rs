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
//!
//! The kernel may refuse later what it copied once. A refusal is of one of two kinds
//! ([`concerns_memory`]): the memory of one copy cannot be copied (device memory, pages that a handler of the
//! program opens), or the peer's memory cannot (another user, a filter of system calls). The first says
//! nothing about other copies. After the second no copy is attempted for a while (`PATIENCE`). Either way
//! the caller has a slower way for this one operation.

use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
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

/// Returns true if the kernel refused a copy because of the memory that was to be copied, on either side;
/// otherwise because of the process.
#[must_use]
pub fn concerns_memory(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EFAULT | libc::ENOMEM))
}

const UNKNOWN: u32 = 0;
const PROVED: u32 = 1;
/// No copy is wanted, whatever the kernel says.
const FORBIDDEN: u32 = 2;
/// The kernel has refused. For each question the state grows by one, up to `REFUSED + PATIENCE`.
const REFUSED: u32 = 3;
/// The number of questions for a peer that has refused before it is asked for a proof again: the system call
/// for it then costs less than a thousandth of the slower copies in between.
const PATIENCE: u32 = 1024;

/// For each peer, whether this process may copy from and to its memory.
#[derive(Debug)]
pub(crate) struct Proofs(Box<[AtomicU32]>);

impl Proofs {
    /// The state in which no peer has proved anything yet.
    pub(crate) fn new(peers: usize) -> Proofs {
        Proofs((0..peers).map(|_| AtomicU32::new(UNKNOWN)).collect())
    }

    /// The process id of a peer whose memory may be copied. The first call for a peer asks it for a proof.
    pub(crate) fn pid(&self, peer: usize, identity: Identity) -> Option<u32> {
        // Relaxed: the state carries nothing else. Threads that ask for a proof at the same time get the
        // same answer.
        match self.0[peer].load(Ordering::Relaxed) {
            PROVED => Some(identity.pid),
            FORBIDDEN => None,
            state => self.ask(peer, state, identity),
        }
    }

    #[cold]
    fn ask(&self, peer: usize, state: u32, identity: Identity) -> Option<u32> {
        let waits = (REFUSED..REFUSED + PATIENCE).contains(&state);
        let next = if waits {
            state + 1
        } else if identity.is_reachable() {
            PROVED
        } else {
            REFUSED
        };
        // A thread that has learned more meanwhile is right.
        let _ = self.0[peer].compare_exchange(state, next, Ordering::Relaxed, Ordering::Relaxed);
        (next == PROVED).then_some(identity.pid)
    }

    /// The kernel has refused a copy from or to the peer, whatever the memory: for some time none is made.
    pub(crate) fn refuse(&self, peer: usize) {
        let refused = |state| (state != FORBIDDEN).then_some(REFUSED);
        // An error says that copies were forbidden before.
        let _ = self.0[peer].fetch_update(Ordering::Relaxed, Ordering::Relaxed, refused);
    }

    /// No copy from or to the peer is made any more.
    pub(crate) fn forbid(&self, peer: usize) {
        self.0[peer].store(FORBIDDEN, Ordering::Relaxed);
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

/// The form of the kernel's two calls.
pub(crate) type Transfer = unsafe extern "C" fn(
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
        assert_eq!(proofs.pid(1, own), None, "it is not asked again at once");
        proofs.refuse(0);
        assert_eq!(proofs.pid(0, own), None);
        assert_eq!(proofs.pid(2, own), expected, "the others are not concerned");
    }

    #[test]
    fn a_peer_that_refused_is_asked_again_after_some_time_unless_copies_are_forbidden() {
        let (own, proofs) = (Identity::of_this_process(), Proofs::new(2));
        proofs.refuse(0);
        proofs.forbid(1);
        proofs.refuse(1);
        let answers = |peer| (0..2 * PATIENCE).filter_map(|_| proofs.pid(peer, own)).count();
        assert_eq!(answers(0) != 0, own.is_reachable());
        assert_eq!(answers(1), 0);
    }

    #[test]
    fn refusals_of_memory_are_told_from_those_of_processes() {
        let source = [0u8; 16];
        let mut target = [0u8; 16];
        // SAFETY: `target` has at least 16 bytes.
        let bad_address = unsafe { read(std::process::id(), 8, target.as_mut_ptr(), 16) };
        let bad_address = bad_address.expect_err("nothing lies there");
        let remote = source.as_ptr().expose_provenance() as u64;
        // SAFETY: `target` has at least 16 bytes.
        let no_process = unsafe { read(i32::MAX as u32, remote, target.as_mut_ptr(), 16) };
        assert!(!concerns_memory(&no_process.expect_err("there is no such process")));
        // Where the kernel forbids all copies, it does not look at the memory.
        let forbids = bad_address.raw_os_error() != Some(libc::EFAULT);
        assert_ne!(concerns_memory(&bad_address), forbids, "{bad_address}");
    }
}
