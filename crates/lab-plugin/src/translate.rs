//! Blocks of instructions: what each costs, and what is called for it.
//!
//! Registers can be read when a block begins. The address that an instruction will use is known then, if nothing before it in the
//! block changes the registers that it is made of.

use crate::callbacks;
use crate::qemu::{self, NO_REGISTERS, PluginId, READS_AND_WRITES, TranslationBlock};
use heddle_lab::thread::Site;
use heddle_platform::atomic::AtomicBool;
use iced_x86::{Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register};
use std::ffi::c_void;
use std::ptr;

/// A block.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) at: u64,
    pub(crate) instructions: u64,
    /// Picoseconds.
    pub(crate) cost: u64,
    /// Whether one of its stores has met another thread.
    pub(crate) meets: &'static AtomicBool,
    /// Its stores whose address is known when it begins.
    pub(crate) stores: Vec<&'static Place>,
}

/// An instruction that uses memory.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) site: Site,
    pub(crate) address: Option<Address>,
}

/// How its address is made of the registers when the block begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    base: Option<usize>,
    index: Option<(usize, u64)>,
    displacement: u64,
}

impl Address {
    /// The address with these registers.
    ///
    /// # Safety
    ///
    /// `registers` are the sixteen of the thread that runs.
    #[inline]
    pub(crate) unsafe fn with(&self, registers: *const u64) -> u64 {
        // SAFETY: the caller's promise; numbers are below sixteen.
        let read = |number: usize| unsafe { registers.add(number).read() };
        let base = self.base.map_or(0, read);
        let index = self.index.map_or(0, |(number, scale)| read(number).wrapping_mul(scale));
        base.wrapping_add(index).wrapping_add(self.displacement)
    }
}

/// qemu has translated a block: for each instruction it is told what to call.
///
/// # Safety
///
/// For qemu.
pub(crate) unsafe extern "C" fn on_translation(_: PluginId, block: *mut TranslationBlock) {
    let qemu = qemu::interface().expect("it was there when the plugin was loaded");
    // SAFETY: the caller's block; indices are below the number of its instructions.
    let handles: Vec<_> =
        unsafe { (0..(qemu.tb_n_insns)(block)).map(|index| (qemu.tb_get_insn)(block, index)).collect() };
    let meets: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    // SAFETY: the process was made when the plugin was loaded. Costs do not change.
    let costs = unsafe { crate::guest::lab().costs };
    let mut translated =
        Block { at: 0, instructions: handles.len() as u64, cost: 0, meets, stores: Vec::new() };
    let mut information = InstructionInfoFactory::new();
    let mut changed = Changed::default();
    let mut was_timestamp = false;
    for handle in handles {
        // SAFETY: the instruction is the block's.
        let (at, bytes) = unsafe {
            (
                (qemu.insn_vaddr)(handle),
                std::slice::from_raw_parts((qemu.insn_data)(handle), (qemu.insn_size)(handle)),
            )
        };
        if translated.at == 0 {
            translated.at = at;
        }
        let instruction = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE).decode();
        let site = Site { at, meets, is_met: AtomicBool::new(false) };
        let place = Box::leak(Box::new(Place { site, address: changed.address(&instruction) }));
        let info = information.info(&instruction);
        if was_timestamp {
            // SAFETY: a callback of the right type.
            unsafe {
                (qemu.register_vcpu_insn_exec_cb)(
                    handle,
                    callbacks::AFTER_TIMESTAMP,
                    NO_REGISTERS,
                    ptr::null_mut(),
                )
            };
        }
        was_timestamp = matches!(instruction.mnemonic(), Mnemonic::Rdtsc | Mnemonic::Rdtscp);
        translated.cost += costs.instruction;
        let data = ptr::from_mut(place).cast::<c_void>();
        let watch = |callback| {
            // SAFETY: a callback of the right type, with a place that stays.
            unsafe { (qemu.register_vcpu_mem_cb)(handle, callback, NO_REGISTERS, READS_AND_WRITES, data) };
        };
        match instruction.mnemonic() {
            Mnemonic::Pause => translated.cost += costs.pause,
            Mnemonic::Rdtsc | Mnemonic::Rdtscp => {
                translated.cost += costs.timestamp;
                // SAFETY: as above.
                unsafe {
                    (qemu.register_vcpu_insn_exec_cb)(
                        handle,
                        callbacks::BEFORE_TIMESTAMP,
                        NO_REGISTERS,
                        ptr::null_mut(),
                    )
                };
            }
            _ if is_locked(&instruction) => {
                // SAFETY: as above.
                unsafe {
                    (qemu.register_vcpu_insn_exec_cb)(handle, callbacks::before_locked, NO_REGISTERS, data)
                };
                watch(callbacks::on_locked);
            }
            _ => {
                watch(callbacks::on_memory);
                let stores = info.used_memory().iter().any(|memory| writes(memory.access()));
                if stores && place.address.is_some() {
                    translated.stores.push(place);
                }
            }
        }
        changed.note(info);
    }
    let translated = Box::leak(Box::new(translated));
    // SAFETY: a callback of the right type, with a block that stays.
    unsafe {
        (qemu.register_vcpu_tb_exec_cb)(
            block,
            callbacks::ON_BLOCK,
            NO_REGISTERS,
            ptr::from_mut(translated).cast(),
        )
    };
}

fn is_locked(instruction: &Instruction) -> bool {
    let exchanges = instruction.mnemonic() == Mnemonic::Xchg
        && (0..2).any(|operand| instruction.op_kind(operand) == iced_x86::OpKind::Memory);
    instruction.has_lock_prefix() || exchanges || matches!(instruction.mnemonic(), Mnemonic::Mfence)
}

fn writes(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::ReadWrite | OpAccess::CondWrite | OpAccess::ReadCondWrite)
}

/// The registers that a block has changed so far.
#[derive(Debug, Default)]
struct Changed {
    registers: u16,
}

impl Changed {
    fn note(&mut self, info: &iced_x86::InstructionInfo) {
        for used in info.used_registers() {
            if writes(used.access())
                && let Some(number) = number_of(used.register())
            {
                self.registers |= 1 << number;
            }
        }
    }

    /// How the address of the instruction's memory is made, if no register in it has changed.
    fn address(&self, instruction: &Instruction) -> Option<Address> {
        let has_memory = (0..instruction.op_count())
            .any(|operand| instruction.op_kind(operand) == iced_x86::OpKind::Memory);
        let is_plain = matches!(
            instruction.segment_prefix(),
            Register::None | Register::DS | Register::SS | Register::ES | Register::CS
        );
        if !has_memory || !is_plain {
            return None;
        }
        let mut address =
            Address { base: None, index: None, displacement: instruction.memory_displacement64() };
        match instruction.memory_base() {
            Register::None | Register::RIP => {}
            base => address.base = Some(self.unchanged(base)?),
        }
        match instruction.memory_index() {
            Register::None => {}
            index => {
                address.index = Some((self.unchanged(index)?, u64::from(instruction.memory_index_scale())))
            }
        }
        Some(address)
    }

    fn unchanged(&self, register: Register) -> Option<usize> {
        let number = number_of(register).filter(|_| register.is_gpr64())?;
        (self.registers >> number & 1 == 0).then_some(number)
    }
}

/// The number of a general register, by which qemu has it.
fn number_of(register: Register) -> Option<usize> {
    let full = register.full_register();
    full.is_gpr64().then(|| full.number())
}
