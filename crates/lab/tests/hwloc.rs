//! hwloc, which programs ask for the machine, sees the described one: by the files, and by its synthetic
//! words.
//!
//! hwloc reads its variables from the environment, so each question is asked in a process of its own: this
//! test starts its own program again.

use heddle_lab::machine::{Machine, tree};
use heddle_topology::{Error, Topology};
use std::ffi::OsStr;
use std::process::Command;

const VARIABLES: [&str; 2] = ["HWLOC_FSROOT", "HWLOC_SYNTHETIC"];

/// What hwloc answers with this variable set; nothing where it is not installed.
fn answer(variable: &str, value: &OsStr) -> Option<Topology> {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["hwloc_sees_the_machine", "--exact", "--nocapture"]).env(variable, value);
    let output = command.output().expect("started");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let line = text.lines().find_map(|line| line.strip_prefix("machine: ")).expect("an answer");
    (line != "none").then(|| line.parse().expect(line))
}

#[test]
fn hwloc_sees_the_machine() {
    if VARIABLES.iter().any(|variable| std::env::var_os(variable).is_some()) {
        return match Topology::of_machine() {
            Err(Error::NoHwloc(_)) => println!("\nmachine: none"),
            other => println!("\nmachine: {}", other.expect("a machine")),
        };
    }
    for (text, described) in [
        ("2x44", "2 packages x 44 cores"),
        ("1x1", "1 thread"),
        ("haswell-88", "2 packages x 44 cores"),
        ("epyc-7742", "2 packages x 16 l3 x 4 cores"),
        ("xeon-16", "16 cores"),
        ("knl-68", "68 cores"),
    ] {
        let machine = Machine::parse(text).expect(text);
        let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
        tree::write(&machine, folder.path()).expect("written");
        let synthetic = machine.hwloc_synthetic();
        for (variable, value) in VARIABLES.into_iter().zip([folder.path().as_os_str(), synthetic.as_ref()]) {
            let Some(seen) = answer(variable, value) else {
                eprintln!("skipped: no hwloc");
                return;
            };
            let expected: Topology = described.parse().expect(described);
            assert!(seen == expected, "{text} by {variable} is {seen} and not {expected}");
        }
    }
}
