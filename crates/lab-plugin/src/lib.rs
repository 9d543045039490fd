//! One library, three places:
//!
//! - a plugin of `qemu-x86_64`: it gives each thread of a program a clock and a core of the
//!   [machine](heddle_lab);
//! - preloaded into the program itself, where it makes a shared mapping before the first thread (`share`);
//! - preloaded into launchers, whose ranks it starts on the machine (`redirect`).
//!
//! | module | what it has |
//! |---|---|
//! | `qemu` | qemu's interface |
//! | `guest` | the threads of this process, and which of them runs |
//! | `blocks` | blocks of instructions |
//! | `translate` | what is called for a block |
//! | `dataflow` | what addresses and branches depend on |
//! | `callbacks` | what is called: blocks, memory, locked instructions, the time-stamp counter |
//! | `names` | shared memory has the same names in all processes |
//! | `system_calls` | system calls in virtual time |
//! | `filter` | calls that must not reach the host |
//! | `report` | where the time went, for `heddle lab --hot` |
//! | `share` | the library's first deeds |
//! | `redirect` | ranks are started on the machine |
//! | `sockets` | messages between ranks and launchers leave at once |

mod blocks;
mod callbacks;
mod dataflow;
mod filter;
mod guest;
mod names;
mod qemu;
mod redirect;
mod report;
mod share;
mod sockets;
mod system_calls;
mod translate;

use heddle_lab::shared::LabMemory;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::OpenOptions;

/// qemu asks which interface the plugin is for.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = 1;

/// qemu calls this once, before the program runs: 0 if the plugin works.
///
/// # Safety
///
/// For qemu: `arguments` are `count` strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    _: *const c_void,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    let arguments = (0..count.unsigned_abs() as usize).map(|index| {
        // SAFETY: the caller's promise: there are `count`.
        let place = unsafe { arguments.add(index) };
        // SAFETY: as above.
        let argument = unsafe { *place };
        // SAFETY: as above: each is a string.
        let text = unsafe { CStr::from_ptr(argument) };
        text.to_string_lossy().into_owned()
    });
    match install(id, arguments) {
        Ok(()) => 0,
        Err(why) => {
            eprintln!("heddle lab: {why}");
            1
        }
    }
}

fn install(id: u64, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let mut lab = None;
    let mut seed = 0;
    let mut folder = None;
    for argument in arguments {
        match argument.split_once('=') {
            Some(("lab", path)) => lab = Some(path.to_owned()),
            Some(("seed", number)) => {
                seed = number.parse().map_err(|_| format!("seed={number} is not a number"))?
            }
            Some(("folder", path)) => folder = Some(path.into()),
            _ => {
                let known = "lab=FILE, seed=NUMBER and folder=FOLDER";
                return Err(format!("the plugin has no argument {argument}: it has {known}"));
            }
        }
    }
    let path = lab.ok_or("the plugin needs lab=FILE, which `heddle lab` makes")?;
    let file =
        OpenOptions::new().read(true).write(true).open(&path).map_err(|why| format!("{path}: {why}"))?;
    let mapping = LabMemory::new(Some(&file)).map_err(|why| format!("{path}: {why}"))?;
    // SAFETY: the supervisor has made the lab before it started a program; its mark is never written again.
    if !unsafe { (*mapping.lab()).is_whole() } {
        return Err(format!("{path} is not a machine of this version of the lab"));
    }
    let qemu = qemu::interface()?;
    share::die_with_parent();
    guest::begin(mapping, seed, folder);
    // SAFETY: the id is qemu's, and the callback has the type that its header says.
    unsafe { (qemu.register_vcpu_tb_trans_cb)(id, translate::on_translation) };
    // SAFETY: as above.
    unsafe { (qemu.register_vcpu_syscall_cb)(id, system_calls::on_call) };
    // SAFETY: as above.
    unsafe { (qemu.register_vcpu_syscall_ret_cb)(id, system_calls::on_return) };
    Ok(())
}
