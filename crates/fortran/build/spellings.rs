//! Further names of the subroutines in MPICH's library: those of compilers that spell names differently, and
//! those of `mpi_f08`. Under each is a jump to the subroutine.

use super::abi::Abi;
use heddle_spec::function::Function;
use heddle_spec::function_table::Functions;
use heddle_spec::mpi_f08;
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
/// Types whose handles the operators of the module `mpi_f08`, and those of the module `mpi`, compare.
const HANDLES: [&str; 11] =
    ["comm", "datatype", "errhandler", "file", "group", "info", "message", "op", "request", "session", "win"];

/// The jumps.
pub(crate) fn spellings(functions: &Functions) -> String {
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
    for function in names.iter().filter(|function| !is_of_mpi_1(function)) {
        for (prefix, theirs) in [("MPI", "mpi"), ("PMPI", "pmpir")] {
            jumps.f08(function, prefix, theirs);
        }
    }
    jumps.modules();
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

    /// The names of a function in `mpi_f08`: those of MPICH 4.0, and the standard's, which it has had since.
    fn f08(&mut self, function: &Function, prefix: &str, theirs: &str) {
        for large in mpi_f08::forms(function) {
            let own = mpi_f08::symbol(function, prefix, large);
            let (ours, rest) = own.split_once('_').expect("a name with a prefix");
            let to = match Abi::Mpich.has_own_f08(function, large) {
                true => own.clone(),
                false => format!("{ours}_{}_", function.name.to_lowercase()),
            };
            if own != format!("{theirs}_{rest}") || own != to {
                self.add(&format!("{theirs}_{rest}"), &to);
            }
            if let Some((begin, end)) = rest.split_once("_c_f08").filter(|_| large) {
                self.add(&format!("{theirs}_{begin}_f08{end}large_"), &to);
            }
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

    fn modules(&mut self) {
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
        for (theirs, ours) in [("mpi", "mpi"), ("pmpir", "pmpi")] {
            for name in ["comm_spawn", "comm_spawn_multiple", "register_datarep"] {
                self.add(&format!("{theirs}_{name}_f08_"), &format!("{ours}_{name}_"));
            }
            self.add(&format!("{theirs}_register_datarep_c_f08_"), &format!("{ours}_register_datarep_"));
            self.add(&format!("{theirs}_f_sync_reg_f08ts_"), &format!("{ours}_f_sync_reg_"));
        }
        for handle in HANDLES {
            for word in ["eq", "neq"] {
                let to = format!("__mpi_f08_types_MOD_mpi_comm_{word}");
                for name in [word.into(), format!("f08_{word}_f"), format!("f_{word}_f08")] {
                    self.module("mpi_f08_types", &format!("mpi_{handle}_{name}"), &to);
                }
                self.module("mpi_constants", &format!("{handle}{word}"), &to);
            }
        }
        // Arrays have elements as large as scalars.
        for of in ["ch", "cx", "d", "i", "i1", "i2", "i8", "l", "r"] {
            let name = format!("mpi_sizeof_{of}");
            let to = format!("__mpi_sizeofs_MOD_{name}");
            self.module("mpi_sizeofs", &name, &to);
            self.module("mpi_sizeofs", &format!("{name}v"), &to);
        }
    }
}
