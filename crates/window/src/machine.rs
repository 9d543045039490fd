//! The processes of one machine: their window blocks are mapped, and memory that is not mapped is reached by
//! single copies of the kernel. Where the kernel forbids those when the window is made, each process has a
//! window thread that copies. A copy that the kernel refuses later is left to the process whose memory it is.

use crate::answers::Answers;
use crate::control::{Control, Desk, LONGEST_PARK, POLLS, wait, wait_a_while};
use crate::geometry::{BOUNCE, Geometry, WordAt};
use crate::memory::no_memory;
use crate::offer::WindowOffer;
use crate::remote::{Change, Remote};
use crate::run_list;
use crate::runs;
use crate::service::{ASKED, DONE, Helper, IDLE, LARGE, READ, READ_LIST, WRITE, WRITE_LIST, WindowThread};
use heddle_message::buffer::Buffer;
use heddle_message::domain::Domain;
use heddle_message::error::{Error, Result};
use heddle_message::served_copy::ServedCopy;
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_platform::hint::spin_loop;
use heddle_platform::{Scope, futex};
use heddle_spec::constants as mpi;
use heddle_transport::single_copy::Piece;
use heddle_transport::{CopyDirection, SharedMemory, SharedRange, single_copy, vectored_copy};
use std::io;
use std::sync::{Mutex, PoisonError};

/// The VNI on which a process serves copies that the kernel has refused.
const VNI: u32 = 0;
/// The least number of runs that are left to the thread of a process: it takes some tens of microseconds to
/// wake.
const FEWEST: usize = 128;

/// The processes of a window, all of them of one machine.
#[derive(Debug)]
pub(crate) struct Machine {
    domain: &'static Domain,
    /// This process's rank in the window.
    rank: usize,
    /// The processes' ranks in the job.
    processes: Box<[u32]>,
    /// By rank. In the places of processes of other machines, which nobody asks for here, is this process's
    /// own: a test for them would cost each operation on a word.
    controls: Box<[Control]>,
    geometry: Geometry,
    /// The thread that copies for processes which cannot, where there are such.
    thread: Mutex<Option<WindowThread>>,
    /// The thread for short runs, where there is one.
    helper: Mutex<Option<Helper>>,
    /// This process's memory, if the window has allocated it. Discarded at the end, unmapped
    /// when the window is dropped.
    own_memory: Option<SharedMemory>,
    /// Keeps the others' memory mapped.
    mapped: Vec<SharedMemory>,
}

impl Machine {
    /// Maps the window blocks of all processes.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if one cannot be mapped.
    pub(crate) fn new(
        domain: &'static Domain,
        (rank, processes): (usize, Box<[u32]>),
        (own_control, own_memory): (Control, Option<SharedMemory>),
        offers: &[WindowOffer],
    ) -> Result<Machine> {
        let geometry = *own_control.geometry();
        let mut controls = Vec::new();
        for (index, offer) in offers.iter().enumerate() {
            let is_elsewhere = !domain.fabric().is_local(processes[index] as usize);
            controls.push(match index {
                own if own == rank || is_elsewhere => own_control.clone(),
                _ => Control::new(map(domain, control_range(offer)?)?, geometry),
            });
        }
        Ok(Machine {
            domain,
            rank,
            processes,
            controls: controls.into(),
            geometry,
            thread: Mutex::new(None),
            helper: Mutex::new(None),
            own_memory,
            mapped: Vec::new(),
        })
    }

    /// Maps the memory of a process. Returns where it begins here; null if it cannot be mapped.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if the system refuses.
    pub(crate) fn map_memory(&mut self, offer: &WindowOffer) -> Result<*mut u8> {
        let Some(range) = offer.memory() else { return Ok(std::ptr::null_mut()) };
        // Shared memory in one piece has the parts of all processes, and is mapped once.
        let mut known = self.mapped.iter().chain(&self.own_memory);
        let base = match known.find(|memory| memory.range() == Some(range)) {
            Some(memory) => memory.as_ptr(),
            None => {
                let memory = map(self.domain, range)?;
                let base = memory.as_ptr();
                self.mapped.push(memory);
                base
            }
        };
        Ok(base.wrapping_add(offer.start()))
    }

    /// The block of this process.
    #[inline(always)]
    pub(crate) fn own(&self) -> &Control {
        self.control(self.rank)
    }

    /// The blocks of all processes.
    pub(crate) fn controls(&self) -> &[Control] {
        &self.controls
    }

    /// The block of a process of this machine.
    #[inline(always)]
    pub(crate) fn control(&self, rank: usize) -> &Control {
        debug_assert!(
            self.domain.fabric().is_local(self.processes[rank] as usize),
            "rank {rank} of the window is on another machine"
        );
        &self.controls[rank]
    }

    /// Returns true if a process's memory that is not mapped can be reached only by its window thread.
    pub(crate) fn needs_thread(&self, rank: usize) -> bool {
        self.copy_partner(rank).is_none()
    }

    fn copy_partner(&self, rank: usize) -> Option<u32> {
        self.domain.fabric().copy_partner(self.processes[rank] as usize)
    }

    /// Starts the window thread of this process.
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if there is no thread to be had.
    pub(crate) fn start_thread(&self) -> Result<()> {
        let thread = WindowThread::start(self.own().clone())?;
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(())
    }

    fn has_threads(&self) -> bool {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Starts a thread for short runs in this process's private memory, if that is so long and has
    /// neighbours.
    pub(crate) fn start_helper(&self, len: u64) {
        let has_neighbours = self
            .processes
            .iter()
            .enumerate()
            .any(|(rank, process)| rank != self.rank && self.domain.fabric().is_local(*process as usize));
        if len < LARGE || !has_neighbours || self.has_threads() {
            return;
        }
        let mut helper = self.helper.lock().unwrap_or_else(PoisonError::into_inner);
        if helper.is_none() {
            *helper = Helper::start(self.own().clone());
        }
    }

    /// Ends the window thread, if there is one, and gives this process's memory back to the system.
    pub(crate) fn discard(&self) {
        if let Some(mut helper) = self.helper.lock().unwrap_or_else(PoisonError::into_inner).take() {
            helper.end(self.own());
        }
        if let Some(mut thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            thread.end(self.own());
        }
        self.own_memory.iter().for_each(SharedMemory::discard);
    }

    /// Makes a copy by the kernel. Returns false if the kernel refuses it.
    fn by_kernel(&self, rank: usize, copy: impl FnOnce(u32) -> io::Result<()>) -> bool {
        let (fabric, process) = (self.domain.fabric(), self.processes[rank] as usize);
        let Some(pid) = fabric.copy_partner(process) else { return false };
        copy(pid).inspect_err(|error| fabric.note_refusal(process, error)).is_ok()
    }

    /// Lets a process itself copy `len` bytes between `address` in its memory and `here`: by its window
    /// thread or, if the window has none, by any of its threads that makes progress.
    ///
    /// # Safety
    /// The same as for [`copy_by_thread`](Self::copy_by_thread).
    #[cold]
    unsafe fn leave_copy_to_owner(
        &self,
        rank: usize,
        direction: CopyDirection,
        address: u64,
        here: *mut u8,
        len: usize,
    ) -> io::Result<()> {
        if self.has_threads() || self.is_served(rank) {
            // SAFETY: the caller's promise.
            unsafe { self.copy_by_thread(rank, direction == CopyDirection::Write, address, here, len) };
            return Ok(());
        }
        // SAFETY: the caller's promise; the copy is over when `run` returns.
        let buffer = unsafe { Buffer::bytes(here, len) };
        let copy = ServedCopy { direction, peer: self.processes[rank] as usize, address, buffer };
        copy.run(self.domain, VNI).map_err(io::Error::other)
    }

    /// Runs `inside` while no other thread and no other process is at the desk of a process's window thread.
    fn at_desk(&self, rank: usize, inside: impl FnOnce()) {
        let (desk, take) = (self.geometry.desk(), Change::CompareAndSwap { expected: 0, value: 1 });
        self.wait(rank, desk, |value| value == 0 && self.change(rank, desk, take) == 0);
        inside();
        self.store(rank, desk, 0);
        self.announce(rank, desk);
    }

    /// Lets the thread of a process copy `len` bytes between `address` in its memory and `here`.
    ///
    /// # Safety
    /// The bytes at `address` belong to the target's part of the window; those at `here` are
    /// valid, for reads if `writes`.
    unsafe fn copy_by_thread(&self, rank: usize, writes: bool, address: u64, here: *mut u8, len: usize) {
        let desk = self.control(rank).desk();
        for at in (0..len).step_by(BOUNCE) {
            let part = BOUNCE.min(len - at);
            self.at_desk(rank, || {
                if writes {
                    // SAFETY: the caller vouches for `here`; the bounce buffer has room.
                    unsafe { desk.bounce.copy_from(here.wrapping_add(at), part) };
                }
                desk.request.store(if writes { WRITE } else { READ }, Ordering::Relaxed);
                desk.address.store(address.wrapping_add(at as u64), Ordering::Relaxed);
                desk.len.store(part as u64, Ordering::Relaxed);
                ask(self.domain, &desk);
                if !writes {
                    // SAFETY: the caller vouches for `here`; the bounce buffer has the data.
                    unsafe { here.wrapping_add(at).copy_from(desk.bounce, part) };
                }
                desk.state.store(IDLE, Ordering::SeqCst);
            });
        }
    }

    /// Returns true if a process has a thread that copies for others in this window.
    fn is_served(&self, rank: usize) -> bool {
        self.geometry.contents.private && self.control(rank).desk().serves.load(Ordering::SeqCst) != 0
    }

    /// Lets the thread of a process copy short runs to `here`, or from there. Returns false and does nothing
    /// if it has none, or if the kernel copies them as fast.
    ///
    /// # Safety
    /// That of [`copy_by_thread`](Self::copy_by_thread), for every run.
    unsafe fn copy_runs_by_thread(&self, rank: usize, writes: bool, runs: &[Piece], here: *mut u8) -> bool {
        if runs.len() < FEWEST || !run_list::are_short(runs) {
            return false;
        }
        if !self.is_served(rank) {
            return false;
        }
        let desk = self.control(rank).desk();
        let (mut rest, mut here) = (runs, here);
        while !rest.is_empty() {
            let (fit, len) = run_list::fitting(rest);
            self.at_desk(rank, || {
                // SAFETY: the buffer is this thread's, inside of the lock.
                let data = unsafe { run_list::write(desk.bounce, fit) };
                if writes {
                    // SAFETY: the caller vouches for `here`; the bounce buffer has room.
                    unsafe { data.copy_from_nonoverlapping(here, len) };
                }
                desk.request.store(if writes { WRITE_LIST } else { READ_LIST }, Ordering::Relaxed);
                desk.len.store(fit.len() as u64, Ordering::Relaxed);
                ask(self.domain, &desk);
                if !writes {
                    // SAFETY: the caller vouches for `here`; the bounce buffer has the data.
                    unsafe { here.copy_from_nonoverlapping(data, len) };
                }
                desk.state.store(IDLE, Ordering::SeqCst);
            });
            (rest, here) = (&rest[fit.len()..], here.wrapping_add(len));
        }
        true
    }
}

/// Every operation is done when its function returns, so there is nothing to complete.
impl Remote for Machine {
    #[inline(always)]
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn reaches(&self, rank: usize) -> bool {
        // Memory that is not mapped is copied by the kernel, or by its process.
        self.domain.fabric().is_local(self.processes[rank] as usize)
    }

    unsafe fn read(
        &self,
        rank: usize,
        address: u64,
        here: *mut u8,
        len: usize,
        _: &Answers,
    ) -> io::Result<()> {
        let read = self.by_kernel(rank, |pid| {
            // SAFETY: the caller vouches for `here`; the kernel checks the other side.
            unsafe { single_copy::read(pid, address, here, len) }
        });
        if read {
            return Ok(());
        }
        // SAFETY: by the caller's promise.
        unsafe { self.leave_copy_to_owner(rank, CopyDirection::Read, address, here, len) }
    }

    unsafe fn read_runs(
        &self,
        rank: usize,
        runs: &[Piece],
        here: *mut u8,
        reads: &Answers,
    ) -> io::Result<()> {
        let pid = self.copy_partner(rank).filter(|_| runs.len() > 1);
        if let Some(pid) = pid
            // SAFETY: by the caller's promise.
            && unsafe { runs::read_dense(pid, runs, here) }
        {
            return Ok(());
        }
        // SAFETY: by the caller's promise.
        if unsafe { self.copy_runs_by_thread(rank, false, runs, here) } {
            return Ok(());
        }
        if let Some(pid) = pid
            // SAFETY: by the caller's promise.
            && unsafe { vectored_copy::read(pid, runs, here) }.is_ok()
        {
            return Ok(());
        }
        let mut to = here;
        for run in runs {
            // SAFETY: by the caller's promise.
            unsafe { self.read(rank, run.iov_base.addr() as u64, to, run.iov_len, reads)? };
            to = to.wrapping_add(run.iov_len);
        }
        Ok(())
    }

    fn finish(&self, _: usize, _: &Answers) {}

    unsafe fn write(&self, rank: usize, address: u64, here: *const u8, len: usize) -> io::Result<()> {
        let written = self.by_kernel(rank, |pid| {
            // SAFETY: the caller vouches for `here`; the kernel checks the other side.
            unsafe { single_copy::write(pid, address, here.cast_mut(), len) }
        });
        if written {
            return Ok(());
        }
        // SAFETY: by the caller's promise; the call only reads at `here`.
        unsafe { self.leave_copy_to_owner(rank, CopyDirection::Write, address, here.cast_mut(), len) }
    }

    unsafe fn write_runs(&self, rank: usize, runs: &[Piece], here: *const u8) -> io::Result<()> {
        // SAFETY: by the caller's promise; the thread only reads here.
        if unsafe { self.copy_runs_by_thread(rank, true, runs, here.cast_mut()) } {
            return Ok(());
        }
        if let (Some(pid), [_, _, ..]) = (self.copy_partner(rank), runs)
            // SAFETY: by the caller's promise.
            && unsafe { vectored_copy::write(pid, runs, here) }.is_ok()
        {
            return Ok(());
        }
        let mut from = here;
        for run in runs {
            // SAFETY: by the caller's promise.
            unsafe { self.write(rank, run.iov_base.addr() as u64, from, run.iov_len)? };
            from = from.wrapping_add(run.iov_len);
        }
        Ok(())
    }

    #[inline(always)]
    fn load(&self, rank: usize, word: WordAt) -> u64 {
        self.control(rank).word(word).load(Ordering::SeqCst)
    }

    #[inline(always)]
    fn store(&self, rank: usize, word: WordAt, value: u64) {
        self.control(rank).word(word).store(value, Ordering::SeqCst);
    }

    #[inline(always)]
    fn change(&self, rank: usize, word: WordAt, change: Change) -> u64 {
        change_word(self.control(rank).word(word), change)
    }

    #[inline(always)]
    fn announce(&self, rank: usize, word: WordAt) {
        self.control(rank).event(word).wake(Scope::Machine);
    }

    #[inline(always)]
    fn wait(&self, rank: usize, word: WordAt, mut is_over: impl FnMut(u64) -> bool) {
        let control = self.control(rank);
        let cell = control.word(word);
        wait(self.domain, control.event(word), || is_over(cell.load(Ordering::SeqCst)));
    }

    #[inline(always)]
    fn wait_a_while(&self, rank: usize, word: WordAt, mut is_over: impl FnMut(u64) -> bool) -> bool {
        let control = self.control(rank);
        let cell = control.word(word);
        wait_a_while(self.domain, control.event(word), || is_over(cell.load(Ordering::SeqCst)))
    }

    fn wake(&self, rank: usize) {
        self.domain.fabric().wake(self.processes[rank] as usize);
    }

    #[inline(always)]
    fn complete(&self) {}

    #[inline(always)]
    fn complete_at(&self, _: usize) {}
}

/// Changes a word, and returns its value before.
#[inline(always)]
pub(crate) fn change_word(word: &AtomicU64, change: Change) -> u64 {
    match change {
        Change::Add(operand) => word.fetch_add(operand, Ordering::SeqCst),
        Change::Swap(value) => word.swap(value, Ordering::SeqCst),
        Change::CompareAndSwap { expected, value } => {
            match word.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(before) | Err(before) => before,
            }
        }
    }
}

fn map(domain: &Domain, range: SharedRange) -> Result<SharedMemory> {
    domain.fabric().map(range).map_err(|error| no_memory(range.len as usize, &error))
}

fn control_range(offer: &WindowOffer) -> Result<SharedRange> {
    let message = "a process of the window shares no memory with this one";
    offer.control().ok_or_else(|| Error::new(mpi::MPI_ERR_INTERN, message))
}

/// Hands a request to the thread, and waits until it is carried out.
fn ask(domain: &Domain, desk: &Desk<'_>) {
    desk.state.store(ASKED, Ordering::SeqCst);
    futex::wake(desk.state, futex::ALL, Scope::Machine);
    wait_until_done(domain, desk.state);
}

fn wait_until_done(domain: &Domain, state: &AtomicU32) {
    loop {
        for _ in 0..POLLS {
            if state.load(Ordering::SeqCst) == DONE {
                return;
            }
            spin_loop();
        }
        let woken = domain.calls().outside(|| futex::wait(state, ASKED, Some(LONGEST_PARK), Scope::Machine));
        if !woken && !domain.is_offloaded() {
            domain.poll_everywhere();
        }
    }
}
