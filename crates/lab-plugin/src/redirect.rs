//! In launchers, and in programs that start others: a rank is started on the machine.
//!
//! The launcher marks a rank in its environment. These functions stand before the C
//! library's in any program that has this library preloaded.

use heddle_lab::run::{Places, RANK_VARIABLES, find_program};
use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_void};
use std::fs::File;
use std::io::Read;
use std::mem::transmute;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::ptr;

type Strings = *const *const c_char;

/// A command as `execve` takes it.
struct Command {
    program: CString,
    /// Behind the pointers.
    _texts: Vec<CString>,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
}

/// # Safety
///
/// `strings` is null, or a list of strings with a null at its end.
unsafe fn list<'a>(strings: Strings) -> Vec<&'a CStr> {
    if strings.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    (0..)
        .map(|index| {
            // SAFETY: the caller's promise; the list ends before its null.
            let place = unsafe { strings.add(index) };
            // SAFETY: as above.
            unsafe { *place }
        })
        .take_while(|text| !text.is_null())
        .map(|text| unsafe { CStr::from_ptr(text) })
        .collect()
}

fn variable(environment: &[&CStr], name: &str) -> Option<OsString> {
    let find =
        |text: &&CStr| text.to_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=").map(<[u8]>::to_vec);
    environment.iter().find_map(find).map(OsString::from_vec)
}

/// The program behind a script's first line, and its argument.
fn interpreter(script: &Path) -> Option<(PathBuf, Option<OsString>)> {
    let mut begin = [0; 256];
    let read = File::open(script).ok()?.read(&mut begin).ok()?;
    let line = begin[..read].strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let text = String::from_utf8_lossy(line).into_owned();
    let (program, argument) = text
        .trim()
        .split_once([' ', '\t'])
        .map_or((text.trim(), None), |(program, argument)| (program, Some(argument.trim())));
    Some((PathBuf::from(program), argument.map(OsString::from)))
}

/// The lab's form of this command; `None` if it is not a rank.
///
/// # Safety
///
/// As for `execve`.
unsafe fn on_machine(file: *const c_char, arguments: Strings, environment: Strings) -> Option<Command> {
    // SAFETY: the caller's promise.
    let file = unsafe { CStr::from_ptr(file) };
    // SAFETY: as above.
    let arguments = unsafe { list(arguments) };
    // SAFETY: as above.
    let environment = unsafe { list(environment) };
    let places = Places::read(|name| variable(&environment, name))?;
    RANK_VARIABLES.iter().find_map(|name| variable(&environment, name))?;
    let program =
        find_program(OsStr::from_bytes(file.to_bytes()), variable(&environment, "PATH").as_deref())?;
    if program == places.qemu {
        return None;
    }
    let mut arguments: Vec<OsString> =
        arguments.iter().map(|text| OsStr::from_bytes(text.to_bytes()).to_owned()).collect();
    let mut program = program;
    if let Some((interpreter, argument)) = interpreter(&program) {
        let script = std::mem::replace(&mut program, interpreter);
        let rest = arguments.drain(..).skip(1).collect::<Vec<_>>();
        arguments.push(program.clone().into());
        arguments.extend(argument);
        arguments.push(script.into());
        arguments.extend(rest);
    }
    let text = |text: OsString| CString::new(text.into_vec()).ok();
    let arguments: Vec<CString> = places.command(&program, &arguments).into_iter().filter_map(text).collect();
    let kept: Vec<CString> = environment
        .iter()
        .filter(|text| !text.to_bytes().starts_with(b"LD_PRELOAD="))
        .map(|text| (*text).to_owned())
        .collect();
    let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect();
    let command = Command {
        program: arguments[0].clone(),
        arguments: pointers(&arguments),
        environment: pointers(&kept),
        _texts: arguments.into_iter().chain(kept).collect(),
    };
    Some(command)
}

/// The C library's function of this name.
fn next(name: &CStr) -> *mut c_void {
    // SAFETY: a lookup by name.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    assert!(!found.is_null(), "the C library has no {}", name.to_string_lossy());
    found
}

fn surroundings() -> Strings {
    unsafe extern "C" {
        static environ: Strings;
    }
    // SAFETY: the C library's variable.
    unsafe { environ }
}

type Execute = unsafe extern "C" fn(*const c_char, Strings, Strings) -> c_int;

/// # Safety
///
/// As for `execve`.
unsafe fn execute(name: &CStr, file: *const c_char, arguments: Strings, environment: Strings) -> c_int {
    // SAFETY: the C library declares it so.
    let next = unsafe { transmute::<*mut c_void, Execute>(next(name)) };
    // SAFETY: the caller's promise.
    match unsafe { on_machine(file, arguments, environment) } {
        // SAFETY: the command lives until the call is over.
        Some(command) => unsafe {
            next(command.program.as_ptr(), command.arguments.as_ptr(), command.environment.as_ptr())
        },
        // SAFETY: the caller's promise.
        None => unsafe { next(file, arguments, environment) },
    }
}

/// As the C library's.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn execve(
    file: *const c_char,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { execute(c"execve", file, arguments, environment) }
}

/// As the C library's.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn execvpe(
    file: *const c_char,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { execute(c"execvpe", file, arguments, environment) }
}

/// As the C library's.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn execv(file: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { execute(c"execve", file, arguments, surroundings()) }
}

/// As the C library's.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn execvp(file: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { execute(c"execvpe", file, arguments, surroundings()) }
}

type Spawn = unsafe extern "C" fn(
    *mut libc::pid_t,
    *const c_char,
    *const c_void,
    *const c_void,
    Strings,
    Strings,
) -> c_int;

/// # Safety
///
/// As for `posix_spawn`.
unsafe fn spawn(
    name: &CStr,
    pid: *mut libc::pid_t,
    file: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    // SAFETY: the C library declares it so.
    let next = unsafe { transmute::<*mut c_void, Spawn>(next(name)) };
    // SAFETY: the caller's promise.
    match unsafe { on_machine(file, arguments, environment) } {
        // SAFETY: the command lives until the call is over.
        Some(command) => unsafe {
            next(
                pid,
                command.program.as_ptr(),
                actions,
                attributes,
                command.arguments.as_ptr(),
                command.environment.as_ptr(),
            )
        },
        // SAFETY: the caller's promise.
        None => unsafe { next(pid, file, actions, attributes, arguments, environment) },
    }
}

/// As the C library's.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn posix_spawn(
    pid: *mut libc::pid_t,
    file: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { spawn(c"posix_spawn", pid, file, actions, attributes, arguments, environment) }
}

/// As the C library's.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn posix_spawnp(
    pid: *mut libc::pid_t,
    file: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { spawn(c"posix_spawnp", pid, file, actions, attributes, arguments, environment) }
}
