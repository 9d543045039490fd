//! The end of a job by `MPI_Abort` or by an unhandled error.

use crate::process;
use std::io::Write;

unsafe extern "C" {
    /// The C library's standard output.
    static stdout: *mut libc::FILE;
    /// Locks a stream unless another thread has it: 0 if it is the caller's now.
    fn ftrylockfile(stream: *mut libc::FILE) -> libc::c_int;
}

/// Ends this process and with it the job. It waits for no other thread: that one may never come back. `text`, if there is any, goes to standard error; the launcher repeats
/// `short` beside the rank, and its exit status follows `code`.
#[cold]
pub fn abort(code: i32, text: &str, short: &str) -> ! {
    if !text.is_empty() {
        // In one piece, as the launcher may end this process at any moment; if it fails, the exit status has to say it.
        let _ = std::io::stderr().write_all(format!("heddle: {text}\n").as_bytes());
    }
    if let Some(job) = process::ever().and_then(|process| process.world().job()) {
        job.set_aborted(code, short);
    }
    // What the program has printed helps to understand why it ended.
    // SAFETY: a pointer that the C library has set before any program's code ran.
    let out = unsafe { stdout };
    // A thread that has locked the stream may never unlock it: then what it has printed is lost.
    // SAFETY: the C library's own stream.
    if unsafe { ftrylockfile(out) } == 0 {
        // SAFETY: the C library's own stream; this thread has locked it, and may lock it again.
        unsafe { libc::fflush(out) };
    }
    // SAFETY: ends the process without running anything of the program's.
    unsafe { libc::_exit(exit_status(code)) }
}

/// An exit status whose low 8 bits are not 0.
fn exit_status(code: i32) -> i32 {
    match code & 0xff {
        0 => 1,
        status => status,
    }
}

#[cfg(test)]
mod tests {
    use super::exit_status;

    #[test]
    fn no_code_looks_like_success() {
        assert_eq!([0, 1, 255, 256, -1, 512].map(exit_status), [1, 1, 255, 1, 255, 1]);
    }
}
