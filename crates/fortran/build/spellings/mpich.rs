//! Names of MPICH's modules.

use super::{HANDLES, Jumps, OPERATORS};
use crate::build::abi::Abi;
use heddle_spec::function::Function;
use heddle_spec::mpi_f08;

impl Jumps {
    /// The names of a function in `mpi_f08`: those of MPICH 4.0, and the standard's, which it has had since.
    pub(super) fn mpich_f08(&mut self, function: &Function) {
        for (prefix, theirs) in [("MPI", "mpi"), ("PMPI", "pmpir")] {
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
    }

    pub(super) fn mpich_modules(&mut self) {
        for (theirs, ours) in [("mpi", "mpi"), ("pmpir", "pmpi")] {
            for name in ["comm_spawn", "comm_spawn_multiple", "register_datarep"] {
                self.add(&format!("{theirs}_{name}_f08_"), &format!("{ours}_{name}_"));
            }
            self.add(&format!("{theirs}_register_datarep_c_f08_"), &format!("{ours}_register_datarep_"));
            self.add(&format!("{theirs}_f_sync_reg_f08ts_"), &format!("{ours}_f_sync_reg_"));
        }
        for handle in HANDLES {
            for (word, _, to) in OPERATORS {
                for name in [word.into(), format!("f08_{word}_f"), format!("f_{word}_f08")] {
                    self.module("mpi_f08_types", &format!("mpi_{handle}_{name}"), to);
                }
                self.module("mpi_constants", &format!("{handle}{word}"), to);
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
