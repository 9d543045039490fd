//! Messages of a connection leave at once, in launchers as in programs.
//!
//! The kernel keeps a short message back until the other side has answered for the one before it (Nagle's
//! algorithm), and the answer may take 40 ms. All processes sleep then, so the machine would go on without
//! the message, and a rank's time limit could be over before it. Open MPI's launcher talks to its ranks so.

use std::ffi::{c_int, c_void};

/// As the C library's; a stream sends each message at once. Connections that it accepts do so too.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: the caller's own call.
    let descriptor = unsafe { libc::syscall(libc::SYS_socket, domain, kind, protocol) } as c_int;
    let is_stream = kind & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) == libc::SOCK_STREAM;
    if descriptor >= 0 && is_stream && [libc::AF_INET, libc::AF_INET6].contains(&domain) {
        let yes: c_int = 1;
        let size = size_of::<c_int>() as libc::socklen_t;
        let value = (&raw const yes).cast::<c_void>();
        // SAFETY: `value` has `size` bytes. A stream that is not TCP refuses, which changes nothing.
        unsafe { libc::setsockopt(descriptor, libc::IPPROTO_TCP, libc::TCP_NODELAY, value, size) };
    }
    descriptor
}
