//! The library, open, and the providers that it has.

use crate::abi::{self, Info};
use crate::error::{Error, words};
use crate::object::close;
use libloading::Library as Loaded;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

const LIBRARY: &str = "libfabric.so.1";

/// Providers that `auto` passes over: those that reach one machine only, those whose messages are slow
/// everywhere, and those that stand for others.
const LAST: [&str; 8] = ["shm", "sm2", "udp", "sockets", "net", "off_coll", "usnic", "ofi_mrail"];

/// libfabric 1.16 and 1.17 name this one first among those for TCP ...
const TCP_RXM: &str = "tcp;ofi_rxm";
/// ... and have this one, too, which is `tcp` since 1.18: datagrams without another layer. A lone message
/// takes 2 µs less, and an endpoint less than 1 MiB of buffers instead of 16.
pub(crate) const NET: &str = "net";

/// The capabilities of endpoints for messages.
const MESSAGES: u64 = abi::MSG | abi::SEND | abi::RECV;
/// The capabilities of endpoints that read and write each other's memory.
const REMOTE_MEMORY: u64 = abi::RMA | abi::READ | abi::REMOTE_READ | abi::WRITE | abi::REMOTE_WRITE;

type GetInfo =
    unsafe extern "C" fn(u32, *const c_char, *const c_char, u64, *const Info, *mut *mut Info) -> c_int;
type DupInfo = unsafe extern "C" fn(*const Info) -> *mut Info;
type FreeInfo = unsafe extern "C" fn(*mut Info);
type OpenFabric = unsafe extern "C" fn(*mut abi::FabricAttr, *mut *mut abi::Fabric, *mut c_void) -> c_int;
type StrError = unsafe extern "C" fn(c_int) -> *const c_char;

/// The functions of the library.
#[derive(Debug)]
pub(crate) struct Functions {
    getinfo: GetInfo,
    dupinfo: DupInfo,
    freeinfo: FreeInfo,
    pub(crate) fabric: OpenFabric,
    strerror: StrError,
    /// Keeps the functions loaded.
    _library: Loaded,
}

/// The library.
#[derive(Debug, Clone)]
pub struct Library(Arc<Functions>);

/// The network that is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// The provider's name, as `fi_info` shows it; none for the first that fits.
    pub provider: Option<String>,
    /// The domain's name; none for the first.
    pub domain: Option<String>,
}

/// How many operations an endpoint has at once.
#[derive(Debug, Clone, Copy)]
pub struct Depth {
    /// Sends.
    pub sends: usize,
    /// Receives.
    pub receives: usize,
}

/// A provider with one of its networks: what endpoints are made of.
#[derive(Debug)]
pub struct Provider {
    pub(crate) functions: Arc<Functions>,
    pub(crate) info: NonNull<Info>,
    pub(crate) fabric: NonNull<abi::Fabric>,
    pub(crate) depth: Depth,
}

// SAFETY: the descriptions are not changed any more, and a fabric may be used by all threads.
unsafe impl Send for Provider {}
// SAFETY: the same.
unsafe impl Sync for Provider {}

impl Functions {
    /// An address in the library.
    pub(crate) fn address(&self) -> usize {
        self.getinfo as usize
    }

    /// The words for a negative result of a call.
    pub(crate) fn failed(&self, call: &'static str, result: i64) -> Error {
        Error::Call { call, reason: words(self.strerror, result) }
    }

    /// Returns an error if the result of a call is negative.
    pub(crate) fn check(&self, call: &'static str, result: c_int) -> Result<(), Error> {
        if result < 0 { Err(self.failed(call, result.into())) } else { Ok(()) }
    }

    /// The words for an error number.
    pub(crate) fn words(&self, number: c_int) -> String {
        words(self.strerror, -i64::from(number))
    }
}

/// A list of descriptions, freed when it is dropped.
struct Infos<'a> {
    functions: &'a Functions,
    first: *mut Info,
}

impl Drop for Infos<'_> {
    fn drop(&mut self) {
        if !self.first.is_null() {
            // SAFETY: the library has made the list, and nothing refers to it any more.
            unsafe { (self.functions.freeinfo)(self.first) };
        }
    }
}

impl Infos<'_> {
    fn each(&self) -> impl Iterator<Item = &Info> {
        let mut next = self.first;
        std::iter::from_fn(move || {
            // SAFETY: null, or an element of the list, which lives as long as `self`.
            let info = unsafe { next.as_ref() }?;
            next = info.next;
            Some(info)
        })
    }
}

/// A string of the library; empty if there is none.
fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: a string of a description, which the caller keeps.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

impl Info {
    fn provider(&self) -> String {
        text(self.of_fabric().prov_name)
    }

    fn domain(&self) -> String {
        text(self.of_domain().name)
    }
}

impl Library {
    /// Opens the library.
    ///
    /// # Errors
    /// If it cannot be loaded.
    pub fn open() -> Result<Library, Error> {
        limit_buffers();
        // SAFETY: loading libfabric only initialises it, which may happen at any time.
        let library = unsafe { Loaded::new(LIBRARY) }.map_err(Error::NoLibrary)?;
        macro_rules! function {
            ($name:literal) => {{
                // SAFETY: the type is the one of the function of that name.
                let function = unsafe { library.get($name.to_bytes_with_nul()) }.map_err(Error::NoLibrary)?;
                *function
            }};
        }
        Ok(Library(Arc::new(Functions {
            getinfo: function!(c"fi_getinfo"),
            dupinfo: function!(c"fi_dupinfo"),
            freeinfo: function!(c"fi_freeinfo"),
            fabric: function!(c"fi_fabric"),
            strerror: function!(c"fi_strerror"),
            _library: library,
        })))
    }

    /// Chooses the provider and network for endpoints. Without a wish it is the first that libfabric names
    /// among those that connect machines, and one that is not the loopback if there is such. `depth` is how
    /// many operations an endpoint has at once.
    ///
    /// # Errors
    /// If there is none.
    pub fn provider(&self, wish: &Wish, depth: Depth) -> Result<Provider, Error> {
        // Remote memory is not asked of a provider that has none.
        match self.provider_for(wish, depth, MESSAGES | REMOTE_MEMORY) {
            Err(Error::NoProvider { .. }) => self.provider_for(wish, depth, MESSAGES),
            chosen => chosen,
        }
    }

    fn provider_for(&self, wish: &Wish, depth: Depth, capabilities: u64) -> Result<Provider, Error> {
        let infos = self.infos(capabilities)?;
        let fits = |info: &Info| match (&wish.provider, &wish.domain) {
            (Some(provider), _) if info.provider() != *provider => false,
            (_, Some(domain)) if info.domain() != *domain => false,
            (None, _) => !LAST.contains(&info.provider().split(';').next().unwrap_or_default()),
            _ => true,
        };
        let fitting = || infos.each().filter(|info| fits(info));
        let chosen = fitting().find(|info| info.domain() != "lo").or_else(|| fitting().next());
        let net_instead_of = |of: &Info| {
            let is_wanted = wish.provider.is_none() && of.provider() == TCP_RXM;
            infos.each().find(|info| is_wanted && info.provider() == NET && info.domain() == of.domain())
        };
        let Some(info) = chosen.map(|info| net_instead_of(info).unwrap_or(info)) else {
            let wanted = match (&wish.provider, &wish.domain) {
                (None, None) => "that connects machines".to_owned(),
                (Some(provider), None) => provider.clone(),
                (provider, Some(domain)) => {
                    format!("{} on {domain}", provider.as_deref().unwrap_or("at all"))
                }
            };
            let mut there: Vec<String> =
                infos.each().map(|info| format!("{} on {}", info.provider(), info.domain())).collect();
            there.sort();
            there.dedup();
            return Err(Error::NoProvider { wanted, there: there.join(", ") });
        };
        Provider::of(&self.0, info, depth)
    }

    /// The descriptions of all reliable datagram endpoints that have these capabilities and keep the order of
    /// messages.
    fn infos(&self, capabilities: u64) -> Result<Infos<'_>, Error> {
        let functions = &*self.0;
        // SAFETY: without a description it makes an empty one.
        let hints = Infos { functions, first: unsafe { (functions.dupinfo)(ptr::null()) } };
        // SAFETY: null, or the description that was made, which nobody else has.
        let Some(info) = (unsafe { hints.first.as_mut() }) else {
            return Err(functions.failed("fi_allocinfo", -i64::from(libc::ENOMEM)));
        };
        info.caps = capabilities;
        info.mode = abi::MODES;
        // SAFETY: a description that nobody else has, with its parts.
        let ep = unsafe { &mut *info.ep_attr };
        // SAFETY: a description that nobody else has, with its parts.
        let domain = unsafe { &mut *info.domain_attr };
        ep.kind = abi::EP_RDM;
        domain.threading = abi::THREAD_DOMAIN;
        domain.resource_mgmt = abi::RM_ENABLED;
        domain.av_type = abi::AV_TABLE;
        domain.mr_mode =
            abi::MR_LOCAL | abi::MR_VIRT_ADDR | abi::MR_ALLOCATED | abi::MR_PROV_KEY | abi::MR_ENDPOINT;
        // SAFETY: a description that nobody else has, with its parts.
        unsafe { &mut *info.tx_attr }.msg_order = abi::ORDER_SAS;
        // SAFETY: a description that nobody else has, with its parts.
        unsafe { &mut *info.rx_attr }.msg_order = abi::ORDER_SAS;
        let mut first = ptr::null_mut();
        // SAFETY: neither node nor service are named; the description lives until the call returns.
        let result = unsafe {
            (functions.getinfo)(abi::VERSION, ptr::null(), ptr::null(), 0, hints.first, &raw mut first)
        };
        // No fitting provider is an empty list.
        if result < 0 && result != -libc::ENODATA {
            return Err(functions.failed("fi_getinfo", result.into()));
        }
        Ok(Infos { functions, first })
    }
}

/// Has providers make fewer buffers, which only their variables tell them. A variable that the user has set
/// stays as it is.
///
/// - `ofi_rxm` makes 1,024 buffers of 16 KiB for an endpoint, the fewest that it makes, and not 4,096, which
///   are 64 MiB.
/// - `tcp` since 1.18 makes 1,024 buffers of 16 KiB for an endpoint, for tagged messages that no receive
///   waits for; no message here has a tag of the provider's.
fn limit_buffers() {
    for (name, value) in [(c"FI_OFI_RXM_MSG_RX_SIZE", c"512"), (c"FI_TCP_MAX_RX_SIZE", c"256")] {
        // SAFETY: strings; an existing value stays. The call may not run beside one that reads the
        // environment in another thread: MPI is being initialised, and its standard lets no thread use it
        // yet.
        unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 0) };
    }
}

impl Provider {
    fn of(functions: &Arc<Functions>, info: &Info, depth: Depth) -> Result<Provider, Error> {
        let no_memory = || functions.failed("fi_dupinfo", -i64::from(libc::ENOMEM));
        // SAFETY: a description of the library's.
        let copy = unsafe { (functions.dupinfo)(info) };
        let info = NonNull::new(copy).ok_or_else(no_memory)?;
        let freed_on_error = Infos { functions, first: copy };
        // Some providers make all buffers of an endpoint at once: tcp;ofi_rxm takes 70 MiB for its own depth.
        // SAFETY: the description that was made.
        let made = unsafe { info.as_ref() };
        let (sending, receiving) = (made.tx_attr, made.rx_attr);
        // SAFETY: a description that nobody else has, with its parts.
        let sends = unsafe { &mut (*sending).size };
        *sends = depth.sends.min(*sends);
        // SAFETY: a description that nobody else has, with its parts.
        let receives = unsafe { &mut (*receiving).size };
        *receives = depth.receives.min(*receives);
        let mut fabric = ptr::null_mut();
        // SAFETY: the attributes are part of the copy.
        let attributes = unsafe { info.as_ref() }.fabric_attr;
        // SAFETY: the attributes of a provider, and a place for the object.
        let result = unsafe { (functions.fabric)(attributes, &raw mut fabric, ptr::null_mut()) };
        functions.check("fi_fabric", result)?;
        let fabric = NonNull::new(fabric).ok_or_else(no_memory)?;
        std::mem::forget(freed_on_error);
        Ok(Provider { functions: Arc::clone(functions), info, fabric, depth })
    }

    pub(crate) fn fabric(&self) -> &abi::Fabric {
        // SAFETY: made by `of`, closed by `drop`.
        unsafe { self.fabric.as_ref() }
    }

    pub(crate) fn info(&self) -> &Info {
        // SAFETY: made by `of`, freed by `drop`.
        unsafe { self.info.as_ref() }
    }

    /// Its name, as `fi_info` shows it.
    #[must_use]
    pub fn name(&self) -> String {
        self.info().provider()
    }

    /// The longest message that [`inject`](crate::Endpoint::inject) takes, in bytes.
    #[must_use]
    pub fn inject_bytes(&self) -> usize {
        self.info().sending().inject_size
    }

    /// The longest message, and the most that one [read](crate::Endpoint::read) gets, in bytes.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.info().of_endpoint().max_msg_size
    }

    /// Returns true if endpoints can [read](crate::Endpoint::read) and [write](crate::Endpoint::write) each
    /// other's memory.
    #[must_use]
    pub fn has_remote_memory(&self) -> bool {
        self.info().caps & REMOTE_MEMORY == REMOTE_MEMORY
    }

    /// Returns true if the provider asks for this mode of registration.
    pub(crate) fn registers(&self, mode: c_int) -> bool {
        self.info().of_domain().mr_mode & mode != 0
    }

    /// Returns true if memory must be [registered](crate::Registered) before messages are sent from it or
    /// received into it.
    pub(crate) fn needs_registration(&self) -> bool {
        self.registers(abi::MR_LOCAL)
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // SAFETY: the objects made of it keep it alive, so there are none any more.
        unsafe { close(self.fabric.as_ptr().cast()) };
        // SAFETY: nothing refers to the description any more.
        unsafe { (self.functions.freeinfo)(self.info.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn net_is_taken_instead_of_tcp_with_rxm() {
        let library = Library::open().expect("libfabric is installed");
        let name = |provider: Option<&str>| {
            let wish = Wish { provider: provider.map(str::to_owned), domain: Some("lo".to_owned()) };
            library.provider(&wish, Depth { sends: 1, receives: 1 }).map(|provider| provider.name())
        };
        let chosen = name(None).expect("TCP works on the loopback");
        assert!(name(Some(NET)).is_err() || chosen == NET, "{chosen}");
        // A user who asks for the other one gets it.
        assert_eq!(name(Some(TCP_RXM)).expect("it is there"), TCP_RXM);
    }

    #[test]
    fn a_provider_that_is_not_there_is_named_beside_those_that_are() {
        let library = Library::open().expect("libfabric is installed");
        let wish = Wish { provider: Some("carrier pigeon".to_owned()), domain: None };
        let text = library
            .provider(&wish, Depth { sends: 1, receives: 1 })
            .expect_err("no such provider")
            .to_string();
        assert!(text.contains("carrier pigeon") && text.contains("tcp"), "{text}");
        let wish = Wish { provider: None, domain: Some("moon0".to_owned()) };
        let text =
            library.provider(&wish, Depth { sends: 1, receives: 1 }).expect_err("no such domain").to_string();
        assert!(text.contains("moon0"), "{text}");
    }
}
