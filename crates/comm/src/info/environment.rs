//! The contents of `MPI_INFO_ENV`: how this process was started (MPI 5.0, section 11.2.1).

use super::{Entries, LONGEST_VALUE};
use crate::{errhandler, memory_kinds};
use heddle_bootstrap::{builtin, pmi, pmix};
use heddle_message::domain;

/// The entries of `MPI_INFO_ENV`: what was asked for when the process was started, the same before and after
/// initialisation, except that before it `maxprocs` and `soft` are absent under PMIx, of which no variable
/// holds the number of ranks. There is no `thread_level`, because `mpiexec` has no option for it.
pub fn environment() -> Entries {
    let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    entries_with(arguments.collect())
}

/// The same, with the program's name and arguments if they are given.
pub fn environment_with(arguments: &[String]) -> Entries {
    if arguments.is_empty() { environment() } else { entries_with(arguments.to_vec()) }
}

fn entries_with(arguments: Vec<String>) -> Entries {
    let mut entries = Entries::new();
    let mut add = |key: &str, value: Option<String>| {
        if let Some(mut value) = value {
            value.truncate(value.floor_char_boundary(LONGEST_VALUE));
            entries.push((key.to_owned(), value));
        }
    };
    let mut arguments = arguments.into_iter();
    add("command", arguments.next());
    let arguments: Vec<String> = arguments.collect();
    add("argv", (!arguments.is_empty()).then(|| arguments.join(" ")));
    let size = match domain::ever() {
        Some(domain) => Some(domain.size().to_string()),
        None => {
            let given = [builtin::env::SIZE, pmi::SIZE].into_iter().find_map(|name| std::env::var(name).ok());
            given.or_else(|| std::env::var_os(pmix::NAMESPACE).is_none().then(|| "1".to_owned()))
        }
    };
    add("maxprocs", size.clone());
    add("soft", size);
    add("host", std::fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned()));
    add("arch", Some(std::env::consts::ARCH.to_owned()));
    // As the command line asks for them, supported or not.
    add("mpi_memory_alloc_kinds", memory_kinds::requested_at_start());
    add("mpi_initial_errhandler", errhandler::initial_name().map(str::to_owned));
    add("wdir", std::env::current_dir().ok().map(|path| path.to_string_lossy().into_owned()));
    entries
}
