//! The machine as `hwloc` 2 describes it, through the few functions and fields that are needed.
//!
//! The library is opened at run time. Its objects' layout is part of the ABI that the number in its name (15)
//! stands for, and is the same in all versions 2.x; the tests read synthetic topologies through it.

use crate::build::{self, Groups};
use crate::{Error, NodeKind, Topology};
use libloading::{Library, Symbol};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};
use std::ptr::{self, NonNull};

const LIBRARY: &str = "libhwloc.so.15";
const MAJOR: u32 = 2;

/// `HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING`, since version 2.5: otherwise the calling thread, which may be
/// one of the program's in the middle of its work, visits every core and waits for each that is busy.
const KEEP_BINDING: c_ulong = 1 << 6;
/// `HWLOC_TOPOLOGY_FLAG_NO_DISTANCES`, `.._NO_MEMATTRS` and `.._NO_CPUKINDS`, since version 2.8: not used
/// here.
const ONLY_THE_TREE: c_ulong = 1 << 7 | 1 << 8 | 1 << 9;

/// `hwloc_topology_t`.
type Handle = *mut c_void;

/// The first fields of `struct hwloc_obj`.
#[repr(C)]
struct Object {
    kind: c_int,
    subtype: *mut c_char,
    os_index: c_uint,
    name: *mut c_char,
    total_memory: u64,
    attributes: *mut c_void,
    depth: c_int,
    logical_index: c_uint,
    next_cousin: *mut Object,
    previous_cousin: *mut Object,
    parent: *mut Object,
    sibling_rank: c_uint,
    next_sibling: *mut Object,
    previous_sibling: *mut Object,
    arity: c_uint,
    children: *mut *mut Object,
    first_child: *mut Object,
    last_child: *mut Object,
    symmetric_subtree: c_int,
    memory_arity: c_uint,
    memory_first_child: *mut Object,
    io_arity: c_uint,
    io_first_child: *mut Object,
    misc_arity: c_uint,
    misc_first_child: *mut Object,
    cpu_set: *const c_void,
}

/// `hwloc_obj_type_t`.
fn type_number(kind: NodeKind) -> c_int {
    match kind {
        NodeKind::Machine => 0,
        NodeKind::Package => 1,
        NodeKind::Core => 2,
        NodeKind::HardwareThread => 3,
        NodeKind::L3 => 6,
        NodeKind::Numa => 13,
    }
}

impl Topology {
    /// The machine that this process may use, from `hwloc`.
    ///
    /// # Errors
    ///
    /// [`Error::NoHwloc`] where the library is missing, [`Error::HwlocVersion`] and [`Error::Hwloc`] where it
    /// is of no use.
    pub fn of_machine() -> Result<Self, Error> {
        of_machine()
    }
}

fn of_machine() -> Result<Topology, Error> {
    read(None)
}

/// Reads this machine, or the one that `synthetic` describes in `hwloc`'s syntax.
fn read(synthetic: Option<&CStr>) -> Result<Topology, Error> {
    let hwloc = Hwloc::open()?;
    let loaded = Loaded::new(&hwloc, synthetic)?;
    let mut threads: BTreeMap<usize, Groups> = BTreeMap::new();
    for object in loaded.objects(NodeKind::HardwareThread)? {
        // SAFETY: an object of a loaded topology, which lives as long as `loaded`.
        let number = unsafe { object.as_ref() }.os_index;
        threads.insert(number as usize, Groups::default());
    }
    for kind in Groups::KINDS {
        for (number, object) in loaded.objects(kind)?.into_iter().enumerate() {
            for thread in loaded.hardware_threads(object)? {
                // Of two memories next to the same threads (fast and large) the first counts.
                if let Some(groups) = threads.get_mut(&thread)
                    && groups.get(kind).is_none()
                {
                    groups.set(kind, number);
                }
            }
        }
    }
    if threads.is_empty() {
        return Err(Error::Hwloc { call: "hwloc_get_obj_by_depth: no hardware threads" });
    }
    Ok(build::tree(threads))
}

/// The library, open.
struct Hwloc(Library);

impl Hwloc {
    fn open() -> Result<Self, Error> {
        // SAFETY: loading hwloc only initialises hwloc, which may happen at any time.
        let library = unsafe { Library::new(LIBRARY) }.map_err(Error::NoHwloc)?;
        let hwloc = Self(library);
        // SAFETY: the type is the one of the function of that name.
        let version =
            unsafe { hwloc.function::<unsafe extern "C" fn() -> c_uint>(c"hwloc_get_api_version") }?;
        // SAFETY: takes nothing.
        let version = unsafe { version() };
        if version >> 16 == MAJOR { Ok(hwloc) } else { Err(Error::HwlocVersion(version)) }
    }

    /// # Safety
    ///
    /// `F` is the type of the function `name`.
    unsafe fn function<F>(&self, name: &CStr) -> Result<Symbol<'_, F>, Error> {
        // SAFETY: the caller promises that `F` is the type of the function `name`.
        unsafe { self.0.get(name.to_bytes_with_nul()) }.map_err(Error::NoHwloc)
    }
}

/// A topology that `hwloc` has made.
struct Loaded<'a> {
    hwloc: &'a Hwloc,
    handle: Handle,
    destroy: Symbol<'a, unsafe extern "C" fn(Handle)>,
}

impl<'a> Loaded<'a> {
    fn new(hwloc: &'a Hwloc, synthetic: Option<&CStr>) -> Result<Self, Error> {
        type Init = unsafe extern "C" fn(*mut Handle) -> c_int;
        type Synthetic = unsafe extern "C" fn(Handle, *const c_char) -> c_int;
        type SetFlags = unsafe extern "C" fn(Handle, c_ulong) -> c_int;
        type Load = unsafe extern "C" fn(Handle) -> c_int;
        // SAFETY: its type.
        let init = unsafe { hwloc.function::<Init>(c"hwloc_topology_init") }?;
        // SAFETY: its type.
        let set_synthetic = unsafe { hwloc.function::<Synthetic>(c"hwloc_topology_set_synthetic") }?;
        // SAFETY: its type.
        let set_flags = unsafe { hwloc.function::<SetFlags>(c"hwloc_topology_set_flags") }?;
        // SAFETY: its type.
        let load = unsafe { hwloc.function::<Load>(c"hwloc_topology_load") }?;
        // SAFETY: its type.
        let destroy = unsafe { hwloc.function(c"hwloc_topology_destroy") }?;
        let mut handle = ptr::null_mut();
        // SAFETY: writes one handle.
        check(unsafe { init(&raw mut handle) }, "hwloc_topology_init")?;
        let loaded = Self { hwloc, handle, destroy };
        if let Some(words) = synthetic {
            // SAFETY: a handle that is not loaded yet, and a string.
            check(unsafe { set_synthetic(handle, words.as_ptr()) }, "hwloc_topology_set_synthetic")?;
        }
        // An older version refuses flags that it does not know, and then goes on without them.
        let _ = [KEEP_BINDING | ONLY_THE_TREE, KEEP_BINDING].into_iter().any(|flags| {
            // SAFETY: a handle that is not loaded yet.
            unsafe { set_flags(handle, flags) == 0 }
        });
        // SAFETY: a handle that is not loaded yet.
        check(unsafe { load(handle) }, "hwloc_topology_load")?;
        Ok(loaded)
    }

    /// All objects of a kind, in `hwloc`'s order; none if it does not know the kind on this machine.
    fn objects(&self, kind: NodeKind) -> Result<Vec<NonNull<Object>>, Error> {
        type TypeDepth = unsafe extern "C" fn(Handle, c_int) -> c_int;
        type Count = unsafe extern "C" fn(Handle, c_int) -> c_uint;
        type Get = unsafe extern "C" fn(Handle, c_int, c_uint) -> *mut Object;
        // SAFETY: its type.
        let type_depth = unsafe { self.hwloc.function::<TypeDepth>(c"hwloc_get_type_depth") }?;
        // SAFETY: its type.
        let count = unsafe { self.hwloc.function::<Count>(c"hwloc_get_nbobjs_by_depth") }?;
        // SAFETY: its type.
        let get = unsafe { self.hwloc.function::<Get>(c"hwloc_get_obj_by_depth") }?;
        // SAFETY: a loaded topology.
        let depth = unsafe { type_depth(self.handle, type_number(kind)) };
        // A depth that means "no such level" has no objects.
        // SAFETY: a loaded topology; any depth may be asked about.
        let count = unsafe { count(self.handle, depth) };
        Ok((0..count)
            .filter_map(|index| {
                // SAFETY: a loaded topology; null for an object that is not there.
                NonNull::new(unsafe { get(self.handle, depth, index) })
            })
            .collect())
    }

    /// The numbers of the hardware threads of an object of this topology.
    fn hardware_threads(&self, object: NonNull<Object>) -> Result<Vec<usize>, Error> {
        type NextBit = unsafe extern "C" fn(*const c_void, c_int) -> c_int;
        // SAFETY: its type.
        let next = unsafe { self.hwloc.function::<NextBit>(c"hwloc_bitmap_next") }?;
        // SAFETY: an object of this topology, alive.
        let set = unsafe { object.as_ref() }.cpu_set;
        let after = |bit| {
            // SAFETY: a set of this topology (checked not to be null); -1 comes before its first member.
            let bit = unsafe { next(set, bit) };
            (bit >= 0).then_some(bit)
        };
        let first = if set.is_null() { None } else { after(-1) };
        let bits = std::iter::successors(first, |bit| after(*bit));
        Ok(bits.filter_map(|bit| usize::try_from(bit).ok()).collect())
    }
}

impl Drop for Loaded<'_> {
    fn drop(&mut self) {
        // SAFETY: initialised, destroyed once.
        unsafe { (self.destroy)(self.handle) };
    }
}

fn check(status: c_int, call: &'static str) -> Result<(), Error> {
    if status == 0 { Ok(()) } else { Err(Error::Hwloc { call }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `hwloc` is not needed to build Heddle; where it is missing these tests have nothing to say.
    fn synthetic(words: &CStr) -> Option<Topology> {
        match read(Some(words)) {
            Err(Error::NoHwloc(error)) => {
                eprintln!("skipped: no hwloc ({error})");
                None
            }
            other => Some(other.expect("a synthetic topology")),
        }
    }

    #[test]
    fn synthetic_topologies_are_read() {
        for (words, text) in [
            (c"pack:2 numa:1 l3:4 core:8 pu:2", "2 packages x 4 l3 x 8 cores x 2 threads"),
            (c"pack:2 numa:2 l3:2 core:2 pu:1", "2 packages x 2 numa x 2 l3 x 2 threads"),
            (c"pack:1 numa:1 l3:1 core:4 pu:1", "4 threads"),
            (c"numa:3 core:2 pu:2", "3 numa x 2 cores x 2 threads"),
            // A cache around NUMA nodes.
            (c"pack:2 l3:1 numa:2 core:4 pu:1", "2 packages x 2 numa x 4 threads"),
        ] {
            if let Some(topology) = synthetic(words) {
                let written: Topology = text.parse().expect(text);
                assert!(topology == written, "{words:?} is {topology} and not {written}");
            }
        }
    }

    /// The system may number the hardware threads of a core far apart.
    #[test]
    fn numbers_are_the_systems() {
        let Some(topology) = synthetic(c"pack:1 core:2 pu:2(indexes=0,2,1,3)") else { return };
        let core = |number| topology.leaf(number).and_then(|leaf| leaf.parent());
        assert_eq!(core(0), core(2));
        assert_eq!(core(1), core(3));
        assert_ne!(core(0), core(1));
    }

    #[test]
    fn words_that_hwloc_refuses_are_an_error() {
        if synthetic(c"pack:1 core:1 pu:1").is_some() {
            let error = read(Some(c"nonsense")).expect_err("refused");
            assert!(error.to_string().contains("set_synthetic"), "{error}");
        }
    }

    #[test]
    fn this_machine_has_the_hardware_thread_we_run_on() {
        match of_machine() {
            Err(Error::NoHwloc(error)) => eprintln!("skipped: no hwloc ({error})"),
            other => {
                let machine = other.expect("this machine");
                assert!(machine.hardware_threads().count() > 0);
                println!("{machine}");
            }
        }
    }
}
