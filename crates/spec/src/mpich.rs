//! The entries of programs that were compiled for MPICH's ABI, by the names that such programs have for them.

use crate::constants;
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
    /// Written by hand: those that take functions of the program, and one whose text is longer here.
    HandWritten,
}

/// Where the entry of a function comes from.
pub fn origin_of_entry(function: &Function) -> EntryOrigin {
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
    if name == "Get_processor_name" || takes_callbacks && !CALLED_ALIKE.contains(&name) {
        EntryOrigin::HandWritten
    } else if (name.ends_with("_toint") || name.ends_with("_fromint")) && !name.starts_with("File") {
        EntryOrigin::Same
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

/// All names of functions, without `MPI_`, and the entries that they lead to, without their prefix.
fn names(functions: &Functions) -> Vec<(String, String)> {
    let short = |name: String| name.trim_start_matches("MPI_").to_owned();
    let mut names: Vec<(String, String)> = functions
        .all()
        .flat_map(|function| function.forms())
        .map(|(name, _)| (short(name.clone()), short(name)))
        .collect();
    names.extend(OTHER_NAMES.iter().map(|(name, of)| ((*name).to_owned(), (*of).to_owned())));
    for kind in KINDS {
        names.push((format!("{kind}_c2f"), format!("{kind}_toint")));
        names.push((format!("{kind}_f2c"), format!("{kind}_fromint")));
    }
    names.extend(OTHERS.iter().map(|name| ((*name).to_owned(), (*name).to_owned())));
    names.extend(STATUSES.iter().map(|name| ((*name).to_owned(), "Status_copy".to_owned())));
    names
}

/// Pointers in the library that programs read where the standard's ABI has a constant. So they may have its
/// value.
const CONSTANTS: [(&str, usize); 3] = [
    ("MPI_UNWEIGHTED", constants::MPI_UNWEIGHTED),
    ("MPI_WEIGHTS_EMPTY", constants::MPI_WEIGHTS_EMPTY),
    ("MPI_T_PVAR_ALL_HANDLES", constants::MPI_T_PVAR_ALL_HANDLES),
];
/// Variables of Fortran that are known by their address, with their bytes: the common blocks of `mpif.h` and
/// of the module `mpi`, and what the module `mpi_f08` has. A program with one of these has the variable, too,
/// and the dynamic linker picks the program's; `libmpifort.so.12` takes the address from here.
const FORTRAN: [(&str, usize); 16] = [
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
const NO_STATUSES: [(&str, &str); 4] = [
    ("MPI_F_STATUS_IGNORE", "mpipriv1_ + 8"),
    ("MPI_F_STATUSES_IGNORE", "mpipriv2_"),
    ("MPI_F08_STATUS_IGNORE", "MPIR_F08_MPI_STATUS_IGNORE_OBJ"),
    ("MPI_F08_STATUSES_IGNORE", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"),
];

/// The library `libmpi.so.12` in assembly language: under each name a jump to the entry in Heddle's library.
pub fn stubs(functions: &Functions) -> String {
    let mut out = String::from("    .section .note.GNU-stack,\"\",%progbits\n    .text\n");
    let mut stub = |names: &[String], to: &str| {
        out += "    .p2align 4\n";
        for name in names {
            _ = writeln!(out, "    .weak {name}\n    .type {name}, %function\n{name}:");
        }
        out += &jump(to);
        for name in names {
            _ = writeln!(out, "    .size {name}, . - {name}");
        }
    };
    for (name, entry) in names(functions) {
        stub(&[format!("MPI_{name}"), format!("PMPI_{name}")], &format!("heddle_mpich_{entry}"));
    }
    stub(&["MPIR_Dup_fn".into()], "heddle_mpich_Dup_fn");
    out += "    .section .data.rel.ro, \"aw\"\n    .p2align 3\n";
    let constants = CONSTANTS.map(|(name, value)| (name, value.to_string()));
    let no_statuses = NO_STATUSES.map(|(name, variable)| (name, variable.to_owned()));
    for (name, value) in constants.into_iter().chain(no_statuses) {
        _ = writeln!(
            out,
            "    .globl {name}\n    .type {name}, %object\n    .size {name}, 8\n{name}: .quad {value}"
        );
    }
    out += "    .bss\n";
    for (name, bytes) in FORTRAN {
        _ = writeln!(
            out,
            "    .p2align 3\n    .globl {name}\n    .type {name}, %object\n    .size {name}, {bytes}\n\
             {name}: .zero {bytes}"
        );
    }
    out
}

/// A jump to a function of another library.
#[cfg(target_arch = "x86_64")]
fn jump(to: &str) -> String {
    format!("    jmp *{to}@GOTPCREL(%rip)\n")
}

#[cfg(target_arch = "aarch64")]
fn jump(to: &str) -> String {
    format!("    adrp x16, :got:{to}\n    ldr x16, [x16, :got_lo12:{to}]\n    br x16\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_function_has_one_jump_and_its_profiling_name() {
        let functions = Functions::parse(crate::FUNCTIONS_TABLE).expect("valid");
        let text = stubs(&functions);
        let labels: Vec<&str> = text.lines().filter_map(|line| line.strip_suffix(':')).collect();
        let different: BTreeSet<&&str> = labels.iter().collect();
        assert_eq!(different.len(), labels.len(), "a label stands twice");
        for (name, _) in functions.all().flat_map(|function| function.forms()) {
            assert!(different.contains(&name.as_str()), "{name} is missing");
            assert!(different.contains(&format!("P{name}").as_str()), "P{name} is missing");
        }
        assert!(text.matches("heddle_mpich_Type_create_struct").count() > 1, "MPI_Type_struct leads there");
    }

    #[test]
    fn functions_of_the_program_are_taken_by_hand() {
        let functions = Functions::parse(crate::FUNCTIONS_TABLE).expect("valid");
        let by_hand = |function: &&Function| origin_of_entry(function) == EntryOrigin::HandWritten;
        let names: Vec<&str> = functions.all().filter(by_hand).map(|function| &*function.name).collect();
        assert_eq!(names.len(), 11, "{names:?}");
    }
}
