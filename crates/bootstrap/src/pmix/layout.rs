//! `abi.rs`, compared with PMIx's headers by the C compiler.

use super::abi;
use std::io::Write;
use std::mem::{offset_of, size_of};
use std::process::{Command, Stdio};

/// What `pkg-config` says about PMIx's headers; nothing if they are where the compiler looks.
fn flags() -> Vec<String> {
    let output = Command::new("pkg-config").args(["--cflags", "pmix"]).output().expect("pkg-config");
    let words = String::from_utf8(output.stdout).expect("words");
    words.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn fields_constants_and_functions_are_those_of_the_headers() {
    let numbers = [
        ("sizeof(pmix_proc_t)", size_of::<abi::Proc>()),
        ("offsetof(pmix_proc_t, rank)", offset_of!(abi::Proc, rank)),
        ("sizeof(pmix_value_t)", size_of::<abi::Value>()),
        ("offsetof(pmix_value_t, data)", offset_of!(abi::Value, data)),
        ("sizeof(pmix_info_t)", size_of::<abi::Info>()),
        ("offsetof(pmix_info_t, flags)", offset_of!(abi::Info, flags)),
        ("offsetof(pmix_info_t, value)", offset_of!(abi::Info, value)),
        ("sizeof(pmix_status_t)", size_of::<abi::Status>()),
        ("PMIX_SUCCESS", abi::SUCCESS as usize),
        ("-PMIX_ERR_LOST_CONNECTION", -abi::ERR_LOST_CONNECTION as usize),
        ("-PMIX_ERR_LOST_CONNECTION_TO_SERVER", -abi::ERR_LOST_CONNECTION_TO_SERVER as usize),
        ("-PMIX_EVENT_NO_ACTION_TAKEN", -abi::EVENT_NO_ACTION_TAKEN as usize),
        ("PMIX_MAX_NSLEN", abi::MAX_NSLEN),
        ("PMIX_MAX_KEYLEN", abi::MAX_KEYLEN),
        ("(pmix_rank_t)(PMIX_RANK_WILDCARD)", abi::RANK_WILDCARD as usize),
        ("PMIX_BOOL", abi::BOOL.into()),
        ("sizeof(bool)", size_of::<bool>()),
        ("PMIX_STRING", abi::STRING.into()),
        ("PMIX_INT", abi::INT.into()),
        ("PMIX_UINT32", abi::UINT32.into()),
        ("PMIX_GLOBAL", abi::GLOBAL.into()),
        ("sizeof(pmix_data_type_t)", size_of::<u16>()),
        ("sizeof(pmix_scope_t)", size_of::<u8>()),
    ];
    let names = [
        ("PMIX_JOB_SIZE", abi::JOB_SIZE),
        ("PMIX_LOCAL_PEERS", abi::LOCAL_PEERS),
        ("PMIX_HOSTNAME", abi::HOSTNAME),
        ("PMIX_APPNUM", abi::APPNUM),
        ("PMIX_TIMEOUT", abi::TIMEOUT),
        ("PMIX_OPTIONAL", abi::OPTIONAL),
    ];
    let functions = [
        ("PMIx_Init", "pmix_status_t (*)(pmix_proc_t *, pmix_info_t *, size_t)"),
        (
            "PMIx_Get",
            "pmix_status_t (*)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t, pmix_value_t **)",
        ),
        ("PMIx_Put", "pmix_status_t (*)(pmix_scope_t, const char *, pmix_value_t *)"),
        ("PMIx_Commit", "pmix_status_t (*)(void)"),
        ("PMIx_Fence", "pmix_status_t (*)(const pmix_proc_t *, size_t, const pmix_info_t *, size_t)"),
        ("PMIx_Finalize", "pmix_status_t (*)(const pmix_info_t *, size_t)"),
        ("PMIx_Abort", "pmix_status_t (*)(int, const char *, pmix_proc_t *, size_t)"),
        (
            "PMIx_Register_event_handler",
            "pmix_status_t (*)(pmix_status_t *, size_t, pmix_info_t *, size_t, void (*)(size_t, pmix_status_t, \
             const pmix_proc_t *, pmix_info_t *, size_t, pmix_info_t *, size_t, void (*)(pmix_status_t, \
             pmix_info_t *, size_t, void (*)(pmix_status_t, void *), void *, void *), void *), void \
             (*)(pmix_status_t, size_t, void *), void *)",
        ),
        ("PMIx_Error_string", "const char *(*)(pmix_status_t)"),
    ];
    let mut source = String::from("#include <pmix.h>\n#include <stddef.h>\n");
    for (theirs, ours) in numbers {
        source += &format!("_Static_assert({theirs} == {ours}, \"\");\n");
    }
    for (theirs, ours) in names {
        let ours = ours.to_str().expect("letters");
        source += &format!("_Static_assert(__builtin_strcmp({theirs}, \"{ours}\") == 0, \"\");\n");
    }
    for (function, its_type) in functions {
        source += &format!("_Static_assert(_Generic(&{function}, {its_type}: 1, default: 0), \"\");\n");
    }
    let mut compiler = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-fsyntax-only"])
        .args(flags())
        .args(["-x", "c", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a C compiler");
    compiler.stdin.take().expect("a pipe").write_all(source.as_bytes()).expect("it reads");
    let output = compiler.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
