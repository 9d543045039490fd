//! The end of a job by `MPI_Abort` or by an unhandled error.

use heddle_bootstrap::end_job;
use heddle_comm::process;
use std::io::Write;

unsafe extern "C" {
    /// The C library's standard output.
    static stdout: *mut libc::FILE;
    /// Locks a stream unless another thread has locked it; returns 0 if the caller has the lock.
    fn ftrylockfile(stream: *mut libc::FILE) -> libc::c_int;
}

/// Ends this process and with it the job. It waits for no other thread, because that thread may never come
/// back. A `text` that is not empty goes to standard error. The launcher prints `short` beside the rank, and
/// its exit status follows `code`.
#[cold]
pub fn abort(code: i32, text: &str, short: &str) -> ! {
    if !text.is_empty() {
        // Written in one piece, because the launcher may end this process at any moment. If it fails, only
        // the exit status is left.
        let _ = std::io::stderr().write_all(format!("heddle: {text}\n").as_bytes());
    }
    if let Some(job) = process::ever().and_then(|process| process.world().job()) {
        job.set_aborted(code, short);
    }
    // The program's output helps to understand why it ended.
    // SAFETY: the C library sets this pointer before any code of the program runs.
    let out = unsafe { stdout };
    // A thread that has locked the stream may never unlock it. Then the output in the stream is lost.
    // SAFETY: the pointer leads to the C library's stream, which is never freed.
    if unsafe { ftrylockfile(out) } == 0 {
        // SAFETY: the pointer leads to the C library's stream; this thread has locked
        // it, and may lock it again.
        unsafe { libc::fflush(out) };
    }
    end_job(exit_status(code));
    // SAFETY: the call ends the process and runs no code of the program.
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
