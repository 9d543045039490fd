//! What all processes of a job must have alike. Those of other machines tell it with their addresses, and a
//! process that has it otherwise ends the job: their messages would not meet.

/// What all processes of a job must have alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alike {
    /// The VNIs of each process.
    pub vnis: usize,
    /// A number for the settings of collective operations, which differs if those do.
    pub collectives: u64,
}

impl Alike {
    /// What `theirs` has otherwise, and what to do.
    pub(super) fn difference(&self, theirs: &Alike) -> Option<String> {
        if theirs.vnis != self.vnis {
            return Some(format!(
                "it has {} VNIs and this process has {}: set HEDDLE_VNIS to the same number for all ranks",
                theirs.vnis, self.vnis
            ));
        }
        (theirs.collectives != self.collectives).then(|| {
            "its algorithms of collective operations are others than this process's: set HEDDLE_COLLECTIVES \
             and the other variables of collective operations to the same values for all ranks, and see that \
             the file of HEDDLE_COLLECTIVES has the same rules on all machines"
                .to_owned()
        })
    }
}
