//! References that requests count, if the lifetime in use counts any.

use heddle_datatype::Datatype;
use std::fmt::Debug;
use std::sync::OnceLock;

/// Counts the references that requests have to communicators, by their handles, and to datatypes.
pub trait ReferenceCounts: Debug + Send + Sync {
    /// Counts a reference: a request begins to use a communicator, which the caller holds.
    fn keep_comm(&self, handle: usize);
    /// Gives up a reference: a request that used a communicator is over.
    fn let_comm_go(&self, handle: usize);
    /// Counts a reference: a request begins to use a datatype.
    ///
    /// # Safety
    /// The pointer is null, or leads to a predefined datatype, or to one in an `Arc` that the caller holds.
    unsafe fn keep_type(&self, datatype: *const Datatype);
    /// Gives up a reference: a request that used a datatype is over.
    ///
    /// # Safety
    /// [`keep_type`](Self::keep_type) was called with the same pointer, under the promise made there.
    unsafe fn let_type_go(&self, datatype: *const Datatype);
}

heddle_platform::per_process! {
    static COUNTS: OnceLock<Box<dyn ReferenceCounts>> = OnceLock::new();
}

/// Makes requests count their references from now on. Called before there are requests.
pub fn count_references(counts: Box<dyn ReferenceCounts>) {
    COUNTS.get_or_init(|| counts);
}

/// Returns the object by which requests count references; `None`, which is the default, if they do not count.
#[inline(always)]
pub(super) fn counts() -> Option<&'static dyn ReferenceCounts> {
    COUNTS.get().map(|counts| &**counts)
}

/// Returns true if requests count references.
#[inline(always)]
pub fn requests_count() -> bool {
    COUNTS.get().is_some()
}
