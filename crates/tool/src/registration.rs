//! Registrations of event types, and how their callbacks are called.
//!
//! The thread that an event happens to calls the callbacks, at the place where it happens: in the middle of
//! an MPI call, perhaps within critical sections, which other functions of the program never are
//! ([`heddle_message::program`]). A callback must therefore be one that calls no MPI function
//! but those that MPI_T allows there, and be thread-safe if the process may have several threads in MPI. An
//! event for which a registration has no such callback is dropped, and counted: the handler of dropped events
//! is told before the next callback of that registration, and when the registration is freed.
//!
//! A registration is freed once no thread calls its callbacks: each thread that tells of an event has a
//! reference, and the last one that lets go of it calls the program's function.

use super::event::EventType;
use super::instance::{Instance, safety_here};
use super::lookup::error;
use heddle_message::domain;
use heddle_message::error::Result;
use heddle_model::Tracepoint;
use heddle_spec::constants as mpi;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The program's function for an event: the instance, the registration, the safety needed, and its own state.
pub type EventFunction = unsafe extern "C" fn(usize, usize, c_int, *mut c_void);
/// Its function for the end of a registration.
pub type FreeFunction = unsafe extern "C" fn(usize, c_int, *mut c_void);
/// Its function for dropped events: their number, the registration, the source, the safety needed, and the
/// program's state.
pub type DroppedFunction = unsafe extern "C" fn(i64, usize, c_int, c_int, *mut c_void);

/// The program's own state, which it gets back with each call.
#[derive(Debug, Clone, Copy)]
pub struct CallbackState(pub *mut c_void);

// SAFETY: the library does not follow the pointer; the program's functions get it in whatever thread they are
// called, as the standard says.
unsafe impl Send for CallbackState {}

/// The safety levels: callbacks of a later one may be called wherever those of an earlier one may.
const LEVELS: [i32; 4] = [
    mpi::MPI_T_CB_REQUIRE_NONE,
    mpi::MPI_T_CB_REQUIRE_MPI_RESTRICTED,
    mpi::MPI_T_CB_REQUIRE_THREAD_SAFE,
    mpi::MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
];

/// A registration of an event type.
#[derive(Debug)]
pub(crate) struct Registration {
    handle: usize,
    event: &'static EventType,
    functions: Mutex<Functions>,
}

#[derive(Debug)]
struct Functions {
    /// A callback for each of `LEVELS`.
    callbacks: [Option<(EventFunction, CallbackState)>; LEVELS.len()],
    dropped: Option<DroppedFunction>,
    /// The events dropped since the handler was told.
    drops: i64,
    /// The state that was given last with a callback.
    state: CallbackState,
    free: Option<(FreeFunction, CallbackState)>,
}

/// The registrations of an event type.
type Registrations = Arc<[Arc<Registration>]>;

static REGISTERED: [RwLock<Option<Registrations>>; Tracepoint::ALL.len()] =
    [const { RwLock::new(None) }; Tracepoint::ALL.len()];

fn level_of(safety: i32) -> Result<usize> {
    LEVELS.iter().position(|level| *level == safety).ok_or_else(|| {
        error(
            mpi::MPI_T_ERR_INVALID,
            format!("{safety} is no safety level of a callback (MPI_T_CB_REQUIRE_…)"),
        )
    })
}

/// Makes `registrations` those that threads tell of an event. It is observed if any of them has a function.
/// The caller keeps the registrations that were there before until it has let go of its locks.
pub(crate) fn set(event: &'static EventType, registrations: Vec<Arc<Registration>>) {
    let mut registered =
        REGISTERED[event.tracepoint as usize].write().unwrap_or_else(PoisonError::into_inner);
    if registrations.iter().any(|registration| registration.has_function()) {
        event.tracepoint.observe(tell);
    } else {
        event.tracepoint.ignore();
    }
    *registered = Some(registrations.into());
}

/// Tells all registrations of an event that has happened to the calling thread.
fn tell(tracepoint: Tracepoint, numbers: &[u64]) {
    let time = super::event::timestamp();
    let registered = REGISTERED[tracepoint as usize].read().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(registered) = registered else { return };
    let threads = domain::ever().is_none_or(|domain| domain.has_threads());
    let safety =
        if threads { mpi::MPI_T_CB_REQUIRE_THREAD_SAFE } else { mpi::MPI_T_CB_REQUIRE_MPI_RESTRICTED };
    Instance::with(EventType::of(tracepoint), time, safety, numbers, |instance| {
        registered.iter().for_each(|registration| registration.tell(instance));
        // Here, since this may end a registration.
        drop(registered);
    });
}

impl Registration {
    pub(crate) fn new(handle: usize, event: &'static EventType) -> Registration {
        let functions = Functions {
            callbacks: [None; LEVELS.len()],
            dropped: None,
            drops: 0,
            state: CallbackState(std::ptr::null_mut()),
            free: None,
        };
        Registration { handle, event, functions: Mutex::new(functions) }
    }

    pub(crate) fn event(&self) -> &'static EventType {
        self.event
    }

    fn functions(&self) -> MutexGuard<'_, Functions> {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_function(&self) -> bool {
        let functions = self.functions();
        functions.dropped.is_some() || functions.callbacks.iter().any(Option::is_some)
    }

    /// Sets the callback of a safety level; none removes it.
    pub(crate) fn set_callback(
        &self,
        safety: i32,
        function: Option<EventFunction>,
        state: CallbackState,
    ) -> Result<()> {
        let level = level_of(safety)?;
        let mut functions = self.functions();
        functions.callbacks[level] = function.map(|function| (function, state));
        if function.is_some() {
            functions.state = state;
        }
        Ok(())
    }

    /// Checks that there is a callback of a safety level.
    pub(crate) fn check_callback(&self, safety: i32) -> Result<()> {
        if self.functions().callbacks[level_of(safety)?].is_some() {
            return Ok(());
        }
        let why = format!("registration {:#x} has no callback of the safety level {safety}", self.handle);
        Err(error(mpi::MPI_T_ERR_INVALID, why))
    }

    pub(crate) fn set_dropped(&self, function: Option<DroppedFunction>) {
        let mut functions = self.functions();
        if functions.dropped.is_none() {
            functions.drops = 0;
        }
        functions.dropped = function;
    }

    /// Ends it as soon as no thread uses it; then `free` is called.
    pub(crate) fn end(self: Arc<Registration>, free: Option<(FreeFunction, CallbackState)>) {
        self.tell_drops(safety_here());
        self.functions().free = free;
    }

    /// Calls the callback that is safe enough and no safer than needed, or drops the event.
    fn tell(&self, instance: &Instance) {
        let callback = {
            let mut functions = self.functions();
            let mut able =
                LEVELS.iter().zip(&functions.callbacks).filter(|(level, _)| **level >= instance.safety);
            let callback = able.find_map(|(_, callback)| *callback);
            functions.drops += i64::from(callback.is_none());
            callback
        };
        let Some((function, CallbackState(state))) = callback else { return };
        self.tell_drops(instance.safety);
        // SAFETY: the program registered it as a function of this type for this level, and its state with it.
        unsafe { function(instance.handle(), self.handle, instance.safety, state) };
    }

    /// Tells the handler of the events dropped since it was told.
    fn tell_drops(&self, safety: i32) {
        let (dropped, drops, CallbackState(state)) = {
            let mut functions = self.functions();
            if functions.drops == 0 {
                return;
            }
            let drops = std::mem::take(&mut functions.drops);
            (functions.dropped, drops, functions.state)
        };
        if let Some(dropped) = dropped {
            // SAFETY: the program set it as a function of this type; the state came with a callback.
            unsafe { dropped(drops, self.handle, 0, safety, state) };
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let free = self.functions().free.take();
        if let Some((function, CallbackState(state))) = free {
            // SAFETY: the program passed it as a function of this type, and its state with it.
            unsafe { function(self.handle, safety_here(), state) };
        }
    }
}
