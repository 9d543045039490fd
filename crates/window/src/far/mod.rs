//! Processes of a window on other machines: an operation is a message to a thread at its target, and long
//! data goes past that thread.
//!
//! ```text
//!   origin                               target
//!   put, accumulate ─────────────────▶   the library's thread writes, and counts
//!                   ◀───────── count ──  once for all that came together
//!   get, atomic     ─────────────────▶   the library's thread reads, or changes
//!                   ◀────────── data ──
//!   long put, get   ◀────────────────▶   the network copies; nothing tells the target
//! ```
//!
//! The thread changes words and elements by the processor's atomic operations, or in the accumulate lock,
//! exactly as the processes of its own machine do; so operations of both kinds are atomic with each other. A
//! network's own atomic operations would not be.
//!
//! Messages of one process to another stay in order. All operations of the program are complete when
//! `complete` returns; those on words are when their function does.
//!
//! | file | idea |
//! |---|---|
//! | `wire.rs` | the messages |
//! | `copying.rs` | puts and gets |
//! | `accumulating.rs` | accumulates at their target |
//! | `calls.rs` | operations whose answers have data |
//! | `counts.rs` | operations that are counted until they are complete |
//! | `requests.rs` | requests that wait for data |
//! | `part.rs` | this process's part of a window, as others reach it |
//! | `service.rs` | sending, and waiting, for all windows of the process |
//! | `carry_out.rs` | what is done with the messages that arrive |
//! | `start.rs` | opening the port, and starting the thread that reads it |

mod accumulating;
mod calls;
mod carry_out;
mod copying;
mod counts;
mod part;
mod requests;
mod service;
mod start;
mod wire;

use crate::answers::Answers;
use crate::attach::Question;
use crate::geometry::WordAt;
use crate::offer::WindowOffer;
use calls::Waiter;
pub(crate) use counts::Counts;
use heddle_message::domain::Domain;
use heddle_message::error::Result;
use heddle_transport::Exposed;
pub(crate) use part::Part;
use service::Service;
use start::service;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
pub(crate) use wire::WordOperation;
use wire::{LONGEST, PacketKind, message};

/// How many answers with data may be under way from a process: long ones, and short ones. The process keeps
/// those that it has no room to send.
const DEPTH: [u64; 2] = [16, 512];
/// The least length of a long one, in bytes.
const LONG: usize = 2048;
/// The pauses between two looks at a word on another machine.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(1)];
/// How often a thread looks at a word, if it waits for a while only.
const LOOKS: u32 = 8;

/// Opens this process's port for windows, if it is not open. Returns the words by which others find it.
///
/// # Errors
/// `MPI_ERR_OTHER` if the network refuses, or there is no thread to be had.
pub fn open(domain: &'static Domain) -> Result<String> {
    Ok(service(domain)?.address().to_owned())
}

/// Says where the port of a process of the job is found.
///
/// # Errors
/// Those of [`open`].
pub fn meet(domain: &'static Domain, process: usize, address: &str) -> Result<()> {
    service(domain)?.know(process, address);
    Ok(())
}

/// The number of a window that is to be made, among those of this process.
///
/// # Errors
/// Those of [`open`].
pub fn new_number(domain: &'static Domain) -> Result<u64> {
    Ok(service(domain)?.new_number())
}

/// A process on another machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    /// Its rank in the job.
    process: u32,
    /// The number of the window there.
    window: u64,
    /// Where its memory begins, in its own address space.
    base: u64,
    /// The name of the memory, if it is read and written past the thread there.
    exposed: Option<(u64, u64)>,
}

impl Peer {
    pub(crate) fn new(process: u32, offer: &WindowOffer) -> Peer {
        Peer { process, window: offer.number(), base: offer.address(), exposed: None }
    }
}

/// The processes of a window that are on other machines.
#[derive(Debug)]
pub(crate) struct Far {
    service: Arc<Service>,
    /// The number of the window here.
    window: u64,
    /// By rank; `None` for those of this machine.
    peers: Box<[Option<Peer>]>,
    /// Operations without a result.
    counts: Arc<Counts>,
    /// Those that use the program's memory until they are complete: with a result, or with long data.
    copies: Arc<Counts>,
}

impl Far {
    /// Lets the peers reach this process's part from now on, under the number that the window has here.
    ///
    /// # Errors
    /// Those of [`open`].
    pub(crate) fn new(
        domain: &'static Domain,
        window: u64,
        peers: Box<[Option<Peer>]>,
        part: impl FnOnce(Arc<Counts>) -> Part,
    ) -> Result<Far> {
        let service = Arc::clone(service(domain)?);
        let processes: Vec<_> = peers.iter().map(|peer| peer.map(|peer| peer.process)).collect();
        let [counts, copies] = [processes.clone(), processes].map(|of| Arc::new(Counts::new(of)));
        let mut part = part(Arc::clone(&counts));
        if part.size > 0 && !part.dynamic {
            // SAFETY: the memory belongs to the window until all processes free it, which withdraws the part.
            part.exposed = unsafe { service.port().expose(part.base, part.size as usize) };
        }
        service.add(window, part);
        Ok(Far { service, window, peers, counts, copies })
    }

    /// The name of this process's memory, if others read and write it past the thread here.
    pub(crate) fn exposed(&self) -> Option<(u64, u64)> {
        self.service.parts().get(&self.window)?.exposed.as_ref().map(Exposed::name)
    }

    /// Says how the others have exposed their memory.
    pub(crate) fn know_exposed(&mut self, told: &[WindowOffer]) {
        for (peer, offer) in self.peers.iter_mut().zip(told) {
            peer.iter_mut().for_each(|peer| peer.exposed = offer.exposed());
        }
    }

    /// Peers reach this process's part no more.
    pub(crate) fn withdraw(&self) {
        self.service.remove(self.window);
    }

    /// Returns true if a rank is one of them.
    #[inline(always)]
    pub(crate) fn has(&self, rank: usize) -> bool {
        self.peers[rank].is_some()
    }

    fn peer(&self, rank: usize) -> Peer {
        match self.peers[rank] {
            Some(peer) => peer,
            None => unreachable!("rank {rank} of the window is on this machine"),
        }
    }

    /// The thread that waits for data, or else the window.
    fn waiter<'a>(&'a self, rank: usize, thread: Option<&'a Answers>) -> Waiter<'a> {
        thread.map_or(Waiter::Window(&self.copies, rank), Waiter::Thread)
    }

    /// Awaits an answer with `len` bytes for `here`, once few others are under way. Returns its token.
    ///
    /// # Safety
    /// That of [`Calls::begin`](calls::Calls::begin).
    unsafe fn begin(&self, waiter: Waiter<'_>, here: *mut u8, len: usize) -> u64 {
        self.wait_for_less_than(DEPTH[usize::from(len < LONG)], waiter);
        // SAFETY: by the caller's promise.
        unsafe { self.service.calls().begin(waiter, here, len) }
    }

    /// Waits until so few answers are under way.
    fn wait_for_less_than(&self, depth: u64, waiter: Waiter<'_>) {
        let under_way = || match waiter {
            Waiter::Thread(answers) => answers.left().into(),
            Waiter::Window(counts, rank) => counts.under_way(rank),
        };
        if under_way() >= depth {
            self.service.wait_until(|| under_way() < depth);
        }
    }

    /// Waits until the data of reads is there.
    pub(crate) fn finish(&self, reads: &Answers) {
        self.service.wait_until(|| reads.left() == 0);
    }

    /// Loads, stores or changes a word, and wakes those that wait for it. Returns its value before.
    pub(crate) fn word(&self, rank: usize, word: WordAt, operation: WordOperation) -> u64 {
        let (code, operands) = operation.code();
        let at = (word.offset as u64) << 32 | word.event as u64;
        self.ask(rank, PacketKind::Word, code, [at, operands[0], operands[1]])
    }

    /// Returns true if the process has attached the bytes.
    pub(crate) fn is_attached(&self, rank: usize, address: u64, len: u64) -> bool {
        self.ask_attached(rank, Question::IsAttached, address, len) != 0
    }

    /// The attached memory around the bytes, if they are attached.
    pub(crate) fn stretch(&self, rank: usize, address: u64, len: u64) -> Option<Range<u64>> {
        let ask = |question| self.ask_attached(rank, question, address, len);
        let (start, end) = (ask(Question::Start), ask(Question::End));
        (start != 0 && end != 0).then_some(start..end)
    }

    fn ask_attached(&self, rank: usize, question: Question, address: u64, len: u64) -> u64 {
        self.ask(rank, PacketKind::Attached, 0, [address, len, question as u64])
    }

    /// Asks for a value.
    fn ask(&self, rank: usize, kind: PacketKind, aux: u16, words: [u64; 3]) -> u64 {
        let (Peer { process, window, .. }, call) = (self.peer(rank), Answers::default());
        // SAFETY: no bytes are asked for.
        let token = unsafe { self.begin(Waiter::Thread(&call), std::ptr::null_mut(), 0) };
        self.service.send(process, &message(kind, aux, (window, token), words, 0), |_| {});
        self.finish(&call);
        call.value()
    }

    /// Combines `len` bytes of whole elements of a predefined type, by its handle, with those at `address`.
    /// `operands` is null under `MPI_NO_OP`; the values before go to `results`, unless that is null.
    ///
    /// # Safety
    /// The bytes are valid, those at `results` for writes, and nobody else uses these until they are there,
    /// as in [`read`](Self::read).
    pub(crate) unsafe fn accumulate(
        &self,
        rank: usize,
        (op, handle, size): (u16, usize, usize),
        address: u64,
        (operands, results): (*const u8, *mut u8),
        len: usize,
        thread: Option<&Answers>,
    ) {
        let Peer { process, window, .. } = self.peer(rank);
        let longest = LONGEST / size * size;
        for at in (0..len).step_by(longest) {
            let part = longest.min(len - at);
            let words = [address.wrapping_add(at as u64), handle as u64, part as u64];
            let (kind, name) = if results.is_null() {
                self.counts.ask(rank);
                (PacketKind::Accumulate, self.window)
            } else {
                // SAFETY: by the caller's promise.
                let token = unsafe { self.begin(self.waiter(rank, thread), results.wrapping_add(at), part) };
                (PacketKind::Fetch, token)
            };
            let bytes = if operands.is_null() { 0 } else { part };
            self.service.send(process, &message(kind, op, (window, name), words, bytes), |payload| {
                // SAFETY: the payload has room for the operands, which are valid by the caller's promise.
                unsafe { payload.copy_from_nonoverlapping(operands.wrapping_add(at), bytes) }
            });
        }
    }

    /// Stores `value` in an element of `size` bytes at `address` if that holds `expected`; `result` receives
    /// the element before, until [`complete`](Self::complete) returns.
    ///
    /// # Safety
    /// All three are valid for an element, `result` for writes, and nobody else uses this until then.
    pub(crate) unsafe fn compare_and_swap(
        &self,
        rank: usize,
        (address, size): (u64, usize),
        (expected, value): (*const u8, *const u8),
        result: *mut u8,
    ) {
        let Peer { process, window, .. } = self.peer(rank);
        // SAFETY: by the caller's promise.
        let token = unsafe { self.begin(self.waiter(rank, None), result, size) };
        let message =
            message(PacketKind::CompareAndSwap, 0, (window, token), [address, size as u64, 0], 2 * size);
        self.service.send(process, &message, |payload| {
            // SAFETY: the payload has room for two elements, which are valid by the caller's promise.
            unsafe { payload.copy_from_nonoverlapping(expected, size) };
            // SAFETY: the same.
            unsafe { payload.wrapping_add(size).copy_from_nonoverlapping(value, size) };
        });
    }

    /// Waits until everything that was begun is complete. Out of line, so that the path on one machine stays
    /// short.
    #[cold]
    #[inline(never)]
    pub(crate) fn complete(&self) {
        for counts in [&self.counts, &self.copies].into_iter().filter(|counts| !counts.is_complete()) {
            for rank in (0..self.peers.len()).filter(|rank| self.peers[*rank].is_some()) {
                self.complete_rank(counts, rank);
            }
        }
    }

    /// Waits until everything that was begun on a process is complete.
    #[cold]
    #[inline(never)]
    pub(crate) fn complete_at(&self, rank: usize) {
        if self.peers[rank].is_some() {
            [&self.counts, &self.copies].into_iter().for_each(|counts| self.complete_rank(counts, rank));
        }
    }

    fn complete_rank(&self, counts: &Counts, rank: usize) {
        let asked = counts.asked(rank);
        self.service.wait_until(|| counts.done(rank) >= asked);
    }

    /// Looks at a word until `is_over` accepts its value; so many times at most, if `looks` says so. Returns
    /// whether it has.
    fn look(
        &self,
        rank: usize,
        word: WordAt,
        looks: Option<u32>,
        is_over: &mut dyn FnMut(u64) -> bool,
    ) -> bool {
        let [mut pause, longest] = PAUSES;
        let mut vain = 0;
        while !is_over(self.word(rank, word, WordOperation::Load)) {
            vain += 1;
            if Some(vain) == looks {
                return false;
            }
            self.service.pause(pause);
            pause = (2 * pause).min(longest);
        }
        true
    }

    /// Waits until `is_over` accepts a word's value.
    pub(crate) fn wait(&self, rank: usize, word: WordAt, is_over: &mut dyn FnMut(u64) -> bool) {
        self.look(rank, word, None, is_over);
    }

    /// Does the same, but gives up after a while. Returns whether `is_over` has accepted the value.
    pub(crate) fn wait_a_while(
        &self,
        rank: usize,
        word: WordAt,
        is_over: &mut dyn FnMut(u64) -> bool,
    ) -> bool {
        self.look(rank, word, Some(LOOKS), is_over)
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        // An epoch that was left open has data under way, for memory that the program may free now.
        self.complete();
        self.withdraw();
    }
}
