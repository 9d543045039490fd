//! Eight bytes of thread-local storage, reached without a call.
//!
//! In a shared library `thread_local!` calls `__tls_get_addr` on every access, which costs more than an
//! uncontended lock. The initial-exec model reads the slot's offset from the thread pointer out of a word
//! that the loader filled in; it takes its bytes from a small surplus that the loader keeps for libraries
//! opened late, hence only eight of them. In a program the linker turns the look-up into a constant.

/// Declares a module of that name with a slot: `get() -> *mut ()`, null in a thread that has not called
/// `set(*mut ())`. The symbol must be the program's only one of that name.
#[macro_export]
macro_rules! thread_slot {
    ($module:ident, $symbol:literal) => {
        mod $module {
            #[cfg(all(not(loom), not(miri), target_os = "linux", target_arch = "x86_64"))]
            mod imp {
                use std::arch::{asm, global_asm};

                global_asm!(
                    concat!(".pushsection .tbss.", $symbol, ",\"awT\",@nobits"),
                    ".balign 8",
                    concat!(".globl ", $symbol),
                    concat!(".hidden ", $symbol),
                    concat!(".type ", $symbol, ",@object"),
                    concat!(".size ", $symbol, ",8"),
                    concat!($symbol, ":"),
                    ".zero 8",
                    ".popsection",
                );

                #[inline(always)]
                pub(crate) fn get() -> *mut () {
                    let value;
                    // SAFETY: reads eight bytes of this thread's static block, which the definition above
                    // reserves.
                    unsafe {
                        asm!(
                            concat!("mov {value}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                            "mov {value}, qword ptr fs:[{value}]",
                            value = out(reg) value,
                            options(pure, readonly, nostack, preserves_flags)
                        );
                    };
                    value
                }

                #[inline]
                pub(crate) fn set(value: *mut ()) {
                    // SAFETY: writes the same eight bytes, which only these two functions touch.
                    unsafe {
                        asm!(
                            concat!("mov {offset}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                            "mov qword ptr fs:[{offset}], {value}",
                            offset = out(reg) _,
                            value = in(reg) value,
                            options(nostack, preserves_flags)
                        );
                    };
                }
            }

            #[cfg(all(not(loom), not(all(not(miri), target_os = "linux", target_arch = "x86_64"))))]
            mod imp {
                use std::cell::Cell;
                use std::ptr;

                thread_local! {
                    static SLOT: Cell<*mut ()> = const { Cell::new(ptr::null_mut()) };
                }

                #[inline(always)]
                pub(crate) fn get() -> *mut () {
                    SLOT.get()
                }

                #[inline]
                pub(crate) fn set(value: *mut ()) {
                    SLOT.set(value);
                }
            }

            #[cfg(loom)]
            mod imp {
                use std::cell::Cell;
                use std::ptr;

                $crate::thread_locals! {
                    static SLOT: Cell<*mut ()> = Cell::new(ptr::null_mut());
                }

                // A thread that ends loses loom's slot before its destructors run.
                pub(crate) fn get() -> *mut () {
                    SLOT.try_with(Cell::get).unwrap_or(ptr::null_mut())
                }

                pub(crate) fn set(value: *mut ()) {
                    let _ = SLOT.try_with(|slot| slot.set(value));
                }
            }

            pub(crate) use imp::{get, set};
        }
    };
}
