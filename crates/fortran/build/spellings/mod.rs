//! Further names of the subroutines in the libraries of other ABIs: those of compilers that spell names
//! differently, and those of their modules. Under each is a jump to the subroutine.

mod mpich;
mod openmpi;

use super::abi::Abi;
use heddle_spec::function_table::Functions;
use heddle_spec::mpif::{has_subroutine, is_of_mpi_1};
use std::fmt::Write;

/// Subroutines that are not made from the table, without the prefix.
const OTHERS: [&str; 15] = [
    "address",
    "comm_spawn",
    "comm_spawn_multiple",
    "conversion_fn_null",
    "conversion_fn_null_c",
    "f_sync_reg",
    "register_datarep",
    "status_f082f",
    "status_f2f08",
    "type_extent",
    "type_hindexed",
    "type_hvector",
    "type_lb",
    "type_struct",
    "type_ub",
];
/// Names that MPI 3.0 removed, and what has come in their place.
const REMOVED: [(&str, &str); 3] = [
    ("errhandler_create", "comm_create_errhandler"),
    ("errhandler_get", "comm_get_errhandler"),
    ("errhandler_set", "comm_set_errhandler"),
];
const PROCEDURES: [&str; 3] = ["null_copy_fn", "dup_fn", "null_delete_fn"];
/// Types whose handles the operators of the modules compare.
const HANDLES: [&str; 11] =
    ["comm", "datatype", "errhandler", "file", "group", "info", "message", "op", "request", "session", "win"];
/// The operators of handles, by what their names end with in MPICH's modules and in Open MPI's.
const OPERATORS: [(&str, &str, &str); 2] =
    [("eq", "eq", "heddle_handles_equal"), ("neq", "ne", "heddle_handles_differ")];

/// The jumps.
pub(crate) fn spellings(abi: Abi, functions: &Functions) -> String {
    let mut jumps = Jumps(String::new());
    let names: Vec<_> = functions.all().filter(|function| has_subroutine(function)).collect();
    for prefix in ["mpi", "pmpi"] {
        for function in &names {
            jumps.spelled(&format!("{prefix}_{}", function.name.to_lowercase()));
        }
        for name in OTHERS {
            jumps.spelled(&format!("{prefix}_{name}"));
        }
        for (name, of) in REMOVED {
            jumps.add(&format!("{prefix}_{name}_"), &format!("{prefix}_{of}_"));
            jumps.spelled(&format!("{prefix}_{name}"));
        }
    }
    jumps.callbacks();
    for function in names.iter().filter(|function| !is_of_mpi_1(function)) {
        match abi {
            Abi::OpenMpi => jumps.openmpi_f08(function),
            _ => jumps.mpich_f08(function),
        }
    }
    match abi {
        Abi::OpenMpi => jumps.openmpi_modules(),
        _ => jumps.mpich_modules(),
    }
    jumps.0
}

/// The text of the jumps.
struct Jumps(String);

impl Jumps {
    fn add(&mut self, name: &str, to: &str) {
        _ = writeln!(
            self.0,
            "#[unsafe(naked)]\n#[unsafe(export_name = \"{name}\")]\n\
             pub extern \"C\" fn jump_{name}() {{ naked_asm!(jump!(\"{to}\")) }}",
        );
    }

    /// The spellings of a name by compilers.
    fn spelled(&mut self, name: &str) {
        for spelling in [name.into(), format!("{name}__"), name.to_uppercase()] {
            self.add(&spelling, &format!("{name}_"));
        }
    }

    /// A procedure of a module, in the spellings of gfortran and of Intel's compilers.
    fn module(&mut self, module: &str, name: &str, to: &str) {
        let of_gfortran = format!("__{module}_MOD_{name}");
        if of_gfortran != to {
            self.add(&of_gfortran, to);
        }
        self.add(&format!("{module}_mp_{name}_"), to);
    }

    /// The predefined callbacks.
    fn callbacks(&mut self) {
        for kind in ["", "comm_", "type_", "win_"] {
            for procedure in PROCEDURES {
                let name = format!("mpi_{kind}{procedure}");
                self.spelled(&name);
                self.add(&format!("p{name}_"), &format!("{name}_"));
                self.spelled(&format!("p{name}"));
                if !kind.is_empty() {
                    self.module("mpi_f08_callbacks", &name, &format!("{name}_"));
                }
            }
        }
        for name in ["mpi_conversion_fn_null", "mpi_conversion_fn_null_c"] {
            self.module("mpi_f08_callbacks", name, &format!("{name}_"));
        }
        for name in ["mpi_status_f2f08", "mpi_status_f082f"] {
            self.module("mpi_f08_types", name, &format!("{name}_"));
        }
    }
}
