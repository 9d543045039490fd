//! Names of Open MPI's modules. They pass what `mpif.h` passes, so all lead to its subroutines.

use super::{HANDLES, Jumps, OPERATORS};
use crate::build::abi::Abi;
use heddle_spec::constant::ConstantKind;
use heddle_spec::foreign::OPENMPI;
use heddle_spec::function::Function;
use std::fmt::Write;

/// Subroutines of `mpi_f08` that are not made from the table, without the prefix.
const OTHERS: [&str; 6] =
    ["comm_spawn", "comm_spawn_multiple", "f_sync_reg", "register_datarep", "status_f082f", "status_f2f08"];
/// Functions with a form for an address of the type `C_PTR`.
const C_POINTERS: [&str; 4] = ["alloc_mem", "win_allocate", "win_allocate_shared", "win_shared_query"];
/// Types with a subroutine for `MPI_Sizeof`, and the greatest rank of an array.
const SIZES: [&str; 12] = [
    "character",
    "complex32",
    "complex64",
    "complex128",
    "int8",
    "int16",
    "int32",
    "int64",
    "logical",
    "real32",
    "real64",
    "real128",
];
const RANKS: usize = 15;
/// Integers of datatypes that the table does not have: second names, and types of Open MPI's own.
const MORE_TYPES: [(&str, i32); 7] = [
    ("mpi_ub", 3),
    ("mpi_lb", 4),
    ("mpi_2complex", 26),
    ("mpi_2double_complex", 27),
    ("mpi_long_long_int", 43),
    ("mpi_cxx_complex", 55),
    ("mpi_c_complex", 69),
];

impl Jumps {
    /// The name of a function in `mpi_f08`.
    pub(super) fn openmpi_f08(&mut self, function: &Function) {
        let name = function.name.to_lowercase();
        for prefix in ["mpi", "pmpi"] {
            // The address of a buffer that is detached is the only argument that differs.
            if !Abi::OpenMpi.has_own_f08(function, false) {
                self.add(&format!("{prefix}_{name}_f08_"), &format!("{prefix}_{name}_"));
            }
        }
    }

    pub(super) fn openmpi_modules(&mut self) {
        for prefix in ["mpi", "pmpi"] {
            for name in OTHERS {
                self.add(&format!("{prefix}_{name}_f08_"), &format!("{prefix}_{name}_"));
            }
            for name in C_POINTERS {
                let pointer = format!("{prefix}_{name}_cptr");
                self.add(&format!("{pointer}_"), &format!("{prefix}_{name}_"));
                self.spelled(&pointer);
            }
            for of in SIZES {
                for rank in 1..=RANKS {
                    let name = format!("{prefix}_sizeof_{of}");
                    self.add(&format!("{name}_r{rank}_"), &format!("{name}_scalar_"));
                }
            }
        }
        for handle in HANDLES {
            for (_, word, to) in OPERATORS {
                self.module("mpi_f08_types", &format!("ompi_{handle}_op_{word}"), to);
            }
        }
        self.handles();
    }

    /// The constants of `mpi_f08` that are handles: objects, since their types are derived ones.
    fn handles(&mut self) {
        let sections = OPENMPI.constants().unwrap_or_else(|error| panic!("{error}"));
        let sections = sections.iter().filter(|section| matches!(section.kind, ConstantKind::Handle(_)));
        let pairs = sections.flat_map(|section| &section.pairs);
        let handles = pairs.filter_map(|pair| Some((pair.name.to_lowercase(), pair.integer?)));
        let more = MORE_TYPES.iter().map(|(name, integer)| (String::from(*name), *integer));
        for (name, integer) in handles.chain(more) {
            _ = writeln!(
                self.0,
                "#[unsafe(export_name = \"__mpi_f08_types_MOD_{name}\")]\npub static {}: i32 = {integer};",
                name.to_uppercase()
            );
        }
    }
}
