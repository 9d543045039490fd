//! Large messages in one copy: the kernel moves bytes straight between two processes' memory
//! (`process_vm_readv`, `process_vm_writev`). Containers and hardened kernels may forbid it; then the engine streams
//! through the rings instead.

use std::io;

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
/// What the kernel said: `EPERM` if it forbids this, `ESRCH` if the process is gone, `EFAULT` for a bad address.
///
/// # Safety
/// `local` is valid for writes of `len` bytes.
pub unsafe fn read(pid: i32, remote: u64, local: *mut u8, len: usize) -> io::Result<()> {
    // SAFETY: by the caller's promise; the kernel checks the remote side.
    unsafe { transfer(libc::process_vm_readv, pid, remote, local, len) }
}

/// Copies `len` bytes at `local` to `remote` in process `pid`.
///
/// # Errors
/// As [`read`].
///
/// # Safety
/// `local` is valid for reads of `len` bytes.
pub unsafe fn write(pid: i32, remote: u64, local: *mut u8, len: usize) -> io::Result<()> {
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

unsafe fn transfer(call: Transfer, pid: i32, remote: u64, local: *mut u8, len: usize) -> io::Result<()> {
    let mut done = 0;
    while done < len {
        let here = piece(local.wrapping_add(done), len - done);
        let there = piece(std::ptr::with_exposed_provenance_mut(remote as usize + done), len - done);
        // SAFETY: `here` is valid by the caller's promise.
        let moved = unsafe { call(pid, &raw const here, 1, &raw const there, 1, 0) };
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
        let pid = std::process::id() as i32;
        let remote = source.as_ptr().expose_provenance() as u64;
        // SAFETY: `target` has the length given.
        match unsafe { read(pid, remote, target.as_mut_ptr(), target.len()) } {
            Ok(()) => assert_eq!(source, target),
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EPERM), "{error}"),
        }
        // SAFETY: as above.
        assert!(unsafe { read(pid, 8, target.as_mut_ptr(), 16) }.is_err());
    }
}
