//! Subroutines whose arguments differ from those of the function in C. A number or a handle of the program is
//! a [`Variable`]: the same one may be passed twice.

use crate::handle::{Handle, from_int, to_int};
use crate::subroutines as c;
use crate::{logical, text};
use heddle_spec::constants::{
    MPI_APPNUM, MPI_HOST, MPI_IO, MPI_LASTUSEDCODE, MPI_SUCCESS, MPI_TAG_UB, MPI_UNIVERSE_SIZE,
    MPI_WIN_CREATE_FLAVOR, MPI_WIN_DISP_UNIT, MPI_WIN_MODEL, MPI_WIN_SIZE, MPI_WTIME_IS_GLOBAL,
};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null_mut, without_provenance_mut};

type Variable<'a, T = c_int> = &'a Cell<T>;

/// A subroutine under its name and under that of the profiling interface, with the C functions that it calls.
macro_rules! subroutine {
    ($symbol:literal $profiled:literal ($($param:ident: $kind:ty),* $(,)?) $body:ident [$c:ident $pc:ident]) => {
        const _: () = {
            #[unsafe(export_name = $symbol)]
            unsafe extern "C" fn mpi($($param: $kind),*) {
                // SAFETY: the program's arguments are those that the standard asks for.
                unsafe { $body($($param),*, c::$c) }
            }
            #[unsafe(export_name = $profiled)]
            unsafe extern "C" fn pmpi($($param: $kind),*) {
                // SAFETY: the same.
                unsafe { $body($($param),*, c::$pc) }
            }
        };
    };
}

type Arguments = *mut *mut *mut c_char;

subroutine! { "mpi_init_" "pmpi_init_" (ierror: Variable<'_>) init [MPI_Init PMPI_Init] }

unsafe fn init(ierror: Variable<'_>, call: unsafe extern "C" fn(*mut c_int, Arguments) -> c_int) {
    // SAFETY: the library takes null for both.
    ierror.set(unsafe { call(null_mut(), null_mut()) });
}

subroutine! {
    "mpi_init_thread_" "pmpi_init_thread_" (required: Variable<'_>, provided: Variable<'_>, ierror: Variable<'_>)
    init_thread [MPI_Init_thread PMPI_Init_thread]
}

unsafe fn init_thread(
    required: Variable<'_>,
    provided: Variable<'_>,
    ierror: Variable<'_>,
    call: unsafe extern "C" fn(*mut c_int, Arguments, c_int, *mut c_int) -> c_int,
) {
    // SAFETY: the library takes null for the arguments of the program, and there is room for the answer.
    ierror.set(unsafe { call(null_mut(), null_mut(), required.get(), provided.as_ptr()) });
}

subroutine! { "mpi_pcontrol_" "pmpi_pcontrol_" (level: Variable<'_>) pcontrol [MPI_Pcontrol PMPI_Pcontrol] }

unsafe fn pcontrol(level: Variable<'_>, call: unsafe extern "C" fn(c_int, ...) -> c_int) {
    // SAFETY: any number will do. Fortran has no code for an error here.
    unsafe { call(level.get()) };
}

subroutine! {
    "mpi_info_create_env_" "pmpi_info_create_env_" (info: Variable<'_>, ierror: Variable<'_>)
    info_create_env [MPI_Info_create_env PMPI_Info_create_env]
}

unsafe fn info_create_env(
    info: Variable<'_>,
    ierror: Variable<'_>,
    call: unsafe extern "C" fn(c_int, *mut *mut c_char, *mut Handle) -> c_int,
) {
    let mut made = 0;
    // SAFETY: no arguments of the program are given.
    let code = unsafe { call(0, null_mut(), &raw mut made) };
    if code == MPI_SUCCESS {
        info.set(to_int(made, c::MPI_Info_toint));
    }
    ierror.set(code);
}

/// A text that C returns to Fortran, whose length in C counts the null.
struct Returned {
    bytes: Vec<u8>,
    len: c_int,
}

impl Returned {
    /// Room for so many characters; C is asked for the length alone if there are none.
    fn room(len: c_int) -> Returned {
        let bytes = vec![0; usize::try_from(len).unwrap_or(0) + 1];
        Returned { bytes, len: if len > 0 { len + 1 } else { len } }
    }

    fn as_mut_ptr(&mut self) -> *mut c_char {
        self.bytes.as_mut_ptr().cast()
    }

    /// Stores the text, if one was asked for.
    ///
    /// # Safety
    /// There is room for so many characters.
    unsafe fn store(&self, to: *mut c_char, len: usize) {
        if self.bytes.len() > 1 {
            // SAFETY: by the caller's promise.
            unsafe { text::store(&self.bytes, to, len) };
        }
    }
}

subroutine! {
    "mpi_info_get_" "pmpi_info_get_"
    (
        info: Variable<'_>, key: *mut c_char, valuelen: Variable<'_>, value: *mut c_char, flag: Variable<'_>,
        ierror: Variable<'_>, key_len: usize, value_len: usize,
    )
    info_get [MPI_Info_get PMPI_Info_get]
}

#[allow(clippy::too_many_arguments)]
unsafe fn info_get(
    info: Variable<'_>,
    key: *mut c_char,
    valuelen: Variable<'_>,
    value: *mut c_char,
    flag: Variable<'_>,
    ierror: Variable<'_>,
    key_len: usize,
    value_len: usize,
    call: unsafe extern "C" fn(Handle, *mut c_char, c_int, *mut c_char, *mut c_int) -> c_int,
) {
    // SAFETY: the program's text.
    let key = unsafe { text::given_trimmed(key, key_len) };
    let info = from_int(info.get(), c::MPI_Info_fromint);
    let (len, mut is_set) = (valuelen.get(), 0);
    let mut found = Returned::room(len);
    // SAFETY: there is room for the value and its null.
    let code = unsafe { call(info, key.as_ptr().cast_mut(), len, found.as_mut_ptr(), &raw mut is_set) };
    if code == MPI_SUCCESS {
        flag.set(logical::to_fortran(is_set));
        if is_set != 0 {
            // SAFETY: the program's text.
            unsafe { found.store(value, value_len) };
        }
    }
    ierror.set(code);
}

subroutine! {
    "mpi_info_get_string_" "pmpi_info_get_string_"
    (
        info: Variable<'_>, key: *mut c_char, buflen: Variable<'_>, value: *mut c_char, flag: Variable<'_>,
        ierror: Variable<'_>, key_len: usize, value_len: usize,
    )
    info_get_string [MPI_Info_get_string PMPI_Info_get_string]
}

#[allow(clippy::too_many_arguments)]
unsafe fn info_get_string(
    info: Variable<'_>,
    key: *mut c_char,
    buflen: Variable<'_>,
    value: *mut c_char,
    flag: Variable<'_>,
    ierror: Variable<'_>,
    key_len: usize,
    value_len: usize,
    call: unsafe extern "C" fn(Handle, *mut c_char, *mut c_int, *mut c_char, *mut c_int) -> c_int,
) {
    // SAFETY: the program's text.
    let key = unsafe { text::given_trimmed(key, key_len) };
    let info = from_int(info.get(), c::MPI_Info_fromint);
    let (mut found, mut is_set) = (Returned::room(buflen.get()), 0);
    let len = &raw mut found.len;
    // SAFETY: there is room for the value and its null.
    let code = unsafe { call(info, key.as_ptr().cast_mut(), len, found.as_mut_ptr(), &raw mut is_set) };
    if code == MPI_SUCCESS {
        flag.set(logical::to_fortran(is_set));
        if is_set != 0 {
            buflen.set(found.len - 1);
            // SAFETY: the program's text.
            unsafe { found.store(value, value_len) };
        }
    }
    ierror.set(code);
}

subroutine! {
    "mpi_session_get_nth_pset_" "pmpi_session_get_nth_pset_"
    (
        session: Variable<'_>, info: Variable<'_>, n: Variable<'_>, pset_len: Variable<'_>, name: *mut c_char,
        ierror: Variable<'_>, name_len: usize,
    )
    session_get_nth_pset [MPI_Session_get_nth_pset PMPI_Session_get_nth_pset]
}

#[allow(clippy::too_many_arguments)]
unsafe fn session_get_nth_pset(
    session: Variable<'_>,
    info: Variable<'_>,
    n: Variable<'_>,
    pset_len: Variable<'_>,
    name: *mut c_char,
    ierror: Variable<'_>,
    name_len: usize,
    call: unsafe extern "C" fn(Handle, Handle, c_int, *mut c_int, *mut c_char) -> c_int,
) {
    let session = from_int(session.get(), c::MPI_Session_fromint);
    let info = from_int(info.get(), c::MPI_Info_fromint);
    let mut found = Returned::room(pset_len.get());
    let len = &raw mut found.len;
    // SAFETY: there is room for the name and its null.
    let code = unsafe { call(session, info, n.get(), len, found.as_mut_ptr()) };
    if code == MPI_SUCCESS {
        pset_len.set(found.len - 1);
        // SAFETY: the program's text.
        unsafe { found.store(name, name_len) };
    }
    ierror.set(code);
}

/// The value of an attribute as Fortran has it: C gets a pointer to that of a predefined one (MPI 5.0,
/// section 7.7).
unsafe fn value(keyval: c_int, found: *mut c_void) -> isize {
    match keyval {
        MPI_TAG_UB
        | MPI_IO
        | MPI_HOST
        | MPI_WTIME_IS_GLOBAL
        | MPI_APPNUM
        | MPI_LASTUSEDCODE
        | MPI_UNIVERSE_SIZE
        | MPI_WIN_DISP_UNIT
        | MPI_WIN_CREATE_FLAVOR
        | MPI_WIN_MODEL => {
            // SAFETY: such a value is an int.
            unsafe { found.cast::<c_int>().read() as isize }
        }
        // SAFETY: this one is an MPI_Aint.
        MPI_WIN_SIZE => unsafe { found.cast::<isize>().read() },
        _ => found.addr() as isize,
    }
}

macro_rules! attributes {
    ($get:literal $p_get:literal [$c_get:ident $pc_get:ident] $set:literal $p_set:literal [$c_set:ident $pc_set:ident] $from_int:ident) => {
        const _: () = {
            subroutine! {
                $get $p_get
                (
                    on: Variable<'_>, keyval: Variable<'_>, attribute: Variable<'_, isize>, flag: Variable<'_>,
                    ierror: Variable<'_>,
                )
                get [$c_get $pc_get]
            }

            unsafe fn get(
                on: Variable<'_>,
                keyval: Variable<'_>,
                attribute: Variable<'_, isize>,
                flag: Variable<'_>,
                ierror: Variable<'_>,
                call: unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_int) -> c_int,
            ) {
                let (on, keyval) = (from_int(on.get(), c::$from_int), keyval.get());
                let (mut found, mut is_set) = (null_mut::<c_void>(), 0);
                // SAFETY: there is room for the results.
                let code = unsafe { call(on, keyval, (&raw mut found).cast(), &raw mut is_set) };
                if code == MPI_SUCCESS {
                    flag.set(logical::to_fortran(is_set));
                    if is_set != 0 {
                        // SAFETY: the library has set the value.
                        attribute.set(unsafe { value(keyval, found) });
                    }
                }
                ierror.set(code);
            }

            subroutine! {
                $set $p_set
                (on: Variable<'_>, keyval: Variable<'_>, attribute: Variable<'_, isize>, ierror: Variable<'_>)
                set [$c_set $pc_set]
            }

            unsafe fn set(
                on: Variable<'_>,
                keyval: Variable<'_>,
                attribute: Variable<'_, isize>,
                ierror: Variable<'_>,
                call: unsafe extern "C" fn(Handle, c_int, *mut c_void) -> c_int,
            ) {
                let (on, value) = (from_int(on.get(), c::$from_int), attribute.get() as usize);
                // SAFETY: the library keeps the value, and reads nothing there.
                ierror.set(unsafe { call(on, keyval.get(), without_provenance_mut(value)) });
            }
        };
    };
}

attributes! {
    "mpi_comm_get_attr_" "pmpi_comm_get_attr_" [MPI_Comm_get_attr PMPI_Comm_get_attr]
    "mpi_comm_set_attr_" "pmpi_comm_set_attr_" [MPI_Comm_set_attr PMPI_Comm_set_attr]
    MPI_Comm_fromint
}
attributes! {
    "mpi_type_get_attr_" "pmpi_type_get_attr_" [MPI_Type_get_attr PMPI_Type_get_attr]
    "mpi_type_set_attr_" "pmpi_type_set_attr_" [MPI_Type_set_attr PMPI_Type_set_attr]
    MPI_Type_fromint
}
attributes! {
    "mpi_win_get_attr_" "pmpi_win_get_attr_" [MPI_Win_get_attr PMPI_Win_get_attr]
    "mpi_win_set_attr_" "pmpi_win_set_attr_" [MPI_Win_set_attr PMPI_Win_set_attr]
    MPI_Win_fromint
}
