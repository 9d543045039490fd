//! Values of those options of `mpiexec` that MPI names besides the number of ranks (MPI 5.0, section 11.5),
//! which mean what the info keys of `MPI_Comm_spawn` mean (section 11.8.4).

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The values of the option for the initial error handler.
pub(crate) const ERROR_HANDLERS: [&str; 3] =
    ["mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"];

/// Names of this machine's architecture.
fn names_of_architecture() -> &'static [&'static str] {
    match std::env::consts::ARCH {
        "x86_64" => &["x86_64", "amd64", "x86-64"],
        "aarch64" => &["aarch64", "arm64"],
        _ => &[std::env::consts::ARCH],
    }
}

/// Returns true if this machine has the architecture of that name.
pub(crate) fn is_architecture_here(name: &str) -> bool {
    names_of_architecture().iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The largest number of ranks that a value of `-soft` allows, not above `most`; `None` if it allows none.
///
/// # Errors
/// If the value is no list of numbers and ranges.
pub(crate) fn largest_allowed(soft: &str, most: u32) -> Result<Option<u32>, ()> {
    let mut largest = None;
    for range in soft.split(',') {
        let words: Vec<i64> =
            range.split(':').map(|word| word.trim().parse().map_err(drop)).collect::<Result<_, ()>>()?;
        let (first, last, step) = match words[..] {
            [only] => (only, only, 1),
            [first, last] => (first, last, 1),
            [first, last, step] => (first, last, step),
            _ => return Err(()),
        };
        if step == 0 {
            return Err(());
        }
        largest = largest.max(largest_of((first, last, step), i64::from(most)));
    }
    Ok(largest.map(|number| number as u32))
}

/// The largest number from 1 to `most` among first, first + step … up or down to last.
fn largest_of((first, last, step): (i64, i64, i64), most: i64) -> Option<i64> {
    let (first, last, step) = (i128::from(first), i128::from(last), i128::from(step));
    let steps = (last - first) / step;
    if steps < 0 || (last - first) % step != 0 && (last - first).signum() != step.signum() {
        return None;
    }
    // An ascending range, whose last number is one of its own.
    let (low, high) = if step > 0 { (first, first + steps * step) } else { (first + steps * step, first) };
    let most = i128::from(most);
    let found = if high <= most { high } else { most - (most - low).rem_euclid(step.abs()) };
    (found >= low.max(1)).then_some(found as i64)
}

/// A program as it is found in directories, separated by colons; unchanged if it is in none, or is a path.
pub(crate) fn found_in(directories: &OsStr, program: &OsStr) -> OsString {
    if program.to_string_lossy().contains('/') {
        return program.to_owned();
    }
    let found = std::env::split_paths(directories).map(|directory: PathBuf| directory.join(program));
    found
        .filter_map(|path| path.is_file().then(|| path.canonicalize().ok()).flatten())
        .next()
        .map_or_else(|| program.to_owned(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_of_ranks_that_is_allowed() {
        for (soft, most, expected) in [
            ("4", 4, Some(4)),
            ("4", 3, None),
            ("1:10", 7, Some(7)),
            ("1:10", 70, Some(10)),
            ("2:10:3", 10, Some(8)),
            ("2:10:3", 7, Some(5)),
            ("10:2:-3", 9, Some(7)),
            ("10:2:-3", 1, None),
            ("10:2", 9, None),
            ("2:10:-1", 9, None),
            ("1,3,5:9:2", 8, Some(7)),
            ("0", 8, None),
            ("-4:4", 3, Some(3)),
            ("-4", 3, None),
            ("3:3:-1", 3, Some(3)),
            ("5:4:3", 9, None),
            ("1:9223372036854775807", 65536, Some(65536)),
            ("-9223372036854775808:9223372036854775807", 65536, Some(65536)),
        ] {
            assert_eq!(largest_allowed(soft, most), Ok(expected), "{soft} up to {most}");
        }
        for wrong in ["", ",", "1:", "1:2:3:4", "a", "1:5:0", "1.5", "99999999999999999999"] {
            assert_eq!(largest_allowed(wrong, 8), Err(()), "{wrong:?}");
        }
    }

    #[test]
    fn a_program_is_found_in_the_first_directory_that_has_it() {
        let folder = tempfile::tempdir().expect("a directory");
        let name = OsStr::new("prog");
        for part in ["one", "two"] {
            std::fs::create_dir(folder.path().join(part)).expect("a directory");
        }
        let directories = std::env::join_paths(["one", "two"].map(|part| folder.path().join(part)))
            .expect("no colon in them");
        assert_eq!(found_in(&directories, name), name);
        std::fs::create_dir(folder.path().join("one/prog")).expect("a directory");
        std::fs::write(folder.path().join("two/prog"), "").expect("a file");
        let found = folder.path().canonicalize().expect("it exists").join("two/prog");
        assert_eq!(found_in(&directories, name), found.as_os_str());
        assert_eq!(found_in(&directories, OsStr::new("./prog")), OsStr::new("./prog"));
    }

    #[test]
    fn this_machine_has_its_architecture() {
        assert!(is_architecture_here(std::env::consts::ARCH) && !is_architecture_here("pdp11"));
    }
}
