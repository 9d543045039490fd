//! What every entry point does around its body.

use crate::error::{Error, ErrorObject, Result};
use heddle_comm::domain;
use heddle_p2p::Refusal;
use heddle_process::raise;
use std::ffi::c_int;

/// Defines a function that returns an error code, under its two names. Equal bodies fold into one. The
/// entries of other ABIs call it: within these its body would be outlined, and longer for all.
macro_rules! entry {
    ($plain:ident $profiled:ident($($param:ident: $type:ty),*) $when:ident $object:expr => unsupported) => {
        entry! { $plain $profiled($($param: $type),*) $when $object
            => Err($crate::error::Error::unsupported(stringify!($plain))) }
    };
    ($plain:ident $profiled:ident($($param:ident: $type:ty),*) $when:ident $object:expr => $body:expr) => {
        entry! { @one $plain $plain($($param: $type),*) $when $object => $body }
        entry! { @one $profiled $plain($($param: $type),*) $when $object => $body }
    };
    ($plain:ident $profiled:ident($($param:ident: $type:ty),*) $when:ident $object:expr => |$attempt:ident| $express:expr, $body:expr) => {
        entry! { @express $plain $plain($($param: $type),*) $when $object => |$attempt| $express, $body }
        entry! { @express $profiled $plain($($param: $type),*) $when $object => |$attempt| $express, $body }
    };
    // The other attempts and the general path are separate functions, so that the first attempt saves no
    // registers for them.
    (@express $symbol:ident $name:ident($($param:ident: $type:ty),*) $when:ident $object:expr => |$attempt:ident| $express:expr, $body:expr) => {
        #[unsafe(no_mangle)]
        #[inline(never)]
        pub unsafe extern "C" fn $symbol($($param: $type),*) -> c_int {
            #[inline(never)]
            extern "C" fn general($($param: $type),*) -> c_int {
                match $crate::entry::$when(#[inline(always)] || $body) {
                    Ok(()) => heddle_spec::constants::MPI_SUCCESS,
                    Err(error) => $crate::entry::failed(stringify!($name), $object, error),
                }
            }
            #[inline(never)]
            extern "C" fn on_lane($($param: $type),*) -> c_int {
                let $attempt = heddle_p2p::Attempt::Lane;
                match $express {
                    Ok(Ok(())) => heddle_spec::constants::MPI_SUCCESS,
                    Ok(Err(error)) => $crate::entry::failed(stringify!($name), $object, error),
                    Err(_) => general($($param),*),
                }
            }
            #[inline(never)]
            extern "C" fn by_lock($($param: $type),*) -> c_int {
                let $attempt = heddle_p2p::Attempt::Lock;
                match $express {
                    Ok(Ok(())) => heddle_spec::constants::MPI_SUCCESS,
                    Ok(Err(error)) => $crate::entry::failed(stringify!($name), $object, error),
                    Err(heddle_p2p::Refusal::OnLane) => on_lane($($param),*),
                    Err(_) => general($($param),*),
                }
            }
            let $attempt = heddle_p2p::Attempt::Bias;
            match $express {
                Ok(Ok(())) => heddle_spec::constants::MPI_SUCCESS,
                Ok(Err(error)) => $crate::entry::failed(stringify!($name), $object, error),
                Err(heddle_p2p::Refusal::Busy) => by_lock($($param),*),
                Err(heddle_p2p::Refusal::OnLane) => on_lane($($param),*),
                Err(_) => general($($param),*),
            }
        }
    };
    (@one $symbol:ident $name:ident($($param:ident: $type:ty),*) $when:ident $object:expr => $body:expr) => {
        #[unsafe(no_mangle)]
        #[inline(never)]
        pub unsafe extern "C" fn $symbol($($param: $type),*) -> c_int {
            match $crate::entry::$when(#[inline(always)] || $body) {
                Ok(()) => heddle_spec::constants::MPI_SUCCESS,
                Err(error) => $crate::entry::failed(stringify!($name), $object, error),
            }
        }
    };
}

/// Defines a function that returns a value and cannot fail, under its two names.
macro_rules! value_entry {
    ($plain:ident $profiled:ident($($param:ident: $type:ty),*) -> $result:ty => unsupported $none:expr) => {
        value_entry! { $plain $profiled($($param: $type),*) -> $result => {
            let error = $crate::error::Error::unsupported(stringify!($plain));
            $crate::entry::failed(stringify!($plain), ErrorObject::Default, error);
            $none
        } }
    };
    ($plain:ident $profiled:ident($($param:ident: $type:ty),*) -> $result:ty => $body:expr) => {
        value_entry! { @one $plain($($param: $type),*) -> $result => $body }
        value_entry! { @one $profiled($($param: $type),*) -> $result => $body }
    };
    (@one $symbol:ident($($param:ident: $type:ty),*) -> $result:ty => $body:expr) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol($($param: $type),*) -> $result {
            $body
        }
    };
}

/// Makes an argument from a pointer that came from C.
macro_rules! made {
    ($make:expr) => {
        // SAFETY: the types of `argument` need pointers that are valid as the standard demands,
        // which the program promises.
        unsafe { $make }
    };
}

/// The result of an express path, or why it has done nothing.
pub(crate) type Express = std::result::Result<Result<()>, Refusal>;

/// Runs the body of a function that may be called at any time.
#[inline(always)]
pub(crate) fn early(body: impl FnOnce() -> Result<()>) -> Result<()> {
    body()
}

/// Runs the body of a function that needs a running library, inside the model's call section.
#[inline(always)]
pub(crate) fn running(body: impl FnOnce() -> Result<()>) -> Result<()> {
    domain::current()?.calls().inside(body)
}

/// Runs the body of a test of requests inside the model's call section, or `refused` instead, if the model
/// lets tests give up and another thread stays there (Amer et al., TOPC 2019, section 6.2). A test of null
/// and inactive requests alone does not give up, since it has to succeed.
#[inline(always)]
pub(crate) fn testing(
    any_is_active: impl FnOnce() -> bool,
    body: impl FnOnce() -> Result<()>,
    refused: impl FnOnce() -> Result<()>,
) -> Result<()> {
    domain::current()?.calls().inside_in_time(|| !any_is_active(), body).unwrap_or_else(refused)
}

/// Runs the body of a function that needs a running library, outside of the model's call section. Such
/// a function must not wait for another thread, because that thread may be in a callback of the
/// program and never return.
#[inline(always)]
pub(crate) fn unguarded(body: impl FnOnce() -> Result<()>) -> Result<()> {
    domain::current()?;
    body()
}

/// Calls the error handler of `object`; the function returns its result. What it looks up and the error
/// itself may hold references that only the call section guards.
#[cold]
pub(crate) fn failed(name: &'static str, object: ErrorObject, error: Error) -> c_int {
    let handle = || {
        let code = raise::handle(object, name, &error);
        drop(error);
        code
    };
    match domain::running() {
        Some(domain) => domain.calls().inside(handle),
        None => handle(),
    }
}
