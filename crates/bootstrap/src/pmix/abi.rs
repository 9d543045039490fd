//! The part of PMIx's binary interface that is used, by the names of `pmix.h` and `pmix_common.h`, less their
//! prefix. PMIx keeps it: the same client works with servers of other versions. A test compares it with
//! the headers (`layout.rs`).

use std::ffi::{CStr, c_char, c_int, c_void};

/// `pmix_status_t`: 0, or the negative number of an error.
pub(super) type Status = c_int;

pub(super) const SUCCESS: Status = 0;

/// Events: a connection is lost. Version 3 of PMIx and older ones say whose it was.
pub(super) const ERR_LOST_CONNECTION: Status = -61;
pub(super) const ERR_LOST_CONNECTION_TO_SERVER: Status = -101;
/// The answer to an event: others may handle it.
pub(super) const EVENT_NO_ACTION_TAKEN: Status = -331;

/// The longest name of a job and of a word, in bytes without the end.
pub(super) const MAX_NSLEN: usize = 255;
pub(super) const MAX_KEYLEN: usize = 511;

/// A rank that stands for all ranks of a job.
pub(super) const RANK_WILDCARD: u32 = u32::MAX - 1;

/// Types of values.
pub(super) const BOOL: u16 = 1;
pub(super) const STRING: u16 = 3;
pub(super) const INT: u16 = 6;
pub(super) const UINT32: u16 = 14;

/// The scope of words that all ranks may get.
pub(super) const GLOBAL: u8 = 3;

/// Words of the launcher: the number of ranks, those of this machine, the number of the program on the
/// command line, and the name of a rank's host.
pub(super) const JOB_SIZE: &CStr = c"pmix.job.size";
pub(super) const LOCAL_PEERS: &CStr = c"pmix.lpeers";
pub(super) const HOSTNAME: &CStr = c"pmix.hname";
pub(super) const APPNUM: &CStr = c"pmix.appnum";

/// Wishes: only the words that the library has already; the seconds after which a call gives up.
pub(super) const OPTIONAL: &CStr = c"pmix.optional";
pub(super) const TIMEOUT: &CStr = c"pmix.timeout";

/// `pmix_proc_t`: a rank of a job.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Proc {
    pub(super) nspace: [c_char; MAX_NSLEN + 1],
    pub(super) rank: u32,
}

/// `pmix_value_t`.
#[repr(C)]
pub(super) struct Value {
    pub(super) kind: u16,
    pub(super) data: Data,
}

/// The contents of a value, by its type.
#[repr(C)]
pub(super) union Data {
    pub(super) flag: bool,
    pub(super) string: *mut c_char,
    pub(super) integer: c_int,
    pub(super) uint32: u32,
    /// As long as the longest of the types that are not used.
    pub(super) all: [u64; 3],
}

/// `pmix_info_t`: a wish for a call.
#[repr(C)]
pub(super) struct Info {
    pub(super) key: [c_char; MAX_KEYLEN + 1],
    pub(super) flags: u32,
    pub(super) value: Value,
}

impl Info {
    /// A wish whose value is a number.
    pub(super) fn number(name: &CStr, number: c_int) -> Info {
        Info::new(name, INT, |data| data.integer = number)
    }

    /// A wish that is true.
    pub(super) fn flag(name: &CStr) -> Info {
        Info::new(name, BOOL, |data| data.flag = true)
    }

    fn new(name: &CStr, kind: u16, fill: impl FnOnce(&mut Data)) -> Info {
        let mut key = [0; MAX_KEYLEN + 1];
        for (to, &from) in key.iter_mut().zip(name.to_bytes()) {
            *to = from.cast_signed();
        }
        let mut data = Data { all: [0; 3] };
        fill(&mut data);
        Info { key, flags: 0, value: Value { kind, data } }
    }
}

pub(super) type Init = unsafe extern "C" fn(*mut Proc, *const Info, usize) -> Status;
pub(super) type Get =
    unsafe extern "C" fn(*const Proc, *const c_char, *const Info, usize, *mut *mut Value) -> Status;
pub(super) type Put = unsafe extern "C" fn(u8, *const c_char, *mut Value) -> Status;
pub(super) type Commit = unsafe extern "C" fn() -> Status;
pub(super) type Fence = unsafe extern "C" fn(*const Proc, usize, *const Info, usize) -> Status;
pub(super) type Finalize = unsafe extern "C" fn(*const Info, usize) -> Status;
pub(super) type Abort = unsafe extern "C" fn(Status, *const c_char, *mut Proc, usize) -> Status;
pub(super) type RegisterEventHandler = unsafe extern "C" fn(
    *mut Status,
    usize,
    *mut Info,
    usize,
    NotificationFn,
    Option<unsafe extern "C" fn(Status, usize, *mut c_void)>,
    *mut c_void,
) -> Status;
/// `pmix_notification_fn_t`: the number of the handler, the event, its source, facts, results of other
/// handlers, and the function to call at the end, with its last argument.
pub(super) type NotificationFn = unsafe extern "C" fn(
    usize,
    Status,
    *const Proc,
    *mut Info,
    usize,
    *mut Info,
    usize,
    Option<EventNotificationCbfuncFn>,
    *mut c_void,
);
/// `pmix_event_notification_cbfunc_fn_t`: the answer, facts for other handlers, and a function that frees
/// these.
pub(super) type EventNotificationCbfuncFn = unsafe extern "C" fn(
    Status,
    *mut Info,
    usize,
    Option<unsafe extern "C" fn(Status, *mut c_void)>,
    *mut c_void,
    *mut c_void,
);
pub(super) type ErrorString = unsafe extern "C" fn(Status) -> *const c_char;
