//! Puts functions in the place of functions of the C library, for the calls that libfabric makes, and for no
//! others.
//!
//! A shared object calls functions of other objects through a table of addresses, which the dynamic linker
//! fills (the slots of its relocations). To write an address there replaces the function for the calls of
//! that object. `dl_iterate_phdr` shows the objects that are loaded, and their `PT_DYNAMIC` the tables
//! (System V ABI, chapter 5). The linker may have made the table read-only once it was full (`PT_GNU_RELRO`).

use std::ffi::{CStr, c_int, c_void};

/// The kinds of relocations whose slot holds the address of a function, on this architecture.
#[cfg(target_arch = "x86_64")]
const ADDRESSES: &[u64] = &[1, 6, 7];
#[cfg(target_arch = "aarch64")]
const ADDRESSES: &[u64] = &[257, 1025, 1026];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ADDRESSES: &[u64] = &[];

/// How the names of files end in which libfabric keeps providers apart.
const PROVIDER: &[u8] = b"-fi.so";

const STRINGS: i64 = 5;
const SYMBOLS: i64 = 6;
const RELOCATIONS: i64 = 7;
const RELOCATIONS_BYTES: i64 = 8;
const CALLS: i64 = 23;
const CALLS_BYTES: i64 = 2;

/// `Elf64_Dyn`.
#[repr(C)]
struct Entry {
    tag: i64,
    value: u64,
}

/// `Elf64_Rela`.
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

/// A function, and what takes its place.
pub(super) struct Replacement {
    pub(super) name: &'static CStr,
    pub(super) by: *const c_void,
}

struct Search<'a> {
    /// An address in libfabric.
    inside: usize,
    replacements: &'a [Replacement],
    /// How often each function was replaced.
    found: Vec<usize>,
}

/// Replaces functions for the calls of the object with this address in it, and of libfabric's providers that
/// are loaded. Returns true if each function was replaced.
pub(super) fn replace(inside: usize, replacements: &[Replacement]) -> bool {
    let mut search = Search { inside, replacements, found: vec![0; replacements.len()] };
    // SAFETY: the search lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found.iter().all(|times| *times != 0)
}

/// Looks at an object.
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the linker's description of an object, for the time of the call.
    let info = unsafe { &*info };
    // SAFETY: what `replace` has passed on, which nobody else uses meanwhile.
    let search = unsafe { &mut *search.cast::<Search>() };
    // SAFETY: the object's program headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let object = Object { base: info.dlpi_addr as usize, headers };
    let is_provider = !info.dlpi_name.is_null() && {
        // SAFETY: the name of the object's file.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) };
        name.to_bytes().ends_with(PROVIDER)
    };
    if is_provider || object.range(libc::PT_LOAD, search.inside).is_some() {
        object.replace(search);
    }
    0
}

/// An object that is loaded.
struct Object<'a> {
    base: usize,
    headers: &'a [libc::Elf64_Phdr],
}

impl Object<'_> {
    /// The part of this kind that has an address in it.
    fn range(&self, kind: u32, address: usize) -> Option<&libc::Elf64_Phdr> {
        self.headers.iter().find(|part| {
            let start = self.base.wrapping_add(part.p_vaddr as usize);
            part.p_type == kind && (start..start + part.p_memsz as usize).contains(&address)
        })
    }

    /// The values in the object's dynamic section.
    fn value(&self, tag: i64) -> Option<usize> {
        let part = self.headers.iter().find(|part| part.p_type == libc::PT_DYNAMIC)?;
        let mut entry = self.base.wrapping_add(part.p_vaddr as usize) as *const Entry;
        loop {
            // SAFETY: an entry of the section, which one with the tag 0 ends.
            let Entry { tag: this, value } = unsafe { entry.read() };
            match this {
                0 => return None,
                _ if this == tag => return Some(value as usize),
                _ => entry = entry.wrapping_add(1),
            }
        }
    }

    /// An address in the dynamic section. glibc has added the base to it; other linkers leave that.
    fn address(&self, tag: i64) -> Option<usize> {
        let value = self.value(tag)?;
        Some(if value < self.base { self.base + value } else { value })
    }

    fn replace(&self, search: &mut Search) {
        let (Some(strings), Some(symbols)) = (self.address(STRINGS), self.address(SYMBOLS)) else { return };
        for (table, bytes) in [(RELOCATIONS, RELOCATIONS_BYTES), (CALLS, CALLS_BYTES)] {
            let (Some(table), Some(bytes)) = (self.address(table), self.value(bytes)) else { continue };
            let len = bytes / size_of::<Relocation>();
            // SAFETY: a table of the object with that many entries.
            let relocations = unsafe { std::slice::from_raw_parts(table as *const Relocation, len) };
            for relocation in relocations {
                let (symbol, kind) = ((relocation.info >> 32) as usize, relocation.info & 0xffff_ffff);
                if symbol == 0 || !ADDRESSES.contains(&kind) {
                    continue;
                }
                let symbol = (symbols as *const libc::Elf64_Sym).wrapping_add(symbol);
                // SAFETY: a symbol of the object that a relocation names.
                let name = unsafe { (*symbol).st_name };
                // SAFETY: its name, in the object's strings.
                let name = unsafe { CStr::from_ptr((strings + name as usize) as *const _) };
                let Some(at) = search.replacements.iter().position(|other| other.name == name) else {
                    continue;
                };
                let slot = self.base.wrapping_add(relocation.offset as usize);
                search.found[at] += usize::from(self.write(slot, search.replacements[at].by));
            }
        }
    }

    /// Writes an address into a slot. Returns false if the system does not allow it.
    fn write(&self, slot: usize, address: *const c_void) -> bool {
        // SAFETY: the call touches no memory.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let start = (slot & !(page - 1)) as *mut c_void;
        let allow = |access| {
            // SAFETY: a page of the object's data, which stays readable.
            unsafe { libc::mprotect(start, page, access) == 0 }
        };
        let is_read_only = self.range(libc::PT_GNU_RELRO, slot).is_some();
        if is_read_only && !allow(libc::PROT_READ | libc::PROT_WRITE) {
            return false;
        }
        // SAFETY: the slot of a relocation, which holds the address of a function with the same signature.
        unsafe { (slot as *mut *const c_void).write_volatile(address) };
        // There is nothing to be done about a page that stays writable.
        _ = is_read_only && allow(libc::PROT_READ);
        true
    }
}
