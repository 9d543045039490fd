//! Tags of the messages inside collective operations, one an operation.

pub(crate) const BARRIER: i32 = 1;
pub(crate) const BCAST: i32 = 2;
pub(crate) const GATHER: i32 = 3;
pub(crate) const SCATTER: i32 = 4;
pub(crate) const ALLGATHER: i32 = 5;
pub(crate) const ALLTOALL: i32 = 6;
pub(crate) const REDUCE: i32 = 7;
pub(crate) const ALLREDUCE: i32 = 8;
pub(crate) const SCAN: i32 = 9;
pub(crate) const EXSCAN: i32 = 10;
pub(crate) const REDUCE_SCATTER: i32 = 11;
pub(crate) const NEIGHBORHOOD: i32 = 12;
pub(crate) const BLACKBOARD: i32 = 13;
/// Not a tag of messages: what ranks do that publish blocks of any lengths, behind a table.
pub(crate) const ALLTOALL_BLOCKS: i32 = 14;
pub(crate) const SCATTER_BLOCKS: i32 = 15;
