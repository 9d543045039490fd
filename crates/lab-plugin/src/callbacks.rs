//! The callbacks: qemu calls them while a program runs.
//!
//! qemu 7.2 lets no plugin read registers. But its code has their address in `rbp` while it calls, and
//! they are in memory when a block begins; `rax` and `rdx` can be replaced there.
//! [`system_calls`](crate::system_calls) checks at the first call that this is so.

use crate::blocks::{Block, Place};
use crate::guest::{self, Running};
use crate::qemu::OnExecution;
use crate::report;
use heddle_lab::shared::Access;
use heddle_platform::atomic::Ordering::Relaxed;
use std::arch::naked_asm;
use std::ffi::c_void;

const RAX: usize = 0;
const RDX: usize = 2;

/// Passes `rbp` on as the third argument.
macro_rules! with_registers {
    ($shim:ident, $callback:ident) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $shim(_: u32, _: *mut c_void) {
            naked_asm!("mov rdx, rbp", "jmp {callback}", callback = sym $callback)
        }
    };
}

with_registers!(block_shim, on_block);
with_registers!(timestamp_shim, after_timestamp);

pub(crate) const ON_BLOCK: OnExecution = block_shim;
pub(crate) const AFTER_TIMESTAMP: OnExecution = timestamp_shim;
pub(crate) const BEFORE_TIMESTAMP: OnExecution = before_timestamp;

unsafe extern "C" fn on_block(vcpu: u32, block: *const Block, registers: *mut u64) {
    if !guest::is_current(vcpu) {
        guest::arrive(vcpu);
    }
    // SAFETY: only the holder of the token gets here: others wait inside of callbacks.
    let mut running = unsafe { guest::running() };
    // SAFETY: blocks stay.
    let block: &'static Block = unsafe { &*block };
    let guest = &mut *running.guest;
    guest.registers = registers;
    if guest.answer.is_some() | guest.is_timestamp_due {
        // SAFETY: a block begins, so the registers are in memory.
        unsafe { replace_results(&mut running) };
    }
    let guest = &mut *running.guest;
    if guest.thread.is_ahead() {
        guest.thread.pause_if_ahead(running.lab);
        guest::back(guest);
    }
    let guest = &mut *running.guest;
    let before = std::mem::replace(&mut guest.block, block);
    let is_expected = before.next.load(Relaxed) == block.at;
    if guest.thread.has_loads() {
        guest.thread.go_on_to_block(&before.flow, is_expected);
    }
    if !is_expected {
        before.next.store(block.at, Relaxed);
    }
    if running.lab.counting != 0 {
        report::count(&mut running, block);
    }
    if block.meets.load(Relaxed) {
        before_stores(&mut running, block);
    }
    let thread = &mut running.guest.thread;
    thread.instructions += block.instructions;
    thread.clock += block.cost;
}

#[cold]
#[inline(never)]
fn before_stores(running: &mut Running<'_>, block: &Block) {
    let Running { guest, process, lab } = running;
    for place in block.stores.iter().filter(|place| place.site.is_met.load(Relaxed)) {
        if let Some(address) = place.address {
            // SAFETY: the block begins, its registers are in memory.
            let address = unsafe { address.with(guest.registers) };
            guest.thread.before_store(lab, &mut process.names, address, &place.site);
            guest::back(guest);
        }
    }
}

/// In what qemu says of an access: whether it is a store.
const IS_STORE: u32 = 2 << 16;

pub(crate) unsafe extern "C" fn on_memory(_: u32, what: u32, address: u64, place: *mut c_void) {
    // SAFETY: only the holder of the token gets here.
    let Running { guest, process, lab } = unsafe { guest::running() };
    // SAFETY: places stay.
    let place = unsafe { &*place.cast::<Place>() };
    let access = if what & IS_STORE == 0 { Access::Load } else { Access::Store };
    guest.thread.access(lab, &mut process.names, address, access, &place.site);
}

pub(crate) unsafe extern "C" fn on_locked(_: u32, _: u32, address: u64, place: *mut c_void) {
    // SAFETY: only the holder of the token gets here.
    let Running { guest, process, lab } = unsafe { guest::running() };
    // SAFETY: places stay.
    let place = unsafe { &*place.cast::<Place>() };
    if place.address.is_none() {
        guest.used[place.site.at as usize >> 2 & 63] = (place.site.at, address);
    }
    guest.thread.access(lab, &mut process.names, address, Access::Locked, &place.site);
}

pub(crate) unsafe extern "C" fn before_locked(_: u32, place: *mut c_void) {
    // SAFETY: only the holder of the token gets here.
    let Running { guest, process, lab } = unsafe { guest::running() };
    // SAFETY: places stay.
    let place = unsafe { &*place.cast::<Place>() };
    let known = place.address.map(|address| {
        // SAFETY: none of these registers has changed since the block began.
        unsafe { address.with(guest.registers) }
    });
    let used = guest.used[place.site.at as usize >> 2 & 63];
    let address = known.or((used.0 == place.site.at).then_some(used.1));
    guest.thread.before_locked(lab, &mut process.names, address, &place.site);
    guest::back(guest);
}

unsafe extern "C" fn before_timestamp(_: u32, _: *mut c_void) {
    // SAFETY: only the holder of the token gets here.
    let running = unsafe { guest::running() };
    running.guest.is_timestamp_due = true;
}

unsafe extern "C" fn after_timestamp(_: u32, _: *mut c_void, registers: *mut u64) {
    // SAFETY: only the holder of the token gets here.
    let mut running = unsafe { guest::running() };
    running.guest.registers = registers;
    if running.guest.is_timestamp_due {
        // SAFETY: qemu read the counter by a call, after which it has no register in a copy.
        unsafe { replace_results(&mut running) };
    }
}

/// # Safety
///
/// The thread's registers are in memory, and stay there until the callback has returned.
#[cold]
unsafe fn replace_results(running: &mut Running<'_>) {
    let Running { guest, lab, .. } = running;
    let registers = guest.registers;
    let put = |number: usize, value: u64| {
        // SAFETY: there are sixteen.
        let register = unsafe { registers.add(number) };
        // SAFETY: the caller's promise.
        unsafe { register.write(value) };
    };
    if guest.is_timestamp_due {
        guest.is_timestamp_due = false;
        let ticks = u128::from(guest.thread.tell(lab)) * u128::from(lab.costs.ticks) / 1_000_000;
        put(RAX, ticks as u64 & 0xffff_ffff);
        put(RDX, (ticks >> 32) as u64 & 0xffff_ffff);
    }
    if let Some(answer) = guest.answer.take() {
        put(RAX, answer.cast_unsigned());
    }
}
