//! Messages between processes: from a send to the wire, and from the wire to a receive.
//!
//! The crate knows process numbers, context ids, tags and memory; it knows no communicator, no datatype
//! handle and no error handler. It stands on `heddle-transport` (rings in shared memory), `heddle-model`
//! (which critical section guards what) and `heddle-objects`; `heddle-comm`, `heddle-p2p`, `heddle-window`
//! and the crates above them stand on it, and `heddle-tool` asks it for the number of VNIs.
//!
//! A message from the sender's call to the receiver's:
//!
//! ```text
//!  MPI_Send ─ p2p/send ─ vni/interface ─ vni/send ─ Outbox ═══ ring ═══ Inbox
//!                        (critical section)                               │
//!  MPI_Recv ◀ p2p/receive ◀ progress/wait ◀ request ◀ vni/receive ◀ matching
//!                   ◀─── vni/direct, if nothing else could want it ───────┘
//! ```
//!
//! | module | idea |
//! |---|---|
//! | [`domain`] | the VNIs of an initialised process, and what they share |
//! | [`context`] | what keeps communicators' messages apart, and which VNI carries them |
//! | [`buffer`] | user memory that takes part in an operation |
//! | [`request`] | operations in progress |
//! | [`matching`] | posted receives and unexpected messages |
//! | [`vni`] | protocols |
//! | `lanes` | messages of one VNI that are spread over others; `spread`: what the VNIs keep of that |
//! | `transfer_method` | how the data of a large message moves between the processes of a machine |
//! | `mapping` | context ids, and the VNI of a message |
//! | [`served_copy`] | copies that the kernel has refused, made by the process whose memory it is |
//! | `self_messages` | messages that a process sends to itself |
//! | [`progress`] | waiting |
//! | `cores` | how the processes of a machine share its cores |
//! | `offload` | the running threads of the offload server (execution `offload`) |
//! | [`program`] | calling functions of the program |
//! | [`history`] | the collective operations of a communicator, which processes compare that wait long |
//! | [`losses`] | the receives and probes that the loss of a rank ends |
//! | [`error`] | errors of operations |

pub mod buffer;
pub mod context;
mod cores;
pub mod domain;
pub mod error;
pub mod history;
mod lanes;
pub mod losses;
mod mapping;
pub mod matching;
mod offload;
pub mod program;
pub mod progress;
pub mod request;
mod self_messages;
pub mod served_copy;
pub mod spread;
mod transfer_method;
pub mod vni;
