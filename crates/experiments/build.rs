//! Notes the commit of the sources, for the pages of results (`src/harness/commit.rs`).

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A change of any crate changes what is measured.
    println!("cargo::rerun-if-changed=..");
    // A commit and a checkout add a line to this log.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    println!("cargo::rustc-env=HEDDLE_COMMIT={}", commit().unwrap_or_else(|| "unknown".to_owned()));
}

/// The commit, if the sources are a repository: unpacked below another repository, they have none.
fn commit() -> Option<String> {
    let place = git(&["rev-parse", "--show-prefix"])?;
    let described = git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])?;
    (place == "crates/experiments/" && !described.is_empty()).then_some(described)
}

/// The line that git prints; `None` if it fails or is not there.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
