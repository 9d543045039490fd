//! The structs of `abi.rs`, compared with libfabric's headers by the C compiler.

use crate::abi;
use std::io::Write;
use std::mem::{offset_of, size_of};
use std::process::{Command, Stdio};

/// Assertions that fields are where C has them: `struct name: ours { theirs = ours, .. }`.
macro_rules! assertions {
    ($($c:literal: $rust:ident { $($field:literal = $ours:ident),* $(,)? })*) => {
        [$($((
            concat!("offsetof(struct ", $c, ", ", $field, ")"),
            offset_of!(abi::$rust, $ours),
        ),)*)*]
    };
}

/// Constants by their names in C.
macro_rules! constants {
    ($($c:literal = $ours:ident),* $(,)?) => {
        [$(($c, abi::$ours as i128)),*]
    };
}

#[test]
fn fields_and_constants_are_those_of_the_headers() {
    let fields = assertions! {
        "fi_info": Info {
            "next" = next, "caps" = caps, "mode" = mode, "src_addr" = src_addr, "dest_addr" = dest_addr,
            "tx_attr" = tx_attr, "rx_attr" = rx_attr, "ep_attr" = ep_attr, "domain_attr" = domain_attr,
            "fabric_attr" = fabric_attr,
        }
        "fi_tx_attr": TxAttr { "msg_order" = msg_order, "inject_size" = inject_size, "size" = size }
        "fi_rx_attr": RxAttr { "msg_order" = msg_order, "size" = size }
        "fi_ep_attr": EpAttr { "type" = kind, "max_msg_size" = max_msg_size }
        "fi_domain_attr": DomainAttr {
            "name" = name, "threading" = threading, "resource_mgmt" = resource_mgmt, "av_type" = av_type,
            "mr_mode" = mr_mode, "mr_key_size" = mr_key_size,
        }
        "fi_fabric_attr": FabricAttr { "name" = name, "prov_name" = prov_name }
        "fid": Fid { "ops" = ops }
        "fi_ops": Ops { "close" = close, "bind" = bind, "control" = control }
        "fid_fabric": Fabric { "ops" = ops }
        "fi_ops_fabric": FabricOps { "domain" = domain, "trywait" = trywait }
        "fid_domain": Domain { "ops" = ops, "mr" = mr }
        "fi_ops_domain": DomainOps { "av_open" = av_open, "cq_open" = cq_open, "endpoint" = endpoint }
        "fi_ops_mr": MrOps { "reg" = reg }
        "fid_mr": Mr { "mem_desc" = mem_desc, "key" = key }
        "fi_av_attr": AvAttr { "type" = kind, "count" = count, "flags" = flags }
        "fid_av": Av { "ops" = ops }
        "fi_ops_av": AvOps { "insert" = insert }
        "fi_cq_attr": CqAttr {
            "size" = size, "flags" = flags, "format" = format, "wait_obj" = wait_obj, "wait_set" = wait_set,
        }
        "fid_cq": Cq { "ops" = ops }
        "fi_ops_cq": CqOps { "read" = read, "readerr" = readerr, "strerror" = strerror }
        "fi_cq_data_entry": CqDataEntry { "op_context" = op_context, "flags" = flags, "len" = len, "data" = data }
        "fi_cq_err_entry": CqErrEntry {
            "op_context" = op_context, "olen" = olen, "err" = err, "prov_errno" = prov_errno,
            "err_data_size" = err_data_size,
        }
        "fid_ep": Ep { "ops" = ops, "cm" = cm, "msg" = msg, "rma" = rma }
        "fi_ops_cm": CmOps { "getname" = getname }
        "fi_ops_msg": MsgOps { "recv" = recv, "send" = send, "inject" = inject }
        "fi_ops_rma": RmaOps { "read" = read, "writemsg" = writemsg }
        "fi_rma_iov": RmaIov { "addr" = addr, "len" = len, "key" = key }
        "fi_msg_rma": MsgRma {
            "msg_iov" = msg_iov, "desc" = desc, "iov_count" = iov_count, "addr" = addr, "rma_iov" = rma_iov,
            "rma_iov_count" = rma_iov_count, "context" = context, "data" = data,
        }
    };
    let constants = constants! {
        "FI_MSG" = MSG, "FI_RMA" = RMA, "FI_READ" = READ, "FI_REMOTE_READ" = REMOTE_READ, "FI_WRITE" = WRITE, "FI_REMOTE_WRITE" = REMOTE_WRITE,
        "FI_COMPLETION" = COMPLETION, "FI_DELIVERY_COMPLETE" = DELIVERY_COMPLETE, "FI_RECV" = RECV, "FI_SEND" = SEND, "FI_CONTEXT | FI_CONTEXT2" = MODES,
        "FI_MR_LOCAL" = MR_LOCAL, "FI_MR_VIRT_ADDR" = MR_VIRT_ADDR, "FI_MR_ALLOCATED" = MR_ALLOCATED,
        "FI_MR_PROV_KEY" = MR_PROV_KEY, "FI_MR_ENDPOINT" = MR_ENDPOINT, "FI_ORDER_SAS" = ORDER_SAS,
        "FI_THREAD_DOMAIN" = THREAD_DOMAIN, "FI_RM_ENABLED" = RM_ENABLED, "FI_EP_RDM" = EP_RDM,
        "FI_AV_TABLE" = AV_TABLE, "FI_CQ_FORMAT_DATA" = CQ_FORMAT_DATA, "FI_WAIT_NONE" = WAIT_NONE,
        "FI_WAIT_FD" = WAIT_FD, "FI_GETWAIT" = GETWAIT, "FI_ENABLE" = ENABLE, "FI_EAVAIL" = EAVAIL,
        "FI_EAGAIN" = EAGAIN,
    };
    let mut source = String::from("#include <stddef.h>\n");
    for header in ["fabric", "fi_domain", "fi_endpoint", "fi_cm", "fi_rma", "fi_eq", "fi_errno"] {
        source += &format!("#include <rdma/{header}.h>\n");
    }
    for (theirs, ours) in fields {
        source += &format!("_Static_assert({theirs} == {ours}, \"\");\n");
    }
    for (theirs, ours) in constants {
        source += &format!("_Static_assert(({theirs}) == {ours}LL, \"\");\n");
    }
    source += &format!("_Static_assert(sizeof(struct fi_context2) == {}, \"\");\n", crate::CONTEXT_BYTES);
    source += &format!(
        "_Static_assert(sizeof(struct fi_cq_err_entry) <= {}, \"\");\n",
        size_of::<abi::CqErrEntry>()
    );
    let mut compiler = Command::new("cc")
        .args(["-std=gnu11", "-fsyntax-only", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a C compiler");
    compiler.stdin.take().expect("a pipe").write_all(source.as_bytes()).expect("it reads");
    let output = compiler.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
