//! Point-to-point communication (MPI 5.0, chapter 3), without the C interface.
//!
//! The crate stands on `heddle-message`, which moves the messages, and on `heddle-comm`, whose communicators
//! say where they go. `heddle-collective` and `heddle-comm-management` send with it; `heddle-abi` puts the
//! standard's functions on top. A call checks ranks and tags, makes a buffer of address, count and datatype,
//! and calls the VNI of the communicator.
//!
//! | file | idea |
//! |---|---|
//! | `send.rs` | sends in all modes (`mode.rs`); `express.rs`: the express path of small ones |
//! | `receive.rs` | receives |
//! | `probe.rs` | probes, and matched messages |
//! | `complete.rs` | waits and tests, `several.rs` of several requests; `awaited.rs`: the events that they wait for; `state.rs`: the states of operations |
//! | `long_wait.rs` | waits inside of collective operations whose ranks may disagree |
//! | `get_status.rs` | the outcome of requests without freeing them |
//! | `generalized.rs` | requests that the program completes itself |
//! | `persistent.rs` | requests that are started again and again |
//! | `partitioned` | messages whose parts leave one by one |
//! | `buffered.rs` | `MPI_Bsend` and its buffers |
//! | `tag.rs` | which tags messages may have |
//! | `sendrecv.rs` | sending and receiving at once; `joint.rs`: with one request |

mod awaited;
mod buffered;
mod complete;
mod express;
mod generalized;
mod get_status;
mod joint;
mod long_wait;
mod mode;
mod partitioned;
mod persistent;
mod probe;
mod receive;
mod send;
mod sendrecv;
mod several;
mod state;
mod tag;

pub use heddle_model::{Attempt, Refusal};

pub use buffered::{AttachTo, attach_buffer, detach_buffer, flush_buffer, iflush_buffer};
pub use complete::{cancel, free, test, test_express, wait, wait_express, wait_with};
pub use express::{PlainReceive, SmallSend, iprobe_express};
pub use generalized::{complete_generalized, start_generalized};
pub use get_status::{get_status, get_status_all, get_status_any, get_status_some};
pub use joint::{isendrecv, isendrecv_replace};
pub use long_wait::{LongWait, ranks_disagree, unless_in_vain, wait_in_operation};
pub use mode::Mode;
pub use partitioned::{
    check_partitions, check_ready, has_arrived, precv_init, psend_init, ready, ready_express,
};
pub use persistent::{receive_init, send_init, start};
pub use probe::comm_of_message;
pub use probe::{improbe, imrecv, iprobe, message_of_index, mprobe, mrecv, probe};
pub use receive::reissue;
pub use receive::{irecv, recv, recv_with};
pub use send::{bsend, ibsend, isend, isend_by_request, send};
pub use sendrecv::{sendrecv, sendrecv_replace};
pub use several::{Any, Some_, test_all, test_any, test_some, wait_all, wait_any, wait_some};
pub use state::{is_active, is_over};
pub use tag::is_tag;

/// Requests, for the C interface.
pub mod request {
    pub use heddle_message::request::{
        Attachment, Canceller, Outcome, SEND_DONE, handle_of_index, is_for_every_send,
    };
}
