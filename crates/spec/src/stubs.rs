//! Libraries for programs that were compiled for another ABI: under each name such a program asks for a
//! function by, a jump to the entry in Heddle's library; and the objects that it reads.

use crate::constant::ConstantKind;
use crate::constants;
use crate::foreign::{ForeignAbi, MPICH, OPENMPI, PairedSection};
use crate::function::{Function, ParamKind};
use crate::function_table::Functions;
use std::fmt::Write;

/// Where an entry comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryOrigin {
    /// Made from the table.
    Made,
    /// Handles are numbers there as well, so the conversion changes nothing.
    Same,
    /// A conversion between handles and integers, where predefined handles have integers of the ABI's own.
    Integer,
    /// Written by hand: those that take functions of the program.
    HandWritten,
}

/// Where the entry of a function comes from.
pub fn origin_of_entry(abi: ForeignAbi, function: &Function) -> EntryOrigin {
    // Datareps and events: their functions are called with what is the same in both ABIs.
    const CALLED_ALIKE: [&str; 4] = [
        "Register_datarep",
        "T_event_handle_free",
        "T_event_register_callback",
        "T_event_set_dropped_handler",
    ];
    let name = function.name.as_str();
    let is_callback = |kind: &ParamKind| matches!(kind, ParamKind::Callback(..));
    let takes_callbacks = function.params.iter().any(|param| is_callback(&param.kind));
    let is_number = name.ends_with("_toint") || name.ends_with("_fromint");
    if takes_callbacks && !CALLED_ALIKE.contains(&name) {
        EntryOrigin::HandWritten
    } else if abi == MPICH && is_number && !name.starts_with("File") {
        EntryOrigin::Same
    } else if abi == OPENMPI && is_number {
        EntryOrigin::Integer
    } else {
        EntryOrigin::Made
    }
}

/// Names of earlier standards, and of macros of the standard's ABI, with the functions that they stand for.
const OTHER_NAMES: [(&str, &str); 9] = [
    ("Address", "Get_address"),
    ("Errhandler_create", "Comm_create_errhandler"),
    ("Errhandler_get", "Comm_get_errhandler"),
    ("Errhandler_set", "Comm_set_errhandler"),
    ("File_c2f", "File_toint"),
    ("File_f2c", "File_fromint"),
    ("Type_hindexed", "Type_create_hindexed"),
    ("Type_hvector", "Type_create_hvector"),
    ("Type_struct", "Type_create_struct"),
];
/// Kinds of objects whose numbers are those of Fortran.
const KINDS: [&str; 10] =
    ["Comm", "Errhandler", "Group", "Info", "Message", "Op", "Request", "Session", "Type", "Win"];
/// Entries written by hand under names that the standard's ABI does not have.
const OTHERS: [&str; 3] = ["Type_extent", "Type_lb", "Type_ub"];
/// Copies of a status: it is the same in C and in both forms of Fortran.
const STATUSES: [&str; 6] =
    ["Status_c2f", "Status_f2c", "Status_c2f08", "Status_f082c", "Status_f2f08", "Status_f082f"];

/// The names under which an entry is found: `MPI_Send` and `PMPI_Send`.
fn both(name: &str) -> Vec<String> {
    vec![format!("MPI_{name}"), format!("PMPI_{name}")]
}

/// All names of functions, with the entries that they lead to, without `MPI_`.
fn names(functions: &Functions) -> Vec<(Vec<String>, String)> {
    let short = |name: String| name.trim_start_matches("MPI_").to_owned();
    let mut names: Vec<(Vec<String>, String)> = functions
        .all()
        .flat_map(|function| function.forms())
        .map(|(name, _)| (both(&short(name.clone())), short(name)))
        .collect();
    names.extend(OTHER_NAMES.iter().map(|(name, of)| (both(name), (*of).to_owned())));
    for kind in KINDS {
        names.push((both(&format!("{kind}_c2f")), format!("{kind}_toint")));
        names.push((both(&format!("{kind}_f2c")), format!("{kind}_fromint")));
    }
    names.extend(OTHERS.iter().map(|name| (both(name), (*name).to_owned())));
    names.extend(STATUSES.iter().map(|name| (both(name), "Status_copy".to_owned())));
    names
}

/// Functions of MPICH's that programs hand over.
const MPICH_CALLBACKS: [(&str, &str); 1] = [("MPIR_Dup_fn", "keep_value")];
/// Pointers in MPICH's library that programs read where the standard's ABI has a constant. So they may have
/// its value.
const MPICH_POINTERS: [(&str, usize); 3] = [
    ("MPI_UNWEIGHTED", constants::MPI_UNWEIGHTED),
    ("MPI_WEIGHTS_EMPTY", constants::MPI_WEIGHTS_EMPTY),
    ("MPI_T_PVAR_ALL_HANDLES", constants::MPI_T_PVAR_ALL_HANDLES),
];
/// Variables of Fortran that are known by their address, with their bytes: the common blocks of `mpif.h` and
/// of the module `mpi`, and what the module `mpi_f08` has. A program with one of these has the variable, too,
/// and the dynamic linker picks the program's; `libmpifort.so.12` takes the address from here.
const MPICH_OBJECTS: [(&str, usize); 16] = [
    ("mpipriv1_", 28),
    ("mpipriv2_", 24),
    ("mpiprivc_", 2),
    ("mpifcmb5_", 4),
    ("mpifcmb9_", 4),
    ("mpifcmba_", 4),
    ("MPIR_F08_MPI_BOTTOM", 4),
    ("MPIR_F08_MPI_IN_PLACE", 4),
    ("MPIR_F08_MPI_STATUS_IGNORE_OBJ", 20),
    ("MPIR_F08_MPI_STATUSES_IGNORE_OBJ", 20),
    ("__mpi_f08_link_constants_MOD_mpi_unweighted", 4),
    ("__mpi_f08_link_constants_MOD_mpi_weights_empty", 4),
    ("__mpi_f08_link_constants_MOD_mpi_buffer_automatic", 4),
    ("__mpi_f08_link_constants_MOD_mpi_errcodes_ignore", 4),
    ("__mpi_f08_link_constants_MOD_mpi_argv_null", 1),
    ("__mpi_f08_link_constants_MOD_mpi_argvs_null", 1),
];
/// Pointers of C to those that stand for no status.
const MPICH_NO_STATUSES: [(&str, &str); 4] = [
    ("MPI_F_STATUS_IGNORE", "mpipriv1_ + 8"),
    ("MPI_F_STATUSES_IGNORE", "mpipriv2_"),
    ("MPI_F08_STATUS_IGNORE", "MPIR_F08_MPI_STATUS_IGNORE_OBJ"),
    ("MPI_F08_STATUSES_IGNORE", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"),
];

/// Functions of Open MPI's that programs hand over.
const OPENMPI_CALLBACKS: [(&str, &str); 12] = [
    ("OMPI_C_MPI_DUP_FN", "keep_value"),
    ("OMPI_C_MPI_COMM_DUP_FN", "keep_value"),
    ("OMPI_C_MPI_TYPE_DUP_FN", "keep_value"),
    ("OMPI_C_MPI_WIN_DUP_FN", "keep_value"),
    ("OMPI_C_MPI_NULL_COPY_FN", "drop_value"),
    ("OMPI_C_MPI_COMM_NULL_COPY_FN", "drop_value"),
    ("OMPI_C_MPI_TYPE_NULL_COPY_FN", "drop_value"),
    ("OMPI_C_MPI_WIN_NULL_COPY_FN", "drop_value"),
    ("OMPI_C_MPI_NULL_DELETE_FN", "delete_nothing"),
    ("OMPI_C_MPI_COMM_NULL_DELETE_FN", "delete_nothing"),
    ("OMPI_C_MPI_TYPE_NULL_DELETE_FN", "delete_nothing"),
    ("OMPI_C_MPI_WIN_NULL_DELETE_FN", "delete_nothing"),
];
/// Types of Open MPI's that the standard does not have: no handle is the address of one. Then the common
/// blocks of Fortran, which programs have, too: the dynamic linker picks theirs.
const OPENMPI_OBJECTS: [(&str, usize); 14] = [
    ("ompi_mpi_ub", 8),
    ("ompi_mpi_lb", 8),
    ("ompi_mpi_2cplex", 8),
    ("ompi_mpi_2dblcplex", 8),
    ("ompi_mpi_ldblcplex", 8),
    ("mpi_fortran_argv_null_", 1),
    ("mpi_fortran_argvs_null_", 1),
    ("mpi_fortran_bottom_", 4),
    ("mpi_fortran_errcodes_ignore_", 4),
    ("mpi_fortran_in_place_", 4),
    ("mpi_fortran_status_ignore_", 24),
    ("mpi_fortran_statuses_ignore_", 24),
    ("mpi_fortran_unweighted_", 4),
    ("mpi_fortran_weights_empty_", 4),
];
/// Pointers of C to those that stand for no status.
const OPENMPI_NO_STATUSES: [(&str, &str); 4] = [
    ("MPI_F_STATUS_IGNORE", "mpi_fortran_status_ignore_"),
    ("MPI_F_STATUSES_IGNORE", "mpi_fortran_statuses_ignore_"),
    ("MPI_F08_STATUS_IGNORE", "mpi_fortran_status_ignore_"),
    ("MPI_F08_STATUSES_IGNORE", "mpi_fortran_statuses_ignore_"),
];

/// A library in assembly language.
#[derive(Debug, Default)]
struct Library {
    text: String,
}

impl Library {
    fn line(&mut self, line: impl std::fmt::Display) {
        _ = writeln!(self.text, "{line}");
    }

    /// A function that jumps to the entry.
    fn stub(&mut self, names: &[String], entry: &str) {
        self.line("    .p2align 4");
        for name in names {
            self.line(format_args!("    .weak {name}\n    .type {name}, %function\n{name}:"));
        }
        self.text += &jump(entry);
        for name in names {
            self.line(format_args!("    .size {name}, . - {name}"));
        }
    }

    fn object(&mut self, name: &str, size: usize, content: std::fmt::Arguments<'_>) {
        self.line("    .p2align 4");
        self.line(format_args!("    .globl {name}\n    .type {name}, %object\n    .size {name}, {size}"));
        self.line(format_args!("{name}: {content}"));
    }

    /// Objects that are the handles of an ABI, and a table of their addresses with the words that they stand
    /// for, which goes to an entry when the library is loaded. An executable may have its own copies of such
    /// objects: the loader then writes their addresses into the table.
    fn handles(&mut self, abi: ForeignAbi, sections: &[PairedSection]) {
        let is_handle = |section: &&PairedSection| matches!(section.kind, ConstantKind::Handle(_));
        let pairs = || sections.iter().filter(is_handle).flat_map(|section| &section.pairs);
        let symbols = || pairs().filter(|pair| pair.theirs == 0 && pair.text != "0");
        for pair in symbols() {
            self.object(&pair.text, 8, format_args!(".quad {}", pair.ours));
        }
        self.line("heddle_handles:");
        for pair in symbols() {
            self.line(format_args!("    .quad {}, {}", pair.text, pair.ours));
        }
        self.line("    .text\n    .p2align 4\nheddle_loaded:");
        self.text += &call_with_table("heddle_handles", symbols().count(), &abi.entry("loaded"));
        self.line("    .section .init_array, \"aw\"\n    .p2align 3\n    .quad heddle_loaded");
    }
}

/// A library whose functions are jumps to the entries for programs of this ABI, in assembly language.
///
/// # Errors
///
/// Says what is wrong with the table of its constants.
pub fn library(abi: ForeignAbi, functions: &Functions) -> Result<String, String> {
    let mut library = Library::default();
    library.line("    .section .note.GNU-stack,\"\",%progbits\n    .text");
    for (names, entry) in names(functions) {
        library.stub(&names, &abi.entry(&entry));
    }
    let (callbacks, pointers, objects, no_statuses) = match abi {
        OPENMPI => (&OPENMPI_CALLBACKS[..], &[][..], &OPENMPI_OBJECTS[..], OPENMPI_NO_STATUSES),
        _ => (&MPICH_CALLBACKS[..], &MPICH_POINTERS[..], &MPICH_OBJECTS[..], MPICH_NO_STATUSES),
    };
    for (name, entry) in callbacks {
        library.stub(&[(*name).into()], &abi.entry(entry));
    }
    library.line("    .bss");
    for (name, size) in objects {
        library.object(name, *size, format_args!(".zero {size}"));
    }
    library.line("    .section .data.rel.ro, \"aw\"");
    for (name, value) in pointers {
        library.object(name, 8, format_args!(".quad {value}"));
    }
    for (name, variable) in no_statuses {
        library.object(name, 8, format_args!(".quad {variable}"));
    }
    if abi == OPENMPI {
        library.handles(abi, &abi.constants()?);
    }
    Ok(library.text)
}

/// A jump to a function of another library.
#[cfg(target_arch = "x86_64")]
fn jump(to: &str) -> String {
    format!("    jmp *{to}@GOTPCREL(%rip)\n")
}

/// A call of a function of another library with the address and the length of a table.
#[cfg(target_arch = "x86_64")]
fn call_with_table(table: &str, length: usize, function: &str) -> String {
    format!("    lea {table}(%rip), %rdi\n    mov ${length}, %esi\n{}", jump(function))
}

#[cfg(target_arch = "aarch64")]
fn call_with_table(table: &str, length: usize, function: &str) -> String {
    format!("    adrp x0, {table}\n    add x0, x0, :lo12:{table}\n    mov x1, {length}\n{}", jump(function))
}

#[cfg(target_arch = "aarch64")]
fn jump(to: &str) -> String {
    format!("    adrp x16, :got:{to}\n    ldr x16, [x16, :got_lo12:{to}]\n    br x16\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn functions() -> Functions {
        Functions::parse(crate::FUNCTIONS_TABLE).expect("valid")
    }

    #[test]
    fn every_function_has_one_jump_and_its_profiling_name() {
        for abi in [MPICH, OPENMPI] {
            let text = library(abi, &functions()).expect("its table is valid");
            let named = |line: &'_ str| line.starts_with(|first: char| first.is_ascii_alphabetic());
            let labels: Vec<&str> = text
                .lines()
                .filter(|line| named(line))
                .filter_map(|line| Some(line.split_once(':')?.0))
                .collect();
            let different: BTreeSet<&&str> = labels.iter().collect();
            assert_eq!(different.len(), labels.len(), "a label stands twice");
            for (name, _) in functions().all().flat_map(|function| function.forms()) {
                assert!(different.contains(&name.as_str()), "{name} is missing");
                assert!(different.contains(&format!("P{name}").as_str()), "P{name} is missing");
            }
            let structures = text.matches(&abi.entry("Type_create_struct")).count();
            assert!(structures > 1, "MPI_Type_struct leads there");
        }
    }

    #[test]
    fn handles_of_open_mpi_are_objects() {
        let text = library(OPENMPI, &functions()).expect("its table is valid");
        assert!(text.contains("ompi_mpi_comm_world: .quad 257\n"), "{text}");
        assert!(text.contains("    .quad ompi_mpi_comm_world, 257\n"), "{text}");
    }

    #[test]
    fn functions_of_the_program_are_taken_by_hand() {
        let functions = functions();
        let by_hand = |function: &&Function| origin_of_entry(MPICH, function) == EntryOrigin::HandWritten;
        let names: Vec<&str> = functions.all().filter(by_hand).map(|function| &*function.name).collect();
        assert_eq!(names.len(), 10, "{names:?}");
    }
}
