//! The functions of MPI that the locks use, with the types of the standard's ABI.
//!
//! The program's MPI library has them. A handle is a pointer that nobody reads.

use crate::error::{Failure, Status};
use heddle_spec::constants::{
    MPI_COMM_NULL, MPI_COMM_TYPE_SHARED, MPI_INFO_NULL, MPI_INT64_T, MPI_MAX_ERROR_STRING, MPI_SUCCESS,
};
use std::ffi::{CStr, c_char, c_int, c_void};

/// A communicator: `MPI_Comm` of `mpi.h`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comm(*mut c_void);

impl Comm {
    pub(crate) fn is_null(self) -> bool {
        self.0.addr() == MPI_COMM_NULL
    }
}

/// A window.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Win(*mut c_void);

// SAFETY: a handle is a name, which any thread may give to MPI.
unsafe impl Send for Win {}
// SAFETY: a handle is a name, which several threads may give to MPI at once.
unsafe impl Sync for Win {}

/// A handle of another kind.
pub(crate) type Handle = usize;

/// As `mpi.h` has them, and so not for our header.
///
/// cbindgen:ignore
#[allow(non_snake_case, missing_docs)]
pub(crate) mod ffi {
    use super::{Comm, Handle, Win};
    use std::ffi::{c_char, c_int, c_void};

    unsafe extern "C" {
        pub(crate) fn MPI_Initialized(flag: *mut c_int) -> c_int;
        pub(crate) fn MPI_Finalized(flag: *mut c_int) -> c_int;
        pub(crate) fn MPI_Error_string(code: c_int, text: *mut c_char, length: *mut c_int) -> c_int;
        pub(crate) fn MPI_Comm_rank(comm: Comm, rank: *mut c_int) -> c_int;
        pub(crate) fn MPI_Comm_size(comm: Comm, size: *mut c_int) -> c_int;
        pub(crate) fn MPI_Comm_test_inter(comm: Comm, flag: *mut c_int) -> c_int;
        pub(crate) fn MPI_Comm_split_type(
            comm: Comm,
            kind: c_int,
            key: c_int,
            info: Handle,
            new: *mut Comm,
        ) -> c_int;
        pub(crate) fn MPI_Comm_free(comm: *mut Comm) -> c_int;
        pub(crate) fn MPI_Barrier(comm: Comm) -> c_int;
        pub(crate) fn MPI_Bcast(
            data: *mut c_void,
            count: c_int,
            kind: Handle,
            root: c_int,
            comm: Comm,
        ) -> c_int;
        pub(crate) fn MPI_Allgather(
            from: *const c_void,
            count: c_int,
            kind: Handle,
            to: *mut c_void,
            to_count: c_int,
            to_kind: Handle,
            comm: Comm,
        ) -> c_int;
        pub(crate) fn MPI_Info_create(info: *mut Handle) -> c_int;
        pub(crate) fn MPI_Info_set(info: Handle, key: *const c_char, value: *const c_char) -> c_int;
        pub(crate) fn MPI_Info_free(info: *mut Handle) -> c_int;
        pub(crate) fn MPI_Win_allocate(
            bytes: isize,
            unit: c_int,
            info: Handle,
            comm: Comm,
            base: *mut *mut u64,
            win: *mut Win,
        ) -> c_int;
        pub(crate) fn MPI_Win_free(win: *mut Win) -> c_int;
        pub(crate) fn MPI_Win_lock_all(assert: c_int, win: Win) -> c_int;
        pub(crate) fn MPI_Win_unlock_all(win: Win) -> c_int;
        pub(crate) fn MPI_Win_sync(win: Win) -> c_int;
        pub(crate) fn MPI_Win_flush(rank: c_int, win: Win) -> c_int;
        pub(crate) fn MPI_Win_flush_local(rank: c_int, win: Win) -> c_int;
        pub(crate) fn MPI_Accumulate(
            from: *const c_void,
            count: c_int,
            kind: Handle,
            target: c_int,
            displacement: isize,
            target_count: c_int,
            target_kind: Handle,
            op: Handle,
            win: Win,
        ) -> c_int;
        pub(crate) fn MPI_Fetch_and_op(
            from: *const c_void,
            result: *mut c_void,
            kind: Handle,
            target: c_int,
            displacement: isize,
            op: Handle,
            win: Win,
        ) -> c_int;
        pub(crate) fn MPI_Compare_and_swap(
            from: *const c_void,
            compare: *const c_void,
            result: *mut c_void,
            kind: Handle,
            target: c_int,
            displacement: isize,
            win: Win,
        ) -> c_int;
    }
}

/// MPI's words for an error code.
fn words(code: c_int) -> String {
    let mut text = [0 as c_char; MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer has the room that the standard asks for, and a zero behind it.
    let status = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr(), &raw mut length) };
    if status != MPI_SUCCESS {
        return format!("error {code}");
    }
    // SAFETY: a string in the buffer, whose last character is never written.
    unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned()
}

/// Turns the code of `call` into a result. Without an error handler that returns, MPI has ended the job
/// before.
pub(crate) fn checked(call: &str, code: c_int) -> Result<(), Failure> {
    if code == MPI_SUCCESS {
        return Ok(());
    }
    Err(Failure::new(Status::MpiFailed, format!("{call}: {}", words(code))))
}

/// Fails unless MPI may be called.
pub(crate) fn is_ready() -> Result<(), Failure> {
    let (mut initialised, mut finalised) = (0, 0);
    // SAFETY: stores into a local; may be called at any time.
    checked("MPI_Initialized", unsafe { ffi::MPI_Initialized(&raw mut initialised) })?;
    // SAFETY: stores into a local; may be called at any time.
    checked("MPI_Finalized", unsafe { ffi::MPI_Finalized(&raw mut finalised) })?;
    match (initialised != 0, finalised != 0) {
        (true, false) => Ok(()),
        (false, _) => Err(Failure::new(Status::NotReady, "MPI is not initialised")),
        (true, true) => Err(Failure::new(Status::NotReady, "MPI is finalised")),
    }
}

/// A communicator that was looked at: its rank and its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) comm: Comm,
    pub(crate) rank: usize,
    pub(crate) size: usize,
}

impl Group {
    /// Looks at `comm`, which is no null handle.
    pub(crate) fn of(comm: Comm) -> Result<Group, Failure> {
        let (mut rank, mut size, mut is_inter) = (0, 0, 0);
        // SAFETY: stores into a local; MPI checks the handle.
        checked("MPI_Comm_test_inter", unsafe { ffi::MPI_Comm_test_inter(comm, &raw mut is_inter) })?;
        if is_inter != 0 {
            return Err(Failure::new(Status::WrongArgument, "an inter-communicator has no windows"));
        }
        // SAFETY: stores into a local; MPI checks the handle.
        checked("MPI_Comm_rank", unsafe { ffi::MPI_Comm_rank(comm, &raw mut rank) })?;
        // SAFETY: stores into a local; MPI checks the handle.
        checked("MPI_Comm_size", unsafe { ffi::MPI_Comm_size(comm, &raw mut size) })?;
        Ok(Group { comm, rank: rank as usize, size: size as usize })
    }

    /// The values of all processes, in order of rank; every process gives the same number.
    pub(crate) fn all(&self, mine: &[i64]) -> Result<Vec<Vec<i64>>, Failure> {
        let mut all = vec![0_i64; mine.len() * self.size];
        let count = mine.len() as c_int;
        let (from, to) = (mine.as_ptr().cast(), all.as_mut_ptr().cast());
        // SAFETY: `mine` has `count` values, and `all` has room for `count` values of each process.
        let code = unsafe { ffi::MPI_Allgather(from, count, MPI_INT64_T, to, count, MPI_INT64_T, self.comm) };
        checked("MPI_Allgather", code)?;
        Ok(all.chunks(mine.len()).map(<[i64]>::to_vec).collect())
    }

    /// Waits for all processes.
    pub(crate) fn barrier(&self) -> Result<(), Failure> {
        // SAFETY: no memory is touched.
        checked("MPI_Barrier", unsafe { ffi::MPI_Barrier(self.comm) })
    }

    /// For the processes that can share memory with the caller: the rank of the first of them.
    pub(crate) fn first_of_machine(&self) -> Result<i64, Failure> {
        let mut shared = Comm(std::ptr::null_mut());
        let key = self.rank as c_int;
        let new = &raw mut shared;
        // SAFETY: stores into a local.
        let code =
            unsafe { ffi::MPI_Comm_split_type(self.comm, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, new) };
        checked("MPI_Comm_split_type", code)?;
        let mut first = self.rank as i64;
        let data = (&raw mut first).cast();
        // SAFETY: one value, which is a local.
        let code = unsafe { ffi::MPI_Bcast(data, 1, MPI_INT64_T, 0, shared) };
        checked("MPI_Bcast", code)?;
        // SAFETY: a communicator of our own.
        checked("MPI_Comm_free", unsafe { ffi::MPI_Comm_free(&raw mut shared) })?;
        Ok(first)
    }
}
