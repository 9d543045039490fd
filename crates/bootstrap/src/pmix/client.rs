//! A rank of a job as PMIx sees it.

use super::abi::{self, Data, Info, Proc, Value};
use super::event;
use super::library::Library;
use crate::BootstrapError;
use crate::external::Connection;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char};
use std::ptr::{self, NonNull};

/// The seconds until a rank that asks for a word of another rank gives up. A server waits for a word that the
/// other rank has not put, as if it were still to come.
const PATIENCE: i32 = 60;

/// The connection to the server that has started this rank.
#[derive(Debug)]
pub(super) struct Client {
    library: Library,
    me: Proc,
}

/// A value that the library has made for the caller, by `malloc`.
struct Got(NonNull<Value>);

impl Got {
    fn value(&self) -> &Value {
        // SAFETY: the value lives as long as `self`.
        unsafe { self.0.as_ref() }
    }

    /// Its number. Slurm gives an `int` where PMIx's standard says `uint32_t`.
    fn number(&self) -> Option<u32> {
        let value = self.value();
        match value.kind {
            // SAFETY: the type says that the value holds such a number.
            abi::UINT32 => Some(unsafe { value.data.uint32 }),
            // SAFETY: the type says that the value holds such a number.
            abi::INT => u32::try_from(unsafe { value.data.integer }).ok(),
            _ => None,
        }
    }

    fn string(&self) -> Option<NonNull<c_char>> {
        // SAFETY: the type says that the value holds a string.
        let string = (self.value().kind == abi::STRING).then(|| unsafe { self.value().data.string });
        string.and_then(NonNull::new)
    }

    fn text(&self) -> Option<String> {
        // SAFETY: the string lives as long as `self`.
        let text = |string: NonNull<c_char>| unsafe { CStr::from_ptr(string.as_ptr()) };
        self.string().map(|string| text(string).to_string_lossy().into_owned())
    }
}

impl Drop for Got {
    fn drop(&mut self) {
        if let Some(string) = self.string() {
            // SAFETY: the string is the caller's, and nothing refers to it any more.
            unsafe { libc::free(string.as_ptr().cast()) };
        }
        // SAFETY: the value is the caller's, and nothing refers to it any more.
        unsafe { libc::free(self.0.as_ptr().cast()) };
    }
}

/// The name of a word as a C string.
fn key(name: &str) -> CString {
    debug_assert!(name.len() <= abi::MAX_KEYLEN);
    CString::new(name).expect("names have no zero")
}

impl Client {
    /// Connects to the server that the environment names.
    ///
    /// # Errors
    /// When there is no library, or no server answers.
    pub(super) fn connect() -> Result<Client, BootstrapError> {
        let library = Library::open()?;
        let mut me = Proc { nspace: [0; abi::MAX_NSLEN + 1], rank: 0 };
        // SAFETY: a place for the rank, and no wishes.
        let status = unsafe { (library.init)(&raw mut me, ptr::null(), 0) };
        library.check("PMIx_Init, called since PMIX_NAMESPACE is set,", status)?;
        Ok(Client { library, me })
    }

    /// The rank of this process.
    pub(super) fn rank(&self) -> u32 {
        self.me.rank
    }

    /// The number of ranks in the job.
    ///
    /// # Errors
    /// When the server does not say.
    pub(super) fn size(&self) -> Result<u32, BootstrapError> {
        let size = self.value(abi::RANK_WILDCARD, abi::JOB_SIZE, None)?;
        size.number().ok_or_else(|| unexpected(abi::JOB_SIZE, &size))
    }

    /// The number of this program on the launcher's command line, if the launcher gives one.
    pub(super) fn appnum(&self) -> Option<u32> {
        self.value(self.me.rank, abi::APPNUM, None).ok()?.number()
    }

    /// The ranks on this machine, as the launcher lists them.
    pub(super) fn local_peers(&self) -> Option<String> {
        self.value(abi::RANK_WILDCARD, abi::LOCAL_PEERS, None).ok()?.text()
    }

    fn value(&self, rank: u32, key: &CStr, wish: Option<&Info>) -> Result<Got, BootstrapError> {
        let of = Proc { rank, ..self.me };
        let mut value = ptr::null_mut();
        let (wish, wishes) = wish.map_or((ptr::null(), 0), |wish| (ptr::from_ref(wish), 1));
        // SAFETY: a rank, a string, no wish or one, and a place for the answer.
        let status = unsafe { (self.library.get)(&raw const of, key.as_ptr(), wish, wishes, &raw mut value) };
        self.library.check(&format!("PMIx_Get of {key:?}"), status)?;
        let nothing = || BootstrapError::Launcher { what: format!("PMIx_Get of {key:?} gives nothing") };
        NonNull::new(value).map(Got).ok_or_else(nothing)
    }
}

fn unexpected(key: &CStr, value: &Got) -> BootstrapError {
    let what = format!("PMIx_Get of {key:?} gives a value of type {}", value.value().kind);
    BootstrapError::Launcher { what }
}

impl Connection for Client {
    fn put(&mut self, name: &str, word: &str) -> Result<(), BootstrapError> {
        let word = CString::new(word).expect("words have no zero");
        let mut data = Data { all: [0; 3] };
        data.string = word.as_ptr().cast_mut();
        let mut value = Value { kind: abi::STRING, data };
        // SAFETY: strings and a value; the library copies them.
        let status = unsafe { (self.library.put)(abi::GLOBAL, key(name).as_ptr(), &raw mut value) };
        self.library.check(&format!("PMIx_Put of {name}"), status)
    }

    fn get(&mut self, rank: u32, name: &str) -> Result<String, BootstrapError> {
        let key = key(name);
        let value = self.value(rank, &key, Some(&Info::number(abi::TIMEOUT, PATIENCE)))?;
        value.text().ok_or_else(|| unexpected(&key, &value))
    }

    /// The library has known the hosts of all ranks since it began; their numbers it knows for this machine
    /// alone.
    fn nodes_of(&mut self, ranks: &[u32]) -> Option<Vec<u32>> {
        let (mut hosts, known) = (HashMap::new(), Info::flag(abi::OPTIONAL));
        let mut node_of = |rank| {
            let (host, new) =
                (self.value(rank, abi::HOSTNAME, Some(&known)).ok()?.text()?, hosts.len() as u32);
            Some(*hosts.entry(host).or_insert(new))
        };
        ranks.iter().map(|&rank| node_of(rank)).collect()
    }

    /// Only waits: the words of the others are fetched when they are first needed.
    fn fence(&mut self) -> Result<(), BootstrapError> {
        // SAFETY: the call has no arguments.
        let status = unsafe { (self.library.commit)() };
        self.library.check("PMIx_Commit", status)?;
        // SAFETY: no list means all ranks of the job; there are no wishes.
        let status = unsafe { (self.library.fence)(ptr::null(), 0, ptr::null(), 0) };
        self.library.check("PMIx_Fence", status)
    }

    fn finish(self: Box<Self>) -> Result<(), BootstrapError> {
        // SAFETY: there are no wishes, and no call follows.
        let status = unsafe { (self.library.finalize)(ptr::null(), 0) };
        self.library.check("PMIx_Finalize", status)
    }

    fn abort(&mut self, status: i32) -> Result<(), BootstrapError> {
        // SAFETY: a string; no list means all ranks of the job.
        let status = unsafe { (self.library.abort)(status, c"MPI_Abort".as_ptr(), ptr::null_mut(), 0) };
        self.library.check("PMIx_Abort", status)
    }

    fn watch(&mut self) -> Result<(), BootstrapError> {
        event::on_lost_server(&self.library, &self.me)
    }
}
