//! Choices that all processes of a job must make alike. Those of other machines tell theirs with their
//! addresses. A process that finds others than its own ends the job, since their messages would not meet.

/// The choices that all processes of a job must make alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alike {
    /// The VNIs of each process.
    pub vnis: usize,
    /// A number for the settings of collective operations, which differs if those do.
    pub collectives: u64,
}

impl Alike {
    /// A sentence that names the first difference and says what to do; `None` if there is none.
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
