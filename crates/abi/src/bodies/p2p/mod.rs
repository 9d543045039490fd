//! Point-to-point communication.
//!
//! | file | functions |
//! |---|---|
//! | `send.rs` | sends in all modes, persistent ones |
//! | `receive.rs` | receives, persistent and matched ones too |
//! | `joint.rs` | both at once |
//! | `probe.rs` | probes |
//! | `complete.rs` | waiting and testing |
//! | `request.rs` | starting, freeing and cancelling requests |
//! | `status.rs` | statuses |
//! | `attach.rs` | buffers for buffered sends |

mod attach;
mod complete;
mod joint;
mod probe;
mod receive;
mod request;
mod send;
mod status;

pub(crate) use attach::*;
pub(crate) use complete::*;
pub(crate) use joint::*;
pub(crate) use probe::*;
pub(crate) use receive::*;
pub(crate) use request::*;
pub(crate) use send::*;
pub(crate) use status::*;

use crate::error::{Error, Result};
use heddle_p2p::is_tag;
use heddle_spec::constants::{MPI_ANY_TAG, MPI_ERR_TAG};
use std::ffi::c_int;

/// Checks the tag of a send.
#[inline(always)]
pub(super) fn check_tag(tag: c_int) -> Result<()> {
    if is_tag(tag) { Ok(()) } else { Err(bad_tag(tag)) }
}

/// Checks the tag of a receive or probe.
#[inline(always)]
fn check_wanted_tag(tag: c_int) -> Result<()> {
    if is_tag(tag) || tag == MPI_ANY_TAG { Ok(()) } else { Err(bad_tag(tag)) }
}

#[cold]
fn bad_tag(tag: c_int) -> Error {
    let message = if tag == MPI_ANY_TAG {
        "MPI_ANY_TAG cannot be sent: it is for receives and probes".to_owned()
    } else {
        format!("the tag is {tag}, but it may not be negative")
    };
    Error::new(MPI_ERR_TAG, message)
}
