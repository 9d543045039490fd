//! Dependences within a block: which address and which way out depends on which load.
//!
//! Values are not followed through memory. So one that was put aside depends on nothing when it is fetched
//! back.

use heddle_lab::thread::{Flow, Registers, Sources};
use iced_x86::{FlowControl, Instruction, InstructionInfo, Mnemonic, OpAccess, OpKind, Register};

/// General registers come first.
const GENERAL: usize = 16;
const FLAGS: usize = GENERAL;
/// Vectors after the flags; the last ones share a bit.
const VECTORS: usize = FLAGS + 1;
const ALL: usize = Registers::BITS as usize;

/// Loads of a block that can be told apart.
const LOADS: u32 = u64::BITS;

/// The sources of each register after the instructions so far.
#[derive(Debug)]
pub(crate) struct Dataflow {
    registers: [Sources; ALL],
    loads: u32,
    branch: Sources,
}

impl Dataflow {
    pub(crate) fn new() -> Self {
        let registers = std::array::from_fn(|number| Sources { registers: 1 << number, loads: 0 });
        Self { registers, loads: 0, branch: Sources::default() }
    }

    /// The next instruction: what its address is made of, and its bit if it loads.
    pub(crate) fn follow(&mut self, instruction: &Instruction, info: &InstructionInfo) -> (Sources, u64) {
        let address = self.address(info);
        let load =
            if info.used_memory().iter().any(|memory| reads(memory.access())) { self.load() } else { 0 };
        let mut result = address;
        result.loads |= load;
        if !is_zero(instruction) {
            for used in info.used_registers().iter().filter(|used| reads(used.access())) {
                if let Some(number) = number_of(used.register()) {
                    result = result.and(self.registers[number]);
                }
            }
            if instruction.rflags_read() != 0 {
                result = result.and(self.registers[FLAGS]);
            }
        }
        match instruction.flow_control() {
            FlowControl::ConditionalBranch | FlowControl::IndirectBranch | FlowControl::IndirectCall => {
                self.branch = result;
            }
            _ => {}
        }
        for used in info.used_registers().iter().filter(|used| writes(used.access())) {
            let Some(number) = number_of(used.register()) else { continue };
            if goes_on_by_itself(instruction, used.register()) {
                continue;
            }
            let is_whole = used.access() == OpAccess::Write && used.register().size() >= 4;
            self.registers[number] = if is_whole { result } else { result.and(self.registers[number]) };
        }
        if instruction.rflags_modified() != 0 {
            self.registers[FLAGS] = result;
        }
        (address, load)
    }

    /// What the block leaves.
    pub(crate) fn flow(&self) -> Flow {
        let changed = |(number, sources): (usize, &Sources)| {
            let own = Sources { registers: 1 << number, loads: 0 };
            (*sources != own).then_some((1 << number, *sources))
        };
        Flow { changed: self.registers.iter().enumerate().filter_map(changed).collect(), branch: self.branch }
    }

    fn load(&mut self) -> u64 {
        let number = self.loads;
        self.loads += 1;
        if number < LOADS { 1 << number } else { 0 }
    }

    fn address(&self, info: &InstructionInfo) -> Sources {
        let registers = info.used_memory().iter().flat_map(|memory| [memory.base(), memory.index()]);
        registers
            .filter_map(number_of)
            .map(|number| self.registers[number])
            .fold(Sources::default(), Sources::and)
    }
}

/// The stack pointer and the registers of a string instruction do not wait for what is loaded there.
fn goes_on_by_itself(instruction: &Instruction, register: Register) -> bool {
    match register.full_register() {
        Register::RSP => instruction.is_stack_instruction() && instruction.mnemonic() != Mnemonic::Leave,
        Register::RSI | Register::RDI | Register::RCX => instruction.is_string_instruction(),
        _ => false,
    }
}

/// An instruction whose result is zero whatever its registers are.
fn is_zero(instruction: &Instruction) -> bool {
    let clears =
        matches!(instruction.mnemonic(), Mnemonic::Xor | Mnemonic::Pxor | Mnemonic::Xorps | Mnemonic::Sub);
    clears
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register()
}

fn number_of(register: Register) -> Option<usize> {
    let full = register.full_register();
    if full.is_gpr64() {
        return Some(full.number());
    }
    full.is_vector_register().then(|| (VECTORS + full.number()).min(ALL - 1))
}

pub(crate) fn reads(access: OpAccess) -> bool {
    use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite)
}

pub(crate) fn writes(access: OpAccess) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory};

    const RAX: u32 = 1 << 0;
    const RCX: u32 = 1 << 1;
    const RBX: u32 = 1 << 3;
    const RSP: u32 = 1 << 4;
    const RSI: u32 = 1 << 6;
    const RDI: u32 = 1 << 7;

    /// The address and the load of each instruction, and what the block leaves.
    fn block(code: &[u8]) -> (Vec<(Sources, u64)>, Flow) {
        let mut dataflow = Dataflow::new();
        let mut information = InstructionInfoFactory::new();
        let decoder = Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE);
        let places = decoder.into_iter().map(|at| dataflow.follow(&at, information.info(&at))).collect();
        (places, dataflow.flow())
    }

    fn made_of(flow: &Flow, register: u32) -> Sources {
        let changed = flow.changed.iter().find(|(changed, _)| *changed == register);
        changed.map_or(Sources { registers: register, loads: 0 }, |(_, sources)| *sources)
    }

    #[test]
    fn a_chain_of_loads_depends_on_the_first() {
        // mov rax,[rdi]; mov rcx,[rax+8]; mov rbx,[rsi]
        let (places, flow) = block(&[0x48, 0x8b, 0x07, 0x48, 0x8b, 0x48, 0x08, 0x48, 0x8b, 0x1e]);
        assert_eq!(places[0], (Sources { registers: RDI, loads: 0 }, 1));
        assert_eq!(places[1], (Sources { registers: RDI, loads: 1 }, 2));
        assert_eq!(places[2], (Sources { registers: RSI, loads: 0 }, 4));
        assert_eq!(made_of(&flow, RCX), Sources { registers: RDI, loads: 3 });
        assert_eq!(made_of(&flow, RBX).loads, 4);
    }

    #[test]
    fn a_branch_depends_on_what_was_compared() {
        // cmp dword [rdi],0; mov rax,rcx; jne +0
        let (_, flow) = block(&[0x83, 0x3f, 0x00, 0x48, 0x89, 0xc8, 0x75, 0x00]);
        assert_eq!(flow.branch, Sources { registers: RDI, loads: 1 });
        assert_eq!(made_of(&flow, RAX), Sources { registers: RCX, loads: 0 });
        // test eax,eax; jne +0
        let (_, flow) = block(&[0x85, 0xc0, 0x75, 0x00]);
        assert_eq!(flow.branch, Sources { registers: RAX, loads: 0 });
        // ret
        assert_eq!(block(&[0xc3]).1.branch, Sources::default(), "a return is foreseen");
        // jmp [rax]
        assert_eq!(block(&[0xff, 0x20]).1.branch, Sources { registers: RAX, loads: 1 });
    }

    #[test]
    fn a_register_that_is_cleared_depends_on_nothing() {
        // mov eax,[rdi]; xor eax,eax
        let (_, flow) = block(&[0x8b, 0x07, 0x31, 0xc0]);
        assert_eq!(made_of(&flow, RAX), Sources::default());
        // mov rax,[rdi]; mov al,1
        let (_, flow) = block(&[0x48, 0x8b, 0x07, 0xb0, 0x01]);
        assert_eq!(made_of(&flow, RAX).loads, 1, "the rest of it stays");
    }

    #[test]
    fn the_stack_goes_on_by_itself() {
        // pop rax; pop rcx
        let (places, flow) = block(&[0x58, 0x59]);
        assert_eq!(places[1], (Sources { registers: RSP, loads: 0 }, 2));
        assert_eq!(made_of(&flow, RAX), Sources { registers: RSP, loads: 1 });
        assert_eq!(made_of(&flow, RSP), Sources { registers: RSP, loads: 0 });
        // rep movsb
        let (_, flow) = block(&[0xf3, 0xa4]);
        assert_eq!(made_of(&flow, RSI), Sources { registers: RSI, loads: 0 });
    }

    #[test]
    fn a_load_beyond_those_that_can_be_told_apart_has_no_bit() {
        let code = [0x48, 0x8b, 0x07].repeat(65);
        let places = block(&code).0;
        assert_eq!((places[63].1, places[64].1), (1 << 63, 0));
    }
}
