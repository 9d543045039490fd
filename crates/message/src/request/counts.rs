//! References that requests count, if the lifetime in use counts any.

use heddle_datatype::Datatype;
use std::fmt::Debug;
use std::sync::OnceLock;

/// Counts the references that requests have to communicators, by their handles, and to datatypes.
pub trait ReferenceCounts: Debug + Send + Sync {
    /// A request begins to use a communicator, which its caller holds.
    fn keep_comm(&self, handle: usize);
    /// A request that used a communicator is over.
    fn let_comm_go(&self, handle: usize);
    /// A request begins to use a datatype.
    ///
    /// # Safety
    /// Null, or a predefined datatype, or one in an `Arc` that is held.
    unsafe fn keep_type(&self, datatype: *const Datatype);
    /// A request that used a datatype is over.
    ///
    /// # Safety
    /// As for [`keep_type`](Self::keep_type), which was called for it.
    unsafe fn let_type_go(&self, datatype: *const Datatype);
}

static COUNTS: OnceLock<Box<dyn ReferenceCounts>> = OnceLock::new();

/// From now on requests count their references. Called before there are requests.
pub fn count_references(counts: Box<dyn ReferenceCounts>) {
    COUNTS.get_or_init(|| counts);
}

/// What requests count by; `None`, which is the default, if they do not count.
#[inline(always)]
pub(super) fn counts() -> Option<&'static dyn ReferenceCounts> {
    COUNTS.get().map(|counts| &**counts)
}

/// Whether requests count references.
#[inline(always)]
pub fn requests_count() -> bool {
    COUNTS.get().is_some()
}
