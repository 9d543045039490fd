//! Where one algorithm takes over from another.
//!
//! All ranks of an operation must choose the same algorithm, so these depend on nothing but what all ranks
//! know: the amount of data, which the standard wants to be equal everywhere, and the number of ranks.

/// `MPI_Bcast`: from this number of bytes and of ranks on, scatter and allgather; a tree would send all the
/// data ⌈log₂ n⌉ times one after the other.
pub(super) const BCAST_SCATTER_BYTES: usize = 64 << 10;
pub(super) const BCAST_SCATTER_RANKS: usize = 4;

/// `MPI_Gather`, `MPI_Scatter`: blocks from this many bytes on go straight between the root and their rank,
/// so that no rank copies another rank's block.
pub(super) const GATHER_LINEAR_BYTES: usize = 2 << 10;
pub(super) const SCATTER_LINEAR_BYTES: usize = 2 << 10;

/// `MPI_Allgather`: results from this many bytes on go round a ring, which copies nothing twice.
pub(super) const ALLGATHER_RING_BYTES: usize = 16 << 10;

/// `MPI_Alltoall`: blocks up to this many bytes travel together (Bruck) from this number of ranks on.
pub(super) const ALLTOALL_BRUCK_BYTES: usize = 256;
pub(super) const ALLTOALL_BRUCK_RANKS: usize = 8;

/// `MPI_Alltoall`: blocks up to this many bytes are sent all at once; larger ones pair by pair, so that only
/// one message at a time crosses memory.
pub(super) const ALLTOALL_BATCH_BYTES: usize = 32 << 10;

/// The most messages in flight at once where a rank sends to all or receives from all.
pub(super) const BATCH: usize = 64;

/// `MPI_Reduce`, `MPI_Allreduce`: vectors from this many bytes on are reduced in pieces by all ranks at once.
pub(super) const REDUCE_SCATTERED_BYTES: usize = 16 << 10;
pub(super) const ALLREDUCE_SCATTERED_BYTES: usize = 16 << 10;

/// `MPI_Reduce_scatter`: vectors from this many bytes on are exchanged pair by pair, each
/// block straight to its rank.
pub(super) const REDUCE_SCATTER_PAIRWISE_BYTES: usize = 256 << 10;

/// `MPI_Scan`, `MPI_Exscan`: the last rank computes with the vectors of all on the blackboard, if they have
/// at most this many bytes together.
pub(super) const SCAN_BLACKBOARD_BYTES: usize = 64 << 10;

/// `MPI_Allreduce`, `MPI_Reduce` of more than two ranks, `MPI_Reduce_scatter`: vectors from this many bytes
/// on are not copied to the blackboard, but read where they are.
pub(super) const ALLREDUCE_EXPOSED_BYTES: usize = 64 << 10;
pub(super) const REDUCE_EXPOSED_BYTES: usize = 128 << 10;
pub(super) const REDUCE_SCATTER_EXPOSED_BYTES: usize = 64 << 10;

/// `MPI_Allreduce`, `MPI_Reduce` on the blackboard: if the vectors of all ranks have more than this many
/// bytes together, each rank computes a piece of the result.
pub(super) const ALLREDUCE_PIECES_BYTES: usize = 16 << 10;
pub(super) const REDUCE_PIECES_BYTES: usize = 64 << 10;
