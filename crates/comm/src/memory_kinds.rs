//! Which kinds of memory buffers may be in (MPI 5.0, section 11.4.3): what info objects say under
//! `mpi_memory_alloc_kinds`, and what becomes of `mpi_assert_memory_alloc_kinds`.
//!
//! Heddle takes memory of the system and memory that MPI has allocated in any way, whether asked for or not.

use heddle_bootstrap::builtin::env;
use std::sync::OnceLock;

/// The kinds; "mpi" has restrictors, each of which says by which calls the memory was allocated.
const SYSTEM: &str = "system";
const MPI: &str = "mpi";
const RESTRICTORS: [&str; 3] = ["alloc_mem", "win_allocate", "win_allocate_shared"];

/// The kinds in a list.
fn kinds(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|kind| !kind.is_empty())
}

fn is_supported(kind: &str) -> bool {
    let mut words = kind.split(':');
    match words.next() {
        Some(kind) if kind.eq_ignore_ascii_case(SYSTEM) => words.next().is_none(),
        Some(kind) if kind.eq_ignore_ascii_case(MPI) => {
            words.all(|word| RESTRICTORS.iter().any(|known| known.eq_ignore_ascii_case(word)))
        }
        _ => false,
    }
}

/// The supported kinds, and those among the requested ones that are the same in other words.
pub fn supported(requested: &str) -> String {
    let restricted = RESTRICTORS.iter().map(|restrictor| format!("{MPI}:{restrictor}"));
    let mut all: Vec<String> = [SYSTEM.to_owned(), MPI.to_owned()].into_iter().chain(restricted).collect();
    for kind in kinds(requested).filter(|kind| is_supported(kind)) {
        if !all.iter().any(|known| known.eq_ignore_ascii_case(kind)) {
            all.push(kind.to_owned());
        }
    }
    all.join(",")
}

/// Returns true if a program may promise that its buffers are in memory of these kinds. A promise with a kind
/// that is not supported is ignored.
pub fn can_be_asserted(list: &str) -> bool {
    kinds(list).all(is_supported)
}

/// The kinds that the command line asks for; `None` if it asks for none.
pub fn requested_at_start() -> Option<String> {
    // Read once: a program may change its environment while other threads ask.
    static REQUESTED: OnceLock<Option<String>> = OnceLock::new();
    let read = || Some(std::env::var_os(env::MEMORY_ALLOC_KINDS)?.to_string_lossy().into_owned());
    REQUESTED.get_or_init(read).clone()
}

/// The kinds of all objects of the world model.
pub fn of_world() -> String {
    supported(&requested_at_start().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "system,mpi,mpi:alloc_mem,mpi:win_allocate,mpi:win_allocate_shared";

    #[test]
    fn what_is_supported_is_there_and_nothing_else() {
        for requested in
            ["", "system", "cuda:device, MPI:alloc_mem", "system:fast", "mpi:", ",,", "mpi:alloc_mem:gpu"]
        {
            assert_eq!(supported(requested), ALL, "{requested:?}");
        }
        let both = "mpi:win_allocate:alloc_mem";
        assert_eq!(supported(&format!("level_zero , {both}")), format!("{ALL},{both}"));
    }

    #[test]
    fn what_can_be_asserted() {
        for list in ["", "system", "mpi", "System, mpi:win_allocate_shared"] {
            assert!(can_be_asserted(list), "{list:?}");
        }
        for list in ["rocm", "system,rocm", "mpi:host", "system mpi"] {
            assert!(!can_be_asserted(list), "{list:?}");
        }
    }
}
