//! An endpoint: it sends messages to addresses and receives them, with a domain, an address vector and a
//! completion queue of its own.

#[cfg(test)]
mod tests;

use crate::abi::{self, Av, Cq, CqDataEntry, Domain, Ep, Fid};
use crate::error::{Error, LostOperation};
use crate::guard::{JobKey, Opening};
use crate::library::{NET, Provider};
use crate::object::Closing;
use crate::registered::{Owner, Registered};
use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;
use std::ptr;
use std::sync::Arc;

/// The longest name of an endpoint, in bytes.
const LONGEST_NAME: usize = 512;

/// How many completions are read at once.
const AT_ONCE: usize = 16;

/// The address of a peer in an endpoint's address vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address(u64);

/// Memory of a peer, which it has [exposed](Endpoint::expose).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteMemory {
    /// The number of its first byte, as the provider counts.
    pub address: u64,
    /// Its key.
    pub key: u64,
}

impl RemoteMemory {
    /// The memory from its byte `offset` on.
    #[must_use]
    pub fn from(self, offset: usize) -> RemoteMemory {
        RemoteMemory { address: self.address.wrapping_add(offset as u64), ..self }
    }
}

/// The result of a call that the provider may put off.
#[derive(Debug, PartialEq, Eq)]
pub enum Submission {
    /// It is done, or under way.
    Taken,
    /// There is no room now, or no connection yet. Nothing has happened; [`Endpoint::poll`] makes progress.
    Later,
    /// The peer cannot be reached: the provider's words.
    Lost(String),
}

/// An operation that is complete.
#[derive(Debug, Clone, Copy)]
pub struct Completion {
    /// The context that the operation got.
    pub context: *mut u8,
    /// The bytes that a receive got.
    pub len: usize,
}

/// An endpoint.
#[derive(Debug)]
pub struct Endpoint {
    /// Closed before the other objects.
    endpoint: Closing<Ep>,
    objects: EndpointObjects,
    wait: Option<RawFd>,
    key: Option<JobKey>,
}

/// The objects that an endpoint is made with, closed in this order. Registrations end before.
#[derive(Debug)]
pub struct EndpointObjects {
    completions: Closing<Cq>,
    /// A queue without completions, whose descriptor is waited for (see [`Queues`]).
    empty: Option<Closing<Cq>>,
    addresses: Closing<Av>,
    domain: Closing<Domain>,
    provider: Arc<Provider>,
}

// SAFETY: one thread at a time uses it, which `&mut self` says; it may be another one each time.
unsafe impl Send for Endpoint {}

impl Endpoint {
    /// Makes an endpoint, ready to send and to receive.
    ///
    /// # Errors
    /// The library's.
    pub fn open(provider: &Arc<Provider>) -> Result<Endpoint, Error> {
        let functions = &provider.functions;
        let missing = |call| move || functions.failed(call, -i64::from(libc::ENOMEM));
        let info = provider.info.as_ptr();

        let mut domain = ptr::null_mut();
        let open = provider.fabric().functions().domain;
        // SAFETY: the description belongs to the fabric.
        let result = unsafe { open(provider.fabric.as_ptr(), info, &raw mut domain, ptr::null_mut()) };
        functions.check("fi_domain", result)?;
        let domain = Closing::new(domain, missing("fi_domain"))?;
        let ops = domain.get().functions();

        let mut attributes = abi::AvAttr {
            kind: abi::AV_TABLE,
            rx_ctx_bits: 0,
            count: 0,
            ep_per_node: 0,
            name: ptr::null(),
            map_addr: ptr::null_mut(),
            flags: 0,
        };
        let mut addresses = ptr::null_mut();
        // SAFETY: a live domain, and attributes.
        let result = unsafe {
            (ops.av_open)(domain.0.as_ptr(), &raw mut attributes, &raw mut addresses, ptr::null_mut())
        };
        functions.check("fi_av_open", result)?;
        let addresses = Closing::new(addresses, missing("fi_av_open"))?;

        let Queues { completions, empty, wait } = Queues::open(provider, &domain)?;

        let opening = Opening::begin(provider);
        let mut endpoint = ptr::null_mut();
        // SAFETY: a live domain, and its description.
        let result = unsafe { (ops.endpoint)(domain.0.as_ptr(), info, &raw mut endpoint, ptr::null_mut()) };
        functions.check("fi_endpoint", result)?;
        let endpoint = Closing::new(endpoint, missing("fi_endpoint"))?;
        let table = endpoint.get().fid.functions();
        for (object, flags) in [(addresses.fid(), 0), (completions.fid(), abi::SEND | abi::RECV)] {
            // SAFETY: live objects of one domain.
            let result = unsafe { (table.bind)(endpoint.fid(), object, flags) };
            functions.check("fi_ep_bind", result)?;
        }
        // SAFETY: a live endpoint; the command takes no argument.
        let result = unsafe { (table.control)(endpoint.fid(), abi::ENABLE, ptr::null_mut()) };
        functions.check("fi_enable", result)?;
        let key = opening.end();

        let provider = Arc::clone(provider);
        let objects = EndpointObjects { completions, empty, addresses, domain, provider };
        Ok(Endpoint { endpoint, objects, wait, key })
    }

    /// Makes another endpoint with the same provider.
    ///
    /// # Errors
    /// The library's.
    pub fn another(&self) -> Result<Endpoint, Error> {
        Endpoint::open(&self.objects.provider)
    }

    /// Stops all operations: closes the endpoint, which discards them (`fi_endpoint`, section "`fi_close`").
    /// Memory that they had is the caller's again. What is left may go once the registrations have ended.
    #[must_use]
    pub fn stop(self) -> EndpointObjects {
        let Endpoint { endpoint, objects, .. } = self;
        drop(endpoint);
        objects
    }

    fn endpoint(&self) -> &Ep {
        self.endpoint.get()
    }

    /// The provider that it was made with.
    #[must_use]
    pub fn provider(&self) -> &Provider {
        &self.objects.provider
    }

    /// The name by which peers find the endpoint.
    ///
    /// # Errors
    /// The library's.
    pub fn name(&self) -> Result<Vec<u8>, Error> {
        let mut name = vec![0u8; LONGEST_NAME];
        let mut len = name.len();
        let getname = self.endpoint().management().getname;
        // SAFETY: a live endpoint, and room for the name.
        let result = unsafe { getname(self.endpoint.fid(), name.as_mut_ptr().cast(), &raw mut len) };
        self.objects.provider.functions.check("fi_getname", result)?;
        name.truncate(len);
        Ok(name)
    }

    /// The key that others need to connect to the endpoint, if it is [guarded](crate::guard).
    #[must_use]
    pub fn key(&self) -> Option<JobKey> {
        self.key
    }

    /// Adds the peer with this name, which another endpoint of the provider has.
    ///
    /// # Errors
    /// The library's.
    pub fn insert(&mut self, name: &[u8]) -> Result<Address, Error> {
        let mut padded = name.to_vec();
        // A name that is too short is no reason to read behind it.
        padded.resize(name.len().max(LONGEST_NAME), 0);
        let mut address = abi::ADDR_UNSPEC;
        let insert = self.objects.addresses.get().functions().insert;
        // SAFETY: one name, and room for one address.
        let inserted = unsafe {
            insert(
                self.objects.addresses.0.as_ptr(),
                padded.as_ptr().cast(),
                1,
                &raw mut address,
                0,
                ptr::null_mut(),
            )
        };
        match inserted {
            1 => Ok(Address(address)),
            error => {
                Err(self.objects.provider.functions.failed("fi_av_insert", error.min(-libc::EINVAL).into()))
            }
        }
    }

    /// Registers memory for messages, if the provider wants that.
    ///
    /// # Errors
    /// The library's.
    ///
    /// # Safety
    /// The `len` bytes at `start` and the endpoint live longer than the result.
    pub unsafe fn register(&self, start: *mut u8, len: usize) -> Result<Registered, Error> {
        // SAFETY: by the caller's promise.
        unsafe { self.register_for(abi::SEND | abi::RECV, start, len) }
    }

    /// Registers memory that [`read`](Self::read) writes to, or [`write`](Self::write) reads, if the provider
    /// wants that.
    ///
    /// # Errors
    /// The library's.
    ///
    /// # Safety
    /// The `len` bytes at `start` and the endpoint live longer than the result.
    pub unsafe fn register_for_copies(&self, start: *mut u8, len: usize) -> Result<Registered, Error> {
        // SAFETY: by the caller's promise.
        unsafe { self.register_for(abi::READ | abi::WRITE, start, len) }
    }

    /// # Safety
    /// The `len` bytes at `start` and the endpoint live longer than the result.
    unsafe fn register_for(&self, access: u64, start: *mut u8, len: usize) -> Result<Registered, Error> {
        if !self.objects.provider.needs_registration() {
            return Ok(Registered::NONE);
        }
        // SAFETY: by the caller's promise.
        unsafe { Registered::new(&self.owner(), ptr::slice_from_raw_parts_mut(start, len), access, 0) }
    }

    fn owner(&self) -> Owner<'_> {
        Owner { domain: self.objects.domain.0, endpoint: self.endpoint.0, provider: self.provider() }
    }

    /// Lets peers [read](Self::read) memory until the registration is dropped, and [write](Self::write) it if
    /// they may. `key` is a random number, by which peers will name the memory unless the provider chooses
    /// another one.
    ///
    /// # Errors
    /// The library's.
    ///
    /// # Safety
    /// The `len` bytes at `start` and the endpoint live longer than the result.
    pub unsafe fn expose(
        &self,
        (start, len): (*mut u8, usize),
        may_write: bool,
        key: u64,
    ) -> Result<(Registered, RemoteMemory), Error> {
        let bits = 8 * self.objects.provider.info().of_domain().mr_key_size.min(8) as u32;
        let key = key & u64::MAX.checked_shr(64 - bits).unwrap_or_default();
        let memory = ptr::slice_from_raw_parts_mut(start, len);
        let access = abi::REMOTE_READ | if may_write { abi::REMOTE_WRITE } else { 0 };
        // SAFETY: by the caller's promise.
        let registered = unsafe { Registered::new(&self.owner(), memory, access, key) }?;
        let address =
            if self.objects.provider.registers(abi::MR_VIRT_ADDR) { start.expose_provenance() } else { 0 };
        let remote = RemoteMemory { address: address as u64, key: registered.key().unwrap_or(key) };
        Ok((registered, remote))
    }

    /// Reads `len` bytes from the memory of a peer.
    ///
    /// # Safety
    /// The `len` bytes at `to` are registered for copies and valid, and nobody else uses them nor the
    /// [`CONTEXT_BYTES`](crate::CONTEXT_BYTES) at `context`, until a completion with this context, if the
    /// operation was taken.
    pub unsafe fn read(
        &mut self,
        (from, memory): (Address, RemoteMemory),
        to: *mut u8,
        len: usize,
        target: &Registered,
        context: *mut u8,
    ) -> Submission {
        let read = self.endpoint().remote_memory().read;
        let (endpoint, descriptor) = (self.endpoint.0.as_ptr(), target.descriptor());
        let (to, context) = (to.cast(), context.cast());
        let RemoteMemory { address, key } = memory;
        // SAFETY: by the caller's promise.
        let result = unsafe { read(endpoint, to, len, descriptor, from.0, address, key, context) };
        self.outcome(result)
    }

    /// Writes `len` bytes to the memory of a peer, where they are when the operation is complete.
    ///
    /// # Safety
    /// The `len` bytes at `from` are registered for copies and valid, and nobody changes them nor uses the
    /// [`CONTEXT_BYTES`](crate::CONTEXT_BYTES) at `context`, until a completion with this context, if the
    /// operation was taken.
    pub unsafe fn write(
        &mut self,
        (to, memory): (Address, RemoteMemory),
        from: *const u8,
        len: usize,
        source: &Registered,
        context: *mut u8,
    ) -> Submission {
        let write = self.endpoint().remote_memory().writemsg;
        let (bytes, mut descriptor) =
            (libc::iovec { iov_base: from.cast_mut().cast(), iov_len: len }, source.descriptor());
        let range = abi::RmaIov { addr: memory.address, len, key: memory.key };
        let message = abi::MsgRma {
            msg_iov: &raw const bytes,
            desc: &raw mut descriptor,
            iov_count: 1,
            addr: to.0,
            rma_iov: &raw const range,
            rma_iov_count: 1,
            context: context.cast(),
            data: 0,
        };
        let flags = abi::COMPLETION | abi::DELIVERY_COMPLETE;
        // SAFETY: by the caller's promise; the provider copies the description.
        let result = unsafe { write(self.endpoint.0.as_ptr(), &raw const message, flags) };
        self.outcome(result)
    }

    /// Receives the next message into `len` bytes at `to`.
    ///
    /// # Safety
    /// The bytes are registered and valid, and nobody else uses them nor the
    /// [`CONTEXT_BYTES`](crate::CONTEXT_BYTES) at `context`, until a completion with this context.
    pub unsafe fn receive(
        &mut self,
        to: *mut u8,
        len: usize,
        memory: &Registered,
        context: *mut u8,
    ) -> Submission {
        let receive = self.endpoint().messages().recv;
        let (to, context) = (to.cast(), context.cast());
        // SAFETY: by the caller's promise.
        let result = unsafe {
            receive(self.endpoint.0.as_ptr(), to, len, memory.descriptor(), abi::ADDR_UNSPEC, context)
        };
        self.outcome(result)
    }

    /// Sends `len` bytes at `from`.
    ///
    /// # Safety
    /// The bytes are registered and valid and stay so, and nobody else uses the
    /// [`CONTEXT_BYTES`](crate::CONTEXT_BYTES) at `context`, until a completion with this context, if the
    /// message was taken.
    pub unsafe fn send(
        &mut self,
        to: Address,
        from: *const u8,
        len: usize,
        memory: &Registered,
        context: *mut u8,
    ) -> Submission {
        let send = self.endpoint().messages().send;
        let (from, context) = (from.cast(), context.cast());
        // SAFETY: by the caller's promise.
        let result = unsafe { send(self.endpoint.0.as_ptr(), from, len, memory.descriptor(), to.0, context) };
        self.outcome(result)
    }

    /// Sends a message that is no longer than [`Provider::inject_bytes`]; the bytes may be used again at
    /// once, and no completion follows.
    pub fn inject(&mut self, to: Address, message: &[u8]) -> Submission {
        let inject = self.endpoint().messages().inject;
        // SAFETY: a live endpoint; the library copies the bytes.
        let result =
            unsafe { inject(self.endpoint.0.as_ptr(), message.as_ptr().cast(), message.len(), to.0) };
        self.outcome(result)
    }

    fn outcome(&self, result: isize) -> Submission {
        match result {
            0 => Submission::Taken,
            later if later == -abi::EAGAIN => Submission::Later,
            error => Submission::Lost(self.objects.provider.functions.words(-error as c_int)),
        }
    }

    /// Makes progress, and gives the operations that are complete to `done`, at most 16 at a time, and those
    /// that have failed to `lost`. Returns how many there were.
    pub fn poll(&mut self, mut done: impl FnMut(Completion), lost: impl FnOnce(LostOperation)) -> usize {
        let empty =
            CqDataEntry { op_context: ptr::null_mut(), flags: 0, len: 0, buf: ptr::null_mut(), data: 0 };
        let mut entries = [empty; AT_ONCE];
        let read = self.objects.completions.get().functions().read;
        // SAFETY: a live queue of entries of this format, and room for that many.
        let got = unsafe { read(self.objects.completions.0.as_ptr(), entries.as_mut_ptr().cast(), AT_ONCE) };
        match usize::try_from(got) {
            Ok(got) => {
                for entry in &entries[..got] {
                    done(Completion { context: entry.op_context.cast(), len: entry.len });
                }
                got
            }
            Err(_) if got == -abi::EAVAIL => {
                lost(self.read_error());
                1
            }
            Err(_) => 0,
        }
    }

    #[cold]
    fn read_error(&mut self) -> LostOperation {
        // SAFETY: numbers and null pointers.
        let mut entry: abi::CqErrEntry = unsafe { std::mem::zeroed() };
        let readerr = self.objects.completions.get().functions().readerr;
        // SAFETY: a live queue, and room for an entry.
        unsafe { readerr(self.objects.completions.0.as_ptr(), &raw mut entry, 0) };
        LostOperation {
            context: entry.op_context.cast(),
            reason: self.objects.provider.functions.words(entry.err),
        }
    }

    /// The descriptor that becomes readable when there is something to [poll](Self::poll) for; none if the
    /// provider has none.
    #[must_use]
    pub fn wait_descriptor(&self) -> Option<RawFd> {
        self.wait
    }

    /// Returns true if the thread may wait for the [descriptor](Self::wait_descriptor) now; if not, there is
    /// something to poll for.
    pub fn may_wait(&mut self) -> bool {
        if self.wait.is_none() {
            return true;
        }
        let trywait = self.objects.provider.fabric().functions().trywait;
        let mut queue: *mut Fid = self.objects.empty.as_ref().unwrap_or(&self.objects.completions).fid();
        // SAFETY: one queue of this fabric.
        let may = unsafe { trywait(self.objects.provider.fabric.as_ptr(), &raw mut queue, 1) == 0 };
        may && (self.objects.empty.is_none() || !self.has_completions())
    }

    /// Returns true if there are completions in the queue. To ask the empty queue before a wait takes what
    /// has come to the sockets, which show it no more.
    fn has_completions(&self) -> bool {
        let read = self.objects.completions.get().functions().read;
        // SAFETY: a live queue; nothing is asked for, so nothing is written.
        unsafe { read(self.objects.completions.0.as_ptr(), ptr::null_mut(), 0) == 0 }
    }
}

/// The queues of an endpoint.
struct Queues {
    completions: Closing<Cq>,
    empty: Option<Closing<Cq>>,
    wait: Option<RawFd>,
}

impl Queues {
    /// Opens them, with a descriptor to wait for if the provider has that.
    ///
    /// The descriptor of a queue of [`NET`] stays readable once an operation was complete: only a call that
    /// blocks resets it. It is readable, too, while a socket of the domain is. So a second queue, in which
    /// nothing is ever complete, has a descriptor that shows the sockets alone.
    fn open(provider: &Provider, domain: &Closing<Domain>) -> Result<Queues, Error> {
        let with_descriptor = queue(provider, domain, abi::WAIT_FD).ok();
        let wait = with_descriptor.as_ref().and_then(wait_descriptor);
        let (completions, empty) =
            if provider.name() == NET { (None, with_descriptor) } else { (with_descriptor, None) };
        let completions = completions.map_or_else(|| queue(provider, domain, abi::WAIT_NONE), Ok)?;
        Ok(Queues { completions, empty, wait })
    }
}

fn queue(provider: &Provider, domain: &Closing<Domain>, wait_obj: c_int) -> Result<Closing<Cq>, Error> {
    let functions = &provider.functions;
    let mut attributes = abi::CqAttr {
        size: provider.depth.sends + provider.depth.receives,
        flags: 0,
        format: abi::CQ_FORMAT_DATA,
        wait_obj,
        signaling_vector: 0,
        wait_cond: 0,
        wait_set: ptr::null_mut(),
    };
    let open = domain.get().functions().cq_open;
    let mut queue = ptr::null_mut();
    // SAFETY: a live domain, and attributes.
    let result = unsafe { open(domain.0.as_ptr(), &raw mut attributes, &raw mut queue, ptr::null_mut()) };
    functions.check("fi_cq_open", result)?;
    Closing::new(queue, || functions.failed("fi_cq_open", -i64::from(libc::ENOMEM)))
}

fn wait_descriptor(queue: &Closing<Cq>) -> Option<RawFd> {
    let mut descriptor: c_int = -1;
    let control = queue.get().fid.functions().control;
    // SAFETY: a live queue; the command stores a descriptor's number.
    let result = unsafe { control(queue.fid(), abi::GETWAIT, (&raw mut descriptor).cast::<c_void>()) };
    (result == 0 && descriptor >= 0).then_some(descriptor)
}
