//! Sessions and handles.
//!
//! They are numbers that are given once, and looked up under one lock.

use super::control::{Control, controls};
use super::event::{EVENTS, EventType};
use super::lookup::{at, check, error};
use super::performance::{Performance, performances};
use super::registration::{self, CallbackState, DroppedFunction, EventFunction, FreeFunction, Registration};
use super::value::Value;
use heddle_message::error::{Error, Result};
use heddle_spec::constants as mpi;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An operation on a handle of a performance variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleOperation {
    /// Lets the handle count.
    Start,
    /// Lets the handle stop counting.
    Stop,
    /// Sets the handle to zero.
    Reset,
}

/// A handle of a performance variable.
#[derive(Debug)]
struct Handle {
    variable: &'static Performance,
    /// The sum over the times in which it was started, until `since`.
    sum: Value,
    /// The variable's value at the last start; `None` while it is stopped.
    since: Option<Value>,
}

type Session = BTreeMap<usize, Handle>;

#[derive(Debug)]
struct Open {
    next: usize,
    sessions: BTreeMap<usize, Session>,
    controls: BTreeMap<usize, &'static Control>,
    registrations: BTreeMap<usize, Arc<Registration>>,
}

/// Numbers begin here: null and `MPI_T_PVAR_ALL_HANDLES` lie below.
const FIRST: usize = 0x1000;

static OPEN: Mutex<Open> = Mutex::new(Open {
    next: FIRST,
    sessions: BTreeMap::new(),
    controls: BTreeMap::new(),
    registrations: BTreeMap::new(),
});

fn open() -> Result<MutexGuard<'static, Open>> {
    check()?;
    Ok(OPEN.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Open {
    fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    fn session(&mut self, session: usize) -> Result<&mut Session> {
        self.sessions.get_mut(&session).ok_or_else(|| {
            error(
                mpi::MPI_T_ERR_INVALID_SESSION,
                format!("{session:#x} is no session of performance variables"),
            )
        })
    }
}

impl Open {
    fn registration(&self, handle: usize) -> Result<&Arc<Registration>> {
        self.registrations.get(&handle).ok_or_else(|| {
            error(mpi::MPI_T_ERR_INVALID_HANDLE, format!("{handle:#x} is no registration of an event"))
        })
    }

    /// Tells the threads of the registrations of an event type, which have changed.
    fn publish(&self, event: &'static EventType) {
        let registrations = self.registrations.values().filter(|it| std::ptr::eq(it.event(), event));
        registration::set(event, registrations.cloned().collect());
    }
}

fn no_handle(handle: usize) -> Error {
    error(mpi::MPI_T_ERR_INVALID_HANDLE, format!("{handle:#x} is no handle of a variable here"))
}

/// Ends all sessions and handles.
pub(super) fn end_all() {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.sessions.clear();
    open.controls.clear();
    let registrations = std::mem::take(&mut open.registrations);
    EVENTS.iter().for_each(|event| open.publish(event));
    drop(open);
    registrations.into_values().for_each(|registration| registration.end(None));
}

/// A handle of the control variable of that index, and the variable.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_INDEX`.
pub fn allocate_control(index: i32) -> Result<(usize, &'static Control)> {
    let mut open = open()?;
    let control = at(controls(), index)?;
    let handle = open.number();
    open.controls.insert(handle, control);
    Ok((handle, control))
}

/// The control variable of a handle.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_HANDLE`.
pub fn control_of(handle: usize) -> Result<&'static Control> {
    open()?.controls.get(&handle).copied().ok_or_else(|| no_handle(handle))
}

/// Registers for the event type of that index.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_INDEX`.
pub fn allocate_event(index: i32) -> Result<usize> {
    let mut open = open()?;
    let event = at(&EVENTS, index)?;
    let handle = open.number();
    open.registrations.insert(handle, Arc::new(Registration::new(handle, event)));
    open.publish(event);
    Ok(handle)
}

/// Checks that a registration exists.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_HANDLE`.
pub fn check_event(handle: usize) -> Result<()> {
    open()?.registration(handle).map(drop)
}

/// Checks that a registration has a callback of a safety level.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_HANDLE`, `MPI_T_ERR_INVALID`.
pub fn check_event_callback(handle: usize, safety: i32) -> Result<()> {
    open()?.registration(handle)?.check_callback(safety)
}

/// Sets the callback that a registration has for a safety level, or removes it.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_HANDLE`, `MPI_T_ERR_INVALID`.
pub fn set_event_callback(
    handle: usize,
    safety: i32,
    function: Option<EventFunction>,
    state: CallbackState,
) -> Result<()> {
    let open = open()?;
    let registration = open.registration(handle)?;
    registration.set_callback(safety, function, state)?;
    open.publish(registration.event());
    Ok(())
}

/// Sets the function that is told of dropped events, or removes it.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_HANDLE`.
pub fn set_dropped_handler(handle: usize, function: Option<DroppedFunction>) -> Result<()> {
    let open = open()?;
    let registration = open.registration(handle)?;
    registration.set_dropped(function);
    open.publish(registration.event());
    Ok(())
}

/// Ends a registration. `free` is called when no thread calls its callbacks any more.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_HANDLE`.
pub fn free_event(handle: usize, free: Option<(FreeFunction, CallbackState)>) -> Result<()> {
    let mut open = open()?;
    let registration = open.registration(handle)?.clone();
    open.registrations.remove(&handle);
    open.publish(registration.event());
    // Functions of the program may call MPI_T.
    drop(open);
    registration.end(free);
    Ok(())
}

/// Ends a handle of a control variable.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_HANDLE`.
pub fn free_control(handle: usize) -> Result<()> {
    open()?.controls.remove(&handle).map(drop).ok_or_else(|| no_handle(handle))
}

/// A new session.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`.
pub fn create_session() -> Result<usize> {
    let mut open = open()?;
    let session = open.number();
    open.sessions.insert(session, Session::new());
    Ok(session)
}

/// Ends a session and its handles.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_SESSION`.
pub fn free_session(session: usize) -> Result<()> {
    let mut open = open()?;
    open.session(session)?;
    open.sessions.remove(&session);
    Ok(())
}

/// A handle of the performance variable of that index, and the variable.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_SESSION`, `MPI_T_ERR_INVALID_INDEX`.
pub fn allocate_performance(session: usize, index: i32) -> Result<(usize, &'static Performance)> {
    let mut open = open()?;
    open.session(session)?;
    let variable = at(performances(), index)?;
    let number = open.number();
    let handle = Handle { variable, sum: variable.now().zero(), since: None };
    open.session(session)?.insert(number, handle);
    Ok((number, variable))
}

/// Ends a handle of a performance variable.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_SESSION`, `MPI_T_ERR_INVALID_HANDLE`.
pub fn free_performance(session: usize, handle: usize) -> Result<()> {
    open()?.session(session)?.remove(&handle).map(drop).ok_or_else(|| no_handle(handle))
}

/// Does something with a handle, or with all handles of the session that it can be done with.
///
/// # Errors
/// `MPI_T_ERR_NOT_INITIALIZED`, `MPI_T_ERR_INVALID_SESSION`, `MPI_T_ERR_INVALID_HANDLE`,
/// `MPI_T_ERR_PVAR_NO_STARTSTOP` and `MPI_T_ERR_PVAR_NO_WRITE`.
pub fn operate(session: usize, handle: usize, operation: HandleOperation) -> Result<()> {
    let mut open = open()?;
    let session = open.session(session)?;
    if handle == mpi::MPI_T_PVAR_ALL_HANDLES {
        let able = session.values_mut().filter(|handle| handle.variable.class.is_relative());
        able.for_each(|handle| handle.operate(operation));
        return Ok(());
    }
    let handle = session.get_mut(&handle).ok_or_else(|| no_handle(handle))?;
    let (class, why) = match operation {
        HandleOperation::Start | HandleOperation::Stop => {
            (mpi::MPI_T_ERR_PVAR_NO_STARTSTOP, "started or stopped")
        }
        HandleOperation::Reset => (mpi::MPI_T_ERR_PVAR_NO_WRITE, "reset"),
    };
    handle.check_relative(class, why)?;
    handle.operate(operation);
    Ok(())
}

/// The value of a handle; `and_reset` says whether it is zero from then on.
///
/// # Errors
/// The same as [`operate`].
pub fn read(session: usize, handle: usize, and_reset: bool) -> Result<Value> {
    let mut open = open()?;
    let handle = open.session(session)?.get_mut(&handle).ok_or_else(|| no_handle(handle))?;
    if and_reset {
        handle.check_relative(mpi::MPI_T_ERR_PVAR_NO_WRITE, "reset")?;
    }
    let now = handle.variable.now();
    let value = handle.at(&now);
    if and_reset {
        handle.become_value(now.zero(), now);
    }
    Ok(value)
}

/// Gives a handle the value with these bytes in memory; `bytes` is called with their number.
///
/// # Errors
/// The same as [`operate`].
pub fn write<'a>(session: usize, handle: usize, bytes: impl FnOnce(usize) -> Result<&'a [u8]>) -> Result<()> {
    let mut open = open()?;
    let handle = open.session(session)?.get_mut(&handle).ok_or_else(|| no_handle(handle))?;
    handle.check_relative(mpi::MPI_T_ERR_PVAR_NO_WRITE, "written to")?;
    let variable = handle.variable;
    let now = variable.now();
    let value = now.read_as(bytes(variable.count * variable.kind().bytes())?);
    handle.become_value(value, now);
    Ok(())
}

impl Handle {
    /// # Errors
    /// `class`, if the variable has the same value for all handles.
    fn check_relative(&self, class: i32, what: &str) -> Result<()> {
        if self.variable.class.is_relative() {
            return Ok(());
        }
        Err(error(class, format!("{} is as it is; it cannot be {what}", self.variable.name)))
    }

    /// The value, if the variable is `now`.
    fn at(&self, now: &Value) -> Value {
        match &self.since {
            _ if !self.variable.class.is_relative() => now.clone(),
            Some(since) => self.sum.advanced(since, now),
            None => self.sum.clone(),
        }
    }

    fn become_value(&mut self, value: Value, now: Value) {
        self.sum = value;
        if self.since.is_some() {
            self.since = Some(now);
        }
    }

    fn operate(&mut self, operation: HandleOperation) {
        let now = self.variable.now();
        match operation {
            HandleOperation::Start if self.since.is_none() => self.since = Some(now),
            HandleOperation::Start => {}
            HandleOperation::Stop => {
                self.sum = self.at(&now);
                self.since = None;
            }
            HandleOperation::Reset => self.become_value(now.zero(), now),
        }
    }
}
