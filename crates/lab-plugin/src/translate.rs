//! Blocks of instructions: what each costs, and what is called for it.
//!
//! Registers can be read when a block begins. The address that an instruction will use is known then, if
//! nothing before it in the block changes the registers that it is made of.

use crate::blocks::{Address, Block, Place};
use crate::callbacks;
use crate::dataflow::{self, Dataflow};
use crate::guest;
use crate::qemu::{BlockHandle, PluginId, TranslationBlock};
use crate::report;
use heddle_lab::thread::{Flow, Site};
use heddle_platform::atomic::{AtomicBool, AtomicU32, AtomicU64};
use iced_x86::{Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, Register};

/// qemu has translated a block: for each instruction it is told what to call.
///
/// # Safety
///
/// For qemu.
pub(crate) unsafe extern "C" fn on_translation(_: PluginId, block: *mut TranslationBlock) {
    // SAFETY: the caller's promise.
    let handle = unsafe { BlockHandle::new(block) };
    let meets: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    // SAFETY: the process was made when the plugin was loaded; costs do not change.
    let (_, lab) = unsafe { guest::process() };
    let costs = lab.costs;
    let mut block = Block {
        at: 0,
        instructions: 0,
        cost: 0,
        meets,
        stores: Vec::new(),
        flow: Flow::default(),
        next: AtomicU64::new(0),
        time: AtomicU64::new(0),
        interval: AtomicU32::new(0),
    };
    let mut information = InstructionInfoFactory::new();
    let mut changed = Changed::default();
    let mut dataflow = Dataflow::new();
    let mut was_timestamp = false;
    for handle in handle.instructions() {
        let at = handle.address();
        if block.instructions == 0 {
            block.at = at;
        }
        block.instructions += 1;
        let instruction = Decoder::with_ip(64, handle.bytes(), at, DecoderOptions::NONE).decode();
        block.cost += cost_of(&instruction, costs.instruction);
        let info = information.info(&instruction);
        let (address, load) = dataflow.follow(&instruction, info);
        let site = Site { address, load, ..Site::new(at, meets, false) };
        let place: &'static Place =
            Box::leak(Box::new(Place { site, address: changed.address(&instruction) }));
        if was_timestamp {
            handle.before(callbacks::AFTER_TIMESTAMP, place);
        }
        was_timestamp = matches!(instruction.mnemonic(), Mnemonic::Rdtsc | Mnemonic::Rdtscp);
        match instruction.mnemonic() {
            Mnemonic::Pause => block.cost += costs.pause,
            Mnemonic::Rdtsc | Mnemonic::Rdtscp => {
                block.cost += costs.timestamp;
                handle.before(callbacks::BEFORE_TIMESTAMP, place);
            }
            _ if is_locked(&instruction) => {
                handle.before(callbacks::before_locked, place);
                handle.on_memory(callbacks::on_locked, place);
            }
            _ => {
                handle.on_memory(callbacks::on_memory, place);
                let stores = info.used_memory().iter().any(|memory| dataflow::writes(memory.access()));
                if stores && place.address.is_some() {
                    block.stores.push(place);
                }
            }
        }
        changed.note(info);
    }
    block.flow = dataflow.flow();
    let block: &'static Block = Box::leak(Box::new(block));
    report::know(block);
    handle.on_execution(callbacks::ON_BLOCK, block);
}

/// The cost of an instruction where others cost `usual`. qemu counts each turn of a repeated one; a core
/// copies a line in the time of four instructions.
fn cost_of(instruction: &Instruction, usual: u64) -> u64 {
    if instruction.has_rep_prefix() && instruction.is_string_instruction() {
        usual * instruction.memory_size().size() as u64 / 16
    } else {
        usual
    }
}

fn is_locked(instruction: &Instruction) -> bool {
    let exchanges = instruction.mnemonic() == Mnemonic::Xchg
        && (0..2).any(|operand| instruction.op_kind(operand) == iced_x86::OpKind::Memory);
    instruction.has_lock_prefix() || exchanges || matches!(instruction.mnemonic(), Mnemonic::Mfence)
}

/// The registers that a block has changed so far.
#[derive(Debug, Default)]
struct Changed {
    registers: u16,
}

impl Changed {
    fn note(&mut self, info: &iced_x86::InstructionInfo) {
        for used in info.used_registers() {
            if dataflow::writes(used.access())
                && let Some(number) = number_of(used.register())
            {
                self.registers |= 1 << number;
            }
        }
    }

    /// The address of the instruction's memory as registers, if none of them has changed.
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
