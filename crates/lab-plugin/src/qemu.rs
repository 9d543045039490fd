//! The part of qemu's plugin interface (version 1, qemu 6 to 8) that the lab uses. It is looked up while
//! running: the same library is preloaded where there is no qemu.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::OnceLock;

/// A plugin's number.
pub(crate) type PluginId = u64;

/// A block of instructions under translation, as qemu has it.
#[repr(C)]
pub(crate) struct TranslationBlock {
    opaque: [u8; 0],
}

/// An instruction of it.
#[repr(C)]
pub(crate) struct TranslatedInstruction {
    opaque: [u8; 0],
}

pub(crate) type OnExecution = unsafe extern "C" fn(u32, *mut c_void);
pub(crate) type OnMemory = unsafe extern "C" fn(u32, u32, u64, *mut c_void);
pub(crate) type OnTranslation = unsafe extern "C" fn(PluginId, *mut TranslationBlock);
pub(crate) type OnCall = unsafe extern "C" fn(PluginId, u32, i64, u64, u64, u64, u64, u64, u64, u64, u64);
pub(crate) type OnReturn = unsafe extern "C" fn(PluginId, u32, i64, i64);

/// Callbacks read no registers by qemu's means.
const NO_REGISTERS: i32 = 0;
/// One callback for both: of two, qemu 7.2 calls the second twice.
const READS_AND_WRITES: i32 = 3;

macro_rules! interface {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// qemu's functions.
        pub(crate) struct Interface {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Interface {
            fn look_up() -> Result<Self, String> {
                Ok(Self {
                    $($name: {
                        let name = concat!("qemu_plugin_", stringify!($name), "\0");
                        let name = CStr::from_bytes_with_nul(name.as_bytes()).expect("it ends with a zero");
                        // SAFETY: a lookup by name.
                        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
                        if found.is_null() {
                            return Err(format!("this qemu has no {}", name.to_string_lossy()));
                        }
                        // SAFETY: qemu's header declares it so.
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found) }
                    },)*
                })
            }
        }
    };
}

interface! {
    register_vcpu_tb_trans_cb: fn(PluginId, OnTranslation);
    register_vcpu_tb_exec_cb: fn(*mut TranslationBlock, OnExecution, i32, *mut c_void);
    register_vcpu_insn_exec_cb: fn(*mut TranslatedInstruction, OnExecution, i32, *mut c_void);
    register_vcpu_mem_cb: fn(*mut TranslatedInstruction, OnMemory, i32, i32, *mut c_void);
    register_vcpu_syscall_cb: fn(PluginId, OnCall);
    register_vcpu_syscall_ret_cb: fn(PluginId, OnReturn);
    tb_n_insns: fn(*const TranslationBlock) -> usize;
    tb_get_insn: fn(*const TranslationBlock, usize) -> *mut TranslatedInstruction;
    insn_data: fn(*const TranslatedInstruction) -> *const u8;
    insn_vaddr: fn(*const TranslatedInstruction) -> u64;
    insn_size: fn(*const TranslatedInstruction) -> usize;
}

/// qemu's functions.
///
/// # Errors
///
/// LineNames the first that this qemu lacks.
pub(crate) fn interface() -> Result<&'static Interface, String> {
    static INTERFACE: OnceLock<Result<Interface, String>> = OnceLock::new();
    INTERFACE.get_or_init(Interface::look_up).as_ref().map_err(Clone::clone)
}

/// A block under translation.
#[derive(Clone, Copy)]
pub(crate) struct BlockHandle {
    qemu: &'static Interface,
    block: *mut TranslationBlock,
}

impl BlockHandle {
    /// # Safety
    ///
    /// qemu translates the block, and has not yet ended.
    pub(crate) unsafe fn new(block: *mut TranslationBlock) -> Self {
        Self { qemu: interface().expect("it was there when the plugin was loaded"), block }
    }

    pub(crate) fn instructions(self) -> impl Iterator<Item = InstructionHandle> {
        // SAFETY: the block is under translation.
        let count = unsafe { (self.qemu.tb_n_insns)(self.block) };
        (0..count).map(move |index| {
            // SAFETY: the index is below the number of its instructions.
            let instruction = unsafe { (self.qemu.tb_get_insn)(self.block, index) };
            InstructionHandle { qemu: self.qemu, instruction }
        })
    }

    /// `callback` gets `data` whenever the block begins.
    pub(crate) fn on_execution<T>(self, callback: OnExecution, data: &'static T) {
        let data = ptr::from_ref(data).cast_mut().cast();
        // SAFETY: the block is under translation; the data stays.
        unsafe { (self.qemu.register_vcpu_tb_exec_cb)(self.block, callback, NO_REGISTERS, data) };
    }
}

/// An instruction under translation.
#[derive(Clone, Copy)]
pub(crate) struct InstructionHandle {
    qemu: &'static Interface,
    instruction: *mut TranslatedInstruction,
}

impl InstructionHandle {
    pub(crate) fn address(self) -> u64 {
        // SAFETY: the instruction is under translation.
        unsafe { (self.qemu.insn_vaddr)(self.instruction) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the instruction is under translation.
        let first = unsafe { (self.qemu.insn_data)(self.instruction) };
        // SAFETY: as above.
        let length = unsafe { (self.qemu.insn_size)(self.instruction) };
        // SAFETY: qemu says so, and keeps them until the block is translated.
        unsafe { std::slice::from_raw_parts(first, length) }
    }

    /// `callback` gets `data` before the instruction.
    pub(crate) fn before<T>(self, callback: OnExecution, data: &'static T) {
        let data = ptr::from_ref(data).cast_mut().cast();
        // SAFETY: the instruction is under translation; the data stays.
        unsafe { (self.qemu.register_vcpu_insn_exec_cb)(self.instruction, callback, NO_REGISTERS, data) };
    }

    /// `callback` gets `data` after each of its loads and stores.
    pub(crate) fn on_memory<T>(self, callback: OnMemory, data: &'static T) {
        let data = ptr::from_ref(data).cast_mut().cast();
        // SAFETY: the instruction is under translation; the data stays.
        unsafe {
            (self.qemu.register_vcpu_mem_cb)(self.instruction, callback, NO_REGISTERS, READS_AND_WRITES, data)
        };
    }
}
