//! An ABI of other libraries for which entries are made.

use heddle_spec::foreign::{ForeignAbi, MPICH, PairedSection};

/// An ABI, and the values of its constants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Face<'a> {
    pub(crate) abi: ForeignAbi,
    pub(crate) constants: &'a [PairedSection],
}

impl Face<'_> {
    /// The type of a handle in it.
    pub(crate) fn handle(&self) -> &'static str {
        if self.abi == MPICH { "c_int" } else { "usize" }
    }

    pub(crate) fn has_group(&self, name: &str) -> bool {
        self.constants.iter().any(|section| section.group == name)
    }

    /// How much longer a text may be in the standard's ABI: both lengths, if it is.
    pub(crate) fn lengths(&self, limit: &str) -> Option<(i64, i64)> {
        let mut pairs = self.constants.iter().flat_map(|section| &section.pairs);
        let pair = pairs.find(|pair| pair.name == limit)?;
        (pair.theirs < pair.ours).then_some((pair.ours, pair.theirs))
    }

    /// The head of an entry.
    pub(crate) fn head(&self, name: &str) -> String {
        format!("#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {}", self.abi.entry(name))
    }
}

pub(crate) fn handle_type(kind: &str) -> String {
    format!("{}Handle", kind.trim_start_matches("MPI_"))
}

/// The type of a handle of this kind.
pub(crate) fn object_type(face: Face<'_>, kind: &str) -> &'static str {
    if kind == "MPI_File" { "usize" } else { face.handle() }
}
