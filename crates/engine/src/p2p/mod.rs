//! Point-to-point communication (MPI 5.0, chapter 3).
//!
//! | file | idea |
//! |---|---|
//! | `send.rs` | sends in all modes; `express.rs`: the express path of small ones |
//! | `receive.rs` | receives |
//! | `probe.rs` | probes, and matched messages |
//! | `complete.rs` | waits and tests; `awaited.rs`: the events that they wait for |
//! | `get_status.rs` | the outcome of requests without freeing them |
//! | `generalized.rs` | requests that the program completes itself |
//! | `persistent.rs` | requests that are started again and again |
//! | `buffered.rs` | `MPI_Bsend` and its buffers |
//! | `sendrecv.rs` | sending and receiving at once; `joint.rs`: with one request |

mod awaited;
mod buffered;
mod complete;
mod express;
mod generalized;
mod get_status;
mod joint;
mod mode;
mod persistent;
mod probe;
mod receive;
mod send;
mod sendrecv;
mod state;

pub use heddle_model::{Attempt, Refusal};

pub use buffered::{AttachTo, attach_buffer, detach_buffer, flush_buffer, iflush_buffer};
pub use complete::{
    Any, Some_, cancel, free, test, test_all, test_any, test_express, test_some, wait, wait_all, wait_any,
    wait_express, wait_some, wait_with,
};
pub use express::{PlainReceive, SmallSend, iprobe_express};
pub use generalized::{complete_generalized, start_generalized};
pub use get_status::{get_status, get_status_all, get_status_any, get_status_some};
pub use joint::{isendrecv, isendrecv_replace};
pub use mode::Mode;
pub use persistent::{receive_init, send_init, start};
pub(crate) use probe::comm_of_message;
pub use probe::{improbe, imrecv, iprobe, message_of_index, mprobe, mrecv, probe};
pub(crate) use receive::reissue;
pub use receive::{irecv, recv, recv_with};
pub use send::{bsend, ibsend, isend, send};
pub use sendrecv::{sendrecv, sendrecv_replace};
