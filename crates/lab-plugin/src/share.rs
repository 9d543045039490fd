//! The library's first deeds, wherever it is loaded.

use heddle_lab::run::Places;

/// Loaded into the program, a shared mapping before its first thread makes qemu translate for several
/// threads from the beginning. Otherwise it would throw all code away at the first thread's birth, and wait
/// for a thread that waits for the token inside of it.
extern "C" fn share() {
    // SAFETY: a new mapping, at an address that the system chooses.
    unsafe {
        libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0)
    };
    if Places::read(|name| std::env::var_os(name)).is_some() {
        die_with_parent();
    }
}

#[used]
// The loader calls what stands in this section, with nothing that the function would need.
#[unsafe(link_section = ".init_array")]
static SHARE: extern "C" fn() = share;

/// When the process's parent is killed, this one is.
pub(crate) fn die_with_parent() {
    // SAFETY: it changes this process's own attribute.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}
