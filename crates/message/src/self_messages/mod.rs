//! Messages of a process to itself.
//!
//! | file | idea |
//! |---|---|
//! | `delivery.rs` | no ring, and one copy if the receive is posted |
//! | `context.rs` | on which VNI a communicator's messages are |
//! | `vni.rs` | sending and receiving while messages may move from one VNI to another |
//!
//! When they move, and why they keep their order, is in [`heddle_objects::resharding`].

mod context;
mod delivery;
mod vni;
