//! A setting that changes nothing under the model is refused. This is a process of its own, since it changes
//! the process's settings.

use heddle_settings::{Settings, write};

#[test]
fn cores_for_offload_threads_need_such_threads() {
    write("HEDDLE_OFFLOAD_CORES", "0".to_owned());
    let error = Settings::chosen().expect_err("no thread of the library runs operations");
    assert!(error.starts_with("HEDDLE_OFFLOAD_CORES changes nothing here"), "{error}");
    write("HEDDLE_MODEL", "offload".to_owned());
    let settings = Settings::chosen().expect("the cores of offload threads");
    assert_eq!(settings.offload_cores.of_thread(0), Some(0));
    write("HEDDLE_OFFLOAD_CORES", "any".to_owned());
    write("HEDDLE_MODEL", "auto".to_owned());
    Settings::chosen().expect("a default is not refused");
}
