//! Ranks as if the root were rank 0.

/// Ranks as if `root` were rank 0 and the others followed it round the circle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circle {
    pub(crate) root: usize,
    pub(crate) size: usize,
}

impl Circle {
    /// The distance from the root to `rank`.
    pub(crate) fn relative(self, rank: usize) -> usize {
        (rank + self.size - self.root) % self.size
    }

    /// The rank at this distance from the root.
    pub(crate) fn rank(self, relative: usize) -> usize {
        (self.root + relative) % self.size
    }
}
