//! The state of post, start, complete and wait in a process.

/// The epochs of post and start in a process.
#[derive(Debug)]
pub(crate) struct ExposureState {
    /// The ranks of the access that was started.
    pub(crate) started: Option<Vec<usize>>,
    /// True while a thread waits for the posts of those ranks.
    pub(crate) is_starting: bool,
    /// The ranks to which the memory was exposed.
    pub(crate) exposed: Option<Vec<usize>>,
    /// For each rank, the posts that this process has used.
    pub(crate) posts_used: Box<[u64]>,
    /// For each rank, the completions that this process has used.
    pub(crate) completions_used: Box<[u64]>,
}

impl ExposureState {
    pub(crate) fn new(processes: usize) -> ExposureState {
        ExposureState {
            started: None,
            is_starting: false,
            exposed: None,
            posts_used: vec![0; processes].into(),
            completions_used: vec![0; processes].into(),
        }
    }
}
