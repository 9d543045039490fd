//! The part of libfabric's binary interface that is used: structs, tables of functions, and constants, by the
//! names of `rdma/fabric.h` and its neighbours, less their prefix.
//!
//! libfabric keeps this interface: it only adds fields behind those that are there. Structs that the library
//! makes (`Info` and what it leads to, and all objects) are therefore read through pointers. Structs that
//! the caller makes are as long as those of version 1.14, which is the version that is asked for.
//! A test compares them with the headers (`layout.rs`).

use std::ffi::{c_char, c_int, c_void};

/// `FI_VERSION(1, 14)`: the version of the interface that is asked for.
pub(crate) const VERSION: u32 = 1 << 16 | 14;

pub(crate) const MSG: u64 = 1 << 1;
pub(crate) const RMA: u64 = 1 << 2;
pub(crate) const READ: u64 = 1 << 8;
pub(crate) const WRITE: u64 = 1 << 9;
pub(crate) const RECV: u64 = 1 << 10;
pub(crate) const SEND: u64 = 1 << 11;
pub(crate) const REMOTE_READ: u64 = 1 << 12;
pub(crate) const REMOTE_WRITE: u64 = 1 << 13;

/// `FI_COMPLETION`: the operation has a completion.
pub(crate) const COMPLETION: u64 = 1 << 24;
/// `FI_DELIVERY_COMPLETE`: the completion says that the data is at its target.
pub(crate) const DELIVERY_COMPLETE: u64 = 1 << 28;

/// Modes that this crate honours: each operation has a context with room for the provider.
pub(crate) const MODES: u64 = CONTEXT | CONTEXT2;
const CONTEXT: u64 = 1 << 59;
const CONTEXT2: u64 = 1 << 52;

pub(crate) const MR_LOCAL: c_int = 1 << 2;
pub(crate) const MR_VIRT_ADDR: c_int = 1 << 4;
pub(crate) const MR_ALLOCATED: c_int = 1 << 5;
pub(crate) const MR_PROV_KEY: c_int = 1 << 6;
pub(crate) const MR_ENDPOINT: c_int = 1 << 9;

pub(crate) const ORDER_SAS: u64 = 1 << 8;

pub(crate) const THREAD_DOMAIN: c_int = 3;
pub(crate) const RM_ENABLED: c_int = 2;
pub(crate) const EP_RDM: c_int = 3;
pub(crate) const AV_TABLE: c_int = 2;
pub(crate) const CQ_FORMAT_DATA: c_int = 3;
pub(crate) const WAIT_NONE: c_int = 0;
pub(crate) const WAIT_FD: c_int = 3;

/// Commands of `control`.
pub(crate) const GETWAIT: c_int = 5;
pub(crate) const ENABLE: c_int = 6;

pub(crate) const ADDR_UNSPEC: u64 = u64::MAX;
/// `FI_EAVAIL`: a completion queue has an error to read.
pub(crate) const EAVAIL: isize = 259;
pub(crate) const EAGAIN: isize = libc::EAGAIN as isize;

/// `struct fi_info`.
#[repr(C)]
pub(crate) struct Info {
    pub(crate) next: *mut Info,
    pub(crate) caps: u64,
    pub(crate) mode: u64,
    pub(crate) addr_format: u32,
    pub(crate) src_addrlen: usize,
    pub(crate) dest_addrlen: usize,
    pub(crate) src_addr: *mut c_void,
    pub(crate) dest_addr: *mut c_void,
    pub(crate) handle: *mut Fid,
    pub(crate) tx_attr: *mut TxAttr,
    pub(crate) rx_attr: *mut RxAttr,
    pub(crate) ep_attr: *mut EpAttr,
    pub(crate) domain_attr: *mut DomainAttr,
    pub(crate) fabric_attr: *mut FabricAttr,
}

/// `struct fi_tx_attr`.
#[repr(C)]
pub(crate) struct TxAttr {
    pub(crate) caps: u64,
    pub(crate) mode: u64,
    pub(crate) op_flags: u64,
    pub(crate) msg_order: u64,
    pub(crate) comp_order: u64,
    pub(crate) inject_size: usize,
    pub(crate) size: usize,
}

/// `struct fi_rx_attr`.
#[repr(C)]
pub(crate) struct RxAttr {
    pub(crate) caps: u64,
    pub(crate) mode: u64,
    pub(crate) op_flags: u64,
    pub(crate) msg_order: u64,
    pub(crate) comp_order: u64,
    pub(crate) total_buffered_recv: usize,
    pub(crate) size: usize,
}

/// `struct fi_ep_attr`.
#[repr(C)]
pub(crate) struct EpAttr {
    pub(crate) kind: c_int,
    pub(crate) protocol: u32,
    pub(crate) protocol_version: u32,
    pub(crate) max_msg_size: usize,
}

/// `struct fi_domain_attr`.
#[repr(C)]
pub(crate) struct DomainAttr {
    pub(crate) domain: *mut Domain,
    pub(crate) name: *mut c_char,
    pub(crate) threading: c_int,
    pub(crate) control_progress: c_int,
    pub(crate) data_progress: c_int,
    pub(crate) resource_mgmt: c_int,
    pub(crate) av_type: c_int,
    pub(crate) mr_mode: c_int,
    pub(crate) mr_key_size: usize,
}

/// `struct fi_fabric_attr`.
#[repr(C)]
pub(crate) struct FabricAttr {
    pub(crate) fabric: *mut Fabric,
    pub(crate) name: *mut c_char,
    pub(crate) prov_name: *mut c_char,
}

/// `struct fid`: every object begins with one.
#[repr(C)]
pub(crate) struct Fid {
    pub(crate) class: usize,
    pub(crate) context: *mut c_void,
    pub(crate) ops: *const Ops,
}

/// `struct fi_ops`.
#[repr(C)]
pub(crate) struct Ops {
    pub(crate) size: usize,
    pub(crate) close: unsafe extern "C" fn(*mut Fid) -> c_int,
    pub(crate) bind: unsafe extern "C" fn(*mut Fid, *mut Fid, u64) -> c_int,
    pub(crate) control: unsafe extern "C" fn(*mut Fid, c_int, *mut c_void) -> c_int,
}

/// `struct fid_fabric`.
#[repr(C)]
pub(crate) struct Fabric {
    pub(crate) fid: Fid,
    pub(crate) ops: *const FabricOps,
}

/// A function that is not called from here.
type Unused = Option<unsafe extern "C" fn()>;

/// `struct fi_ops_fabric`.
#[repr(C)]
pub(crate) struct FabricOps {
    pub(crate) size: usize,
    pub(crate) domain: unsafe extern "C" fn(*mut Fabric, *mut Info, *mut *mut Domain, *mut c_void) -> c_int,
    pub(crate) passive_ep: Unused,
    pub(crate) eq_open: Unused,
    pub(crate) wait_open: Unused,
    pub(crate) trywait: unsafe extern "C" fn(*mut Fabric, *mut *mut Fid, c_int) -> c_int,
}

/// `struct fid_domain`.
#[repr(C)]
pub(crate) struct Domain {
    pub(crate) fid: Fid,
    pub(crate) ops: *const DomainOps,
    pub(crate) mr: *const MrOps,
}

/// `struct fi_ops_domain`.
#[repr(C)]
pub(crate) struct DomainOps {
    pub(crate) size: usize,
    pub(crate) av_open: unsafe extern "C" fn(*mut Domain, *mut AvAttr, *mut *mut Av, *mut c_void) -> c_int,
    pub(crate) cq_open: unsafe extern "C" fn(*mut Domain, *mut CqAttr, *mut *mut Cq, *mut c_void) -> c_int,
    pub(crate) endpoint: unsafe extern "C" fn(*mut Domain, *mut Info, *mut *mut Ep, *mut c_void) -> c_int,
}

/// `struct fi_ops_mr`.
#[repr(C)]
pub(crate) struct MrOps {
    pub(crate) size: usize,
    pub(crate) reg: unsafe extern "C" fn(
        *mut Fid,
        *const c_void,
        usize,
        u64,
        u64,
        u64,
        u64,
        *mut *mut Mr,
        *mut c_void,
    ) -> c_int,
}

/// `struct fid_mr`.
#[repr(C)]
pub(crate) struct Mr {
    pub(crate) fid: Fid,
    pub(crate) mem_desc: *mut c_void,
    pub(crate) key: u64,
}

/// `struct fi_av_attr`.
#[repr(C)]
pub(crate) struct AvAttr {
    pub(crate) kind: c_int,
    pub(crate) rx_ctx_bits: c_int,
    pub(crate) count: usize,
    pub(crate) ep_per_node: usize,
    pub(crate) name: *const c_char,
    pub(crate) map_addr: *mut c_void,
    pub(crate) flags: u64,
}

/// `struct fid_av`.
#[repr(C)]
pub(crate) struct Av {
    pub(crate) fid: Fid,
    pub(crate) ops: *const AvOps,
}

/// `struct fi_ops_av`.
#[repr(C)]
pub(crate) struct AvOps {
    pub(crate) size: usize,
    pub(crate) insert:
        unsafe extern "C" fn(*mut Av, *const c_void, usize, *mut u64, u64, *mut c_void) -> c_int,
}

/// `struct fi_cq_attr`.
#[repr(C)]
pub(crate) struct CqAttr {
    pub(crate) size: usize,
    pub(crate) flags: u64,
    pub(crate) format: c_int,
    pub(crate) wait_obj: c_int,
    pub(crate) signaling_vector: c_int,
    pub(crate) wait_cond: c_int,
    pub(crate) wait_set: *mut c_void,
}

/// `struct fid_cq`.
#[repr(C)]
pub(crate) struct Cq {
    pub(crate) fid: Fid,
    pub(crate) ops: *const CqOps,
}

/// `struct fi_ops_cq`.
#[repr(C)]
pub(crate) struct CqOps {
    pub(crate) size: usize,
    pub(crate) read: unsafe extern "C" fn(*mut Cq, *mut c_void, usize) -> isize,
    pub(crate) readfrom: Unused,
    pub(crate) readerr: unsafe extern "C" fn(*mut Cq, *mut CqErrEntry, u64) -> isize,
    pub(crate) sread: Unused,
    pub(crate) sreadfrom: Unused,
    pub(crate) signal: Unused,
    pub(crate) strerror:
        unsafe extern "C" fn(*mut Cq, c_int, *const c_void, *mut c_char, usize) -> *const c_char,
}

/// `struct fi_cq_data_entry`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CqDataEntry {
    pub(crate) op_context: *mut c_void,
    pub(crate) flags: u64,
    pub(crate) len: usize,
    pub(crate) buf: *mut c_void,
    pub(crate) data: u64,
}

/// `struct fi_cq_err_entry`.
#[repr(C)]
pub(crate) struct CqErrEntry {
    pub(crate) op_context: *mut c_void,
    pub(crate) flags: u64,
    pub(crate) len: usize,
    pub(crate) buf: *mut c_void,
    pub(crate) data: u64,
    pub(crate) tag: u64,
    pub(crate) olen: usize,
    pub(crate) err: c_int,
    pub(crate) prov_errno: c_int,
    pub(crate) err_data: *mut c_void,
    pub(crate) err_data_size: usize,
    /// Room for what later versions add.
    pub(crate) later: [u64; 4],
}

/// `struct fid_ep`.
#[repr(C)]
pub(crate) struct Ep {
    pub(crate) fid: Fid,
    pub(crate) ops: *const c_void,
    pub(crate) cm: *const CmOps,
    pub(crate) msg: *const MsgOps,
    pub(crate) rma: *const RmaOps,
}

/// `struct fi_ops_cm`.
#[repr(C)]
pub(crate) struct CmOps {
    pub(crate) size: usize,
    pub(crate) setname: Unused,
    pub(crate) getname: unsafe extern "C" fn(*mut Fid, *mut c_void, *mut usize) -> c_int,
}

/// `struct fi_ops_msg`.
#[repr(C)]
pub(crate) struct MsgOps {
    pub(crate) size: usize,
    pub(crate) recv:
        unsafe extern "C" fn(*mut Ep, *mut c_void, usize, *mut c_void, u64, *mut c_void) -> isize,
    pub(crate) recvv: Unused,
    pub(crate) recvmsg: Unused,
    pub(crate) send:
        unsafe extern "C" fn(*mut Ep, *const c_void, usize, *mut c_void, u64, *mut c_void) -> isize,
    pub(crate) sendv: Unused,
    pub(crate) sendmsg: Unused,
    pub(crate) inject: unsafe extern "C" fn(*mut Ep, *const c_void, usize, u64) -> isize,
}

/// `struct fi_ops_rma`.
#[repr(C)]
pub(crate) struct RmaOps {
    pub(crate) size: usize,
    pub(crate) read:
        unsafe extern "C" fn(*mut Ep, *mut c_void, usize, *mut c_void, u64, u64, u64, *mut c_void) -> isize,
    pub(crate) readv: Unused,
    pub(crate) readmsg: Unused,
    pub(crate) write: Unused,
    pub(crate) writev: Unused,
    pub(crate) writemsg: unsafe extern "C" fn(*mut Ep, *const MsgRma, u64) -> isize,
}

/// `struct fi_rma_iov`.
#[repr(C)]
pub(crate) struct RmaIov {
    pub(crate) addr: u64,
    pub(crate) len: usize,
    pub(crate) key: u64,
}

/// `struct fi_msg_rma`.
#[repr(C)]
pub(crate) struct MsgRma {
    pub(crate) msg_iov: *const libc::iovec,
    pub(crate) desc: *mut *mut c_void,
    pub(crate) iov_count: usize,
    pub(crate) addr: u64,
    pub(crate) rma_iov: *const RmaIov,
    pub(crate) rma_iov_count: usize,
    pub(crate) context: *mut c_void,
    pub(crate) data: u64,
}

/// References to the parts of live objects and descriptions, which have all of them.
macro_rules! parts {
    ($($object:ident { $($field:ident: $method:ident -> $part:ty),* })*) => {
        $(impl $object {
            $(pub(crate) fn $method(&self) -> &$part {
                // SAFETY: the library has made the object with all its parts, which live as long.
                unsafe { &*self.$field }
            })*
        })*
    };
}

parts! {
    Fid { ops: functions -> Ops }
    Fabric { ops: functions -> FabricOps }
    Domain { ops: functions -> DomainOps, mr: registration -> MrOps }
    Av { ops: functions -> AvOps }
    Cq { ops: functions -> CqOps }
    Ep { cm: management -> CmOps, msg: messages -> MsgOps, rma: remote_memory -> RmaOps }
    Info {
        tx_attr: sending -> TxAttr,
        ep_attr: of_endpoint -> EpAttr,
        domain_attr: of_domain -> DomainAttr,
        fabric_attr: of_fabric -> FabricAttr
    }
}
