//! Subroutines whose arguments differ from those of the function in C. A number or a handle of the program is
//! a [`Variable`], which a program may pass for two arguments.

use crate::constants::MPI_SUCCESS;
#[cfg(abi = "standard")]
use crate::descriptor::Descriptor;
use crate::handle::{Handle, from_int, to_int};
use crate::subroutines as c;
use crate::{attribute, in_c, logical, text};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

pub(crate) type Variable<'a, T = c_int> = &'a Cell<T>;

/// A body, the C functions that it calls, and the subroutines that call it: each under its name and that of
/// the profiling interface, with its parameters and what becomes of them. Those behind `f08` are of `mpi_f08`
/// alone; in the ABIs of other libraries the other one serves there, too.
macro_rules! subroutines {
    ($body:ident [$c:ident $pc:ident] $(
        $symbol:literal $profiled:literal ($($param:ident: $kind:ty),* $(,)?) => ($($argument:expr),* $(,)?)
    )+ $(; f08
        $f08:literal $f08_profiled:literal ($($f08_param:ident: $f08_kind:ty),* $(,)?)
        => ($($f08_argument:expr),* $(,)?)
    )?) => {
        $(subroutines! {
            @one $body [$c $pc] $symbol $profiled ($($param: $kind),*) => ($($argument),*)
        })+
        $(#[cfg(abi = "standard")] subroutines! {
            @one $body [$c $pc] $f08 $f08_profiled ($($f08_param: $f08_kind),*) => ($($f08_argument),*)
        })?
    };
    (@one $body:ident [$c:ident $pc:ident] $symbol:literal $profiled:literal
    ($($param:ident: $kind:ty),*) => ($($argument:expr),*)) => {
        const _: () = {
            #[unsafe(export_name = $symbol)]
            unsafe extern "C" fn mpi($($param: $kind),*) {
                // SAFETY: the program's arguments are those that the standard asks for.
                unsafe { $body($($argument),*, c::$c) }
            }
            #[unsafe(export_name = $profiled)]
            unsafe extern "C" fn pmpi($($param: $kind),*) {
                // SAFETY: the same.
                unsafe { $body($($argument),*, c::$pc) }
            }
        };
    };
    // Both forms have the same parameters.
    ($body:ident [$c:ident $pc:ident] $symbol:literal $profiled:literal $f08:literal $f08_profiled:literal
    ($($param:ident: $kind:ty),* $(,)?)) => {
        subroutines! {
            $body [$c $pc]
            $symbol $profiled ($($param: $kind),*) => ($($param),*);
            f08 $f08 $f08_profiled ($($param: $kind),*) => ($($param),*)
        }
    };
    ($body:ident [$c:ident $pc:ident] $symbol:literal $profiled:literal ($($param:ident: $kind:ty),* $(,)?)) => {
        subroutines! { $body [$c $pc] $symbol $profiled ($($param: $kind),*) => ($($param),*) }
    };
}

pub(crate) use subroutines;

/// The variable for an error code, which is optional in `mpi_f08`.
pub(crate) type Ierror<'a> = Option<Variable<'a>>;

pub(crate) fn set_ierror(ierror: Ierror<'_>, code: c_int) {
    if let Some(ierror) = ierror {
        ierror.set(code);
    }
}

/// Characters of the program: where they are, and how many.
type Characters = (*mut c_char, usize);

type Arguments = *mut *mut *mut c_char;

subroutines! { init [MPI_Init PMPI_Init] "mpi_init_" "pmpi_init_" "mpi_init_f08_" "pmpi_init_f08_" (ierror: Ierror<'_>) }

unsafe fn init(ierror: Ierror<'_>, call: unsafe extern "C" fn(*mut c_int, Arguments) -> c_int) {
    // SAFETY: the library takes null for both.
    set_ierror(ierror, unsafe { call(null_mut(), null_mut()) });
}

subroutines! {
    init_thread [MPI_Init_thread PMPI_Init_thread]
    "mpi_init_thread_" "pmpi_init_thread_" "mpi_init_thread_f08_" "pmpi_init_thread_f08_"
    (required: Variable<'_>, provided: Variable<'_>, ierror: Ierror<'_>)
}

unsafe fn init_thread(
    required: Variable<'_>,
    provided: Variable<'_>,
    ierror: Ierror<'_>,
    call: unsafe extern "C" fn(*mut c_int, Arguments, c_int, *mut c_int) -> c_int,
) {
    // SAFETY: the library takes null for the arguments of the program, and there is room for the answer.
    set_ierror(ierror, unsafe { call(null_mut(), null_mut(), required.get(), provided.as_ptr()) });
}

subroutines! {
    pcontrol [MPI_Pcontrol PMPI_Pcontrol]
    "mpi_pcontrol_" "pmpi_pcontrol_" "mpi_pcontrol_f08_" "pmpi_pcontrol_f08_" (level: Variable<'_>)
}

unsafe fn pcontrol(level: Variable<'_>, call: unsafe extern "C" fn(c_int, ...) -> c_int) {
    // SAFETY: any number will do. Fortran has no code for an error here.
    unsafe { call(level.get()) };
}

subroutines! {
    info_create_env [MPI_Info_create_env PMPI_Info_create_env]
    "mpi_info_create_env_" "pmpi_info_create_env_" "mpi_info_create_env_f08_" "pmpi_info_create_env_f08_"
    (info: Variable<'_>, ierror: Ierror<'_>)
}

unsafe fn info_create_env(
    info: Variable<'_>,
    ierror: Ierror<'_>,
    call: unsafe extern "C" fn(c_int, *mut *mut c_char, *mut Handle) -> c_int,
) {
    let mut made = 0;
    // SAFETY: no arguments of the program are given.
    let code = unsafe { call(0, null_mut(), &raw mut made) };
    if code == MPI_SUCCESS {
        info.set(to_int(made, c::MPI_Info_toint));
    }
    set_ierror(ierror, code);
}

/// A text that C returns to Fortran, whose length in C counts the null.
struct Returned {
    bytes: Vec<u8>,
    len: c_int,
}

impl Returned {
    /// A buffer for `len` characters. If `len` is 0, C returns the length of the text only.
    fn buffer(len: c_int) -> Returned {
        let bytes = vec![0; usize::try_from(len).unwrap_or(0) + 1];
        Returned { bytes, len: if len > 0 { len + 1 } else { len } }
    }

    fn as_mut_ptr(&mut self) -> *mut c_char {
        self.bytes.as_mut_ptr().cast()
    }

    /// Stores the text in Fortran's variable, unless C has returned the length only.
    ///
    /// # Safety
    /// The `len` characters at `to` may be written.
    unsafe fn to_fortran(&self, to: *mut c_char, len: usize) {
        if self.bytes.len() > 1 {
            // SAFETY: by the caller's promise.
            unsafe { text::to_fortran(&self.bytes, to, len) };
        }
    }
}

subroutines! {
    info_get [MPI_Info_get PMPI_Info_get]
    "mpi_info_get_" "pmpi_info_get_"
    (
        info: Variable<'_>, key: *mut c_char, valuelen: Variable<'_>, value: *mut c_char, flag: Variable<'_>,
        ierror: Ierror<'_>, key_len: usize, value_len: usize,
    ) => (info, (key, key_len), valuelen, (value, value_len), flag, ierror);
    f08 "mpi_info_get_f08_" "pmpi_info_get_f08_"
    (
        info: Variable<'_>, key: &Descriptor, valuelen: Variable<'_>, value: &Descriptor, flag: Variable<'_>,
        ierror: Ierror<'_>,
    ) => (info, key.characters(), valuelen, value.characters(), flag, ierror)
}

unsafe fn info_get(
    info: Variable<'_>,
    (key, key_len): Characters,
    valuelen: Variable<'_>,
    (value, value_len): Characters,
    flag: Variable<'_>,
    ierror: Ierror<'_>,
    call: unsafe extern "C" fn(Handle, *mut c_char, c_int, *mut c_char, *mut c_int) -> c_int,
) {
    // SAFETY: the program's text.
    let key = unsafe { text::to_c_trimmed(key, key_len) };
    let info = from_int(info.get(), c::MPI_Info_fromint);
    let (len, mut is_set) = (valuelen.get(), 0);
    let mut found = Returned::buffer(len);
    // SAFETY: there is room for the value and its null.
    let code = unsafe { call(info, key.as_ptr().cast_mut(), len, found.as_mut_ptr(), &raw mut is_set) };
    if code == MPI_SUCCESS {
        flag.set(logical::to_fortran(is_set));
        if is_set != 0 {
            // SAFETY: the program's text.
            unsafe { found.to_fortran(value, value_len) };
        }
    }
    set_ierror(ierror, code);
}

subroutines! {
    info_get_string [MPI_Info_get_string PMPI_Info_get_string]
    "mpi_info_get_string_" "pmpi_info_get_string_"
    (
        info: Variable<'_>, key: *mut c_char, buflen: Variable<'_>, value: *mut c_char, flag: Variable<'_>,
        ierror: Ierror<'_>, key_len: usize, value_len: usize,
    ) => (info, (key, key_len), buflen, (value, value_len), flag, ierror);
    f08 "mpi_info_get_string_f08_" "pmpi_info_get_string_f08_"
    (
        info: Variable<'_>, key: &Descriptor, buflen: Variable<'_>, value: &Descriptor, flag: Variable<'_>,
        ierror: Ierror<'_>,
    ) => (info, key.characters(), buflen, value.characters(), flag, ierror)
}

unsafe fn info_get_string(
    info: Variable<'_>,
    (key, key_len): Characters,
    buflen: Variable<'_>,
    (value, value_len): Characters,
    flag: Variable<'_>,
    ierror: Ierror<'_>,
    call: unsafe extern "C" fn(Handle, *mut c_char, *mut c_int, *mut c_char, *mut c_int) -> c_int,
) {
    // SAFETY: the program's text.
    let key = unsafe { text::to_c_trimmed(key, key_len) };
    let info = from_int(info.get(), c::MPI_Info_fromint);
    let (mut found, mut is_set) = (Returned::buffer(buflen.get()), 0);
    let len = &raw mut found.len;
    // SAFETY: there is room for the value and its null.
    let code = unsafe { call(info, key.as_ptr().cast_mut(), len, found.as_mut_ptr(), &raw mut is_set) };
    if code == MPI_SUCCESS {
        flag.set(logical::to_fortran(is_set));
        if is_set != 0 {
            buflen.set(found.len - 1);
            // SAFETY: the program's text.
            unsafe { found.to_fortran(value, value_len) };
        }
    }
    set_ierror(ierror, code);
}

subroutines! {
    session_get_nth_pset [MPI_Session_get_nth_pset PMPI_Session_get_nth_pset]
    "mpi_session_get_nth_pset_" "pmpi_session_get_nth_pset_"
    (
        session: Variable<'_>, info: Variable<'_>, n: Variable<'_>, pset_len: Variable<'_>, name: *mut c_char,
        ierror: Ierror<'_>, name_len: usize,
    ) => (session, info, n, pset_len, (name, name_len), ierror);
    f08 "mpi_session_get_nth_pset_f08_" "pmpi_session_get_nth_pset_f08_"
    (
        session: Variable<'_>, info: Variable<'_>, n: Variable<'_>, pset_len: Variable<'_>, name: &Descriptor,
        ierror: Ierror<'_>,
    ) => (session, info, n, pset_len, name.characters(), ierror)
}

unsafe fn session_get_nth_pset(
    session: Variable<'_>,
    info: Variable<'_>,
    n: Variable<'_>,
    pset_len: Variable<'_>,
    (name, name_len): Characters,
    ierror: Ierror<'_>,
    call: unsafe extern "C" fn(Handle, Handle, c_int, *mut c_int, *mut c_char) -> c_int,
) {
    let session = from_int(session.get(), c::MPI_Session_fromint);
    let info = from_int(info.get(), c::MPI_Info_fromint);
    let mut found = Returned::buffer(pset_len.get());
    let len = &raw mut found.len;
    // SAFETY: there is room for the name and its null.
    let code = unsafe { call(session, info, n.get(), len, found.as_mut_ptr()) };
    if code == MPI_SUCCESS {
        pset_len.set(found.len - 1);
        // SAFETY: the program's text.
        unsafe { found.to_fortran(name, name_len) };
    }
    set_ierror(ierror, code);
}

macro_rules! attributes {
    ([$c_get:ident $pc_get:ident] $($get:literal)+; [$c_set:ident $pc_set:ident] $($set:literal)+; $from_int:ident $value:ty) => {
        const _: () = {
            subroutines! {
                get [$c_get $pc_get] $($get)+
                (
                    on: Variable<'_>, keyval: Variable<'_>, attribute: Variable<'_, $value>, flag: Variable<'_>,
                    ierror: Ierror<'_>,
                )
            }

            unsafe fn get(
                on: Variable<'_>,
                keyval: Variable<'_>,
                attribute: Variable<'_, $value>,
                flag: Variable<'_>,
                ierror: Ierror<'_>,
                call: unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_int) -> c_int,
            ) {
                let (on, keyval) = (from_int(on.get(), c::$from_int), in_c(keyval.get()));
                let (mut found, mut is_set) = (null_mut::<c_void>(), 0);
                // SAFETY: there is room for the results.
                let code = unsafe { call(on, keyval, (&raw mut found).cast(), &raw mut is_set) };
                if code == MPI_SUCCESS {
                    flag.set(logical::to_fortran(is_set));
                    if is_set != 0 {
                        // SAFETY: the library has set the value.
                        attribute.set(unsafe { attribute::of_key(keyval, found) as $value });
                    }
                }
                set_ierror(ierror, code);
            }

            subroutines! {
                set [$c_set $pc_set] $($set)+
                (on: Variable<'_>, keyval: Variable<'_>, attribute: Variable<'_, $value>, ierror: Ierror<'_>)
            }

            unsafe fn set(
                on: Variable<'_>,
                keyval: Variable<'_>,
                attribute: Variable<'_, $value>,
                ierror: Ierror<'_>,
                call: unsafe extern "C" fn(Handle, c_int, *mut c_void) -> c_int,
            ) {
                let (on, value) = (from_int(on.get(), c::$from_int), attribute::to_c(attribute.get() as isize));
                // SAFETY: the library keeps the pointer.
                set_ierror(ierror, unsafe { call(on, in_c(keyval.get()), value) });
            }
        };
    };
}

attributes! {
    [MPI_Comm_get_attr PMPI_Comm_get_attr]
    "mpi_comm_get_attr_" "pmpi_comm_get_attr_" "mpi_comm_get_attr_f08_" "pmpi_comm_get_attr_f08_";
    [MPI_Comm_set_attr PMPI_Comm_set_attr]
    "mpi_comm_set_attr_" "pmpi_comm_set_attr_" "mpi_comm_set_attr_f08_" "pmpi_comm_set_attr_f08_";
    MPI_Comm_fromint isize
}
attributes! {
    [MPI_Type_get_attr PMPI_Type_get_attr]
    "mpi_type_get_attr_" "pmpi_type_get_attr_" "mpi_type_get_attr_f08_" "pmpi_type_get_attr_f08_";
    [MPI_Type_set_attr PMPI_Type_set_attr]
    "mpi_type_set_attr_" "pmpi_type_set_attr_" "mpi_type_set_attr_f08_" "pmpi_type_set_attr_f08_";
    MPI_Type_fromint isize
}
attributes! {
    [MPI_Win_get_attr PMPI_Win_get_attr]
    "mpi_win_get_attr_" "pmpi_win_get_attr_" "mpi_win_get_attr_f08_" "pmpi_win_get_attr_f08_";
    [MPI_Win_set_attr PMPI_Win_set_attr]
    "mpi_win_set_attr_" "pmpi_win_set_attr_" "mpi_win_set_attr_f08_" "pmpi_win_set_attr_f08_";
    MPI_Win_fromint isize
}
// Those of MPI-1 are plain integers.
attributes! {
    [MPI_Attr_get PMPI_Attr_get] "mpi_attr_get_" "pmpi_attr_get_";
    [MPI_Attr_put PMPI_Attr_put] "mpi_attr_put_" "pmpi_attr_put_";
    MPI_Comm_fromint c_int
}
