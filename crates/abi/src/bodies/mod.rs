//! The bodies of the functions, a module for each chapter of the standard.

pub(crate) mod collective;
pub(crate) mod comm;
pub(crate) mod conversion;
pub(crate) mod datatype;
pub(crate) mod env;
pub(crate) mod external;
pub(crate) mod info;
pub(crate) mod io;
pub(crate) mod p2p;
pub(crate) mod partitioned;
pub(crate) mod process;
pub(crate) mod rma;
pub(crate) mod tool;
pub(crate) mod topology;
