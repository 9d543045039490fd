//! Self messages: messages that a process sends to itself.
//!
//! | file | idea |
//! |---|---|
//! | `delivery.rs` | delivery without a ring: one copy if the receive is posted |
//! | `context.rs` | the VNI of a communicator's self messages |
//! | `vni.rs` | sends and receives while self messages may move to other VNIs |
//! | `express.rs` | the express path once they have moved |
//!
//! [`heddle_objects::resharding`] says when they move, and why they keep their order.

mod context;
mod delivery;
mod express;
mod vni;
