//! `heddle libraries`.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use heddle_experiments::Installation;
use heddle_launcher::asked_library::FOREIGN_LIBRARIES;

/// Options of `heddle libraries`.
#[derive(Debug, clap::Args)]
pub(crate) struct LibrariesArgs {
    /// The program, or a library that it loads as it runs, such as a module of Python.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Where Heddle is installed, if this program does not lie beside it.
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
}

/// The MPI libraries that a program asks for, and what it gets for them under `mpiexec`.
///
/// # Errors
/// If there is no installation, or the loader's tool does not run or cannot read the file.
pub(crate) fn text(args: &LibrariesArgs) -> io::Result<String> {
    let installation = Installation::find(args.prefix.as_deref()).ok_or_else(|| {
        io::Error::other("Heddle is not installed: build it (`make`), or name its place with --prefix")
    })?;
    let lib = installation.prefix().join("lib").canonicalize()?;
    let mut path = OsString::from(lib.join("compat"));
    if let Some(others) = std::env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
        path.push(":");
        path.push(others);
    }
    let said = Command::new("ldd").arg(&args.file).env("LD_LIBRARY_PATH", path).output();
    let said = said.map_err(|error| io::Error::new(error.kind(), format!("running ldd: {error}")))?;
    if !said.status.success() {
        let why = String::from_utf8_lossy(&said.stderr);
        return Err(io::Error::other(format!("{}: {}", args.file.display(), why.trim())));
    }
    Ok(described(&args.file, &lib, &String::from_utf8_lossy(&said.stdout)))
}

/// The libraries that the loader finds, as `ldd` prints them, with Heddle's in this folder and below.
fn described(file: &Path, lib: &Path, ldd: &str) -> String {
    let libraries = ldd.lines().filter_map(|line| line.trim().split_once(" => "));
    let libraries: Vec<_> = libraries.filter(|(name, _)| name.starts_with("libmpi")).collect();
    if libraries.is_empty() {
        return format!(
            "{} asks for no MPI library. An interpreter loads one as it runs: name the file of its module (*.so).\n",
            file.display()
        );
    }
    let mut lines = vec![format!("{} gets, started by mpiexec:", file.display())];
    let width = libraries.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, found) in libraries {
        let found = found.split(" (").next().unwrap_or(found);
        let known = FOREIGN_LIBRARIES.iter().find(|library| library.name == name);
        let what = match (known, Path::new(found).starts_with(lib)) {
            (Some(library), true) => format!("Heddle, with the ABI of {}", library.of),
            (None, true) => "Heddle".to_owned(),
            (Some(library), false) => format!(
                "another library, by its RPATH or since it stands there; mpiexec --compat {} gives it Heddle's",
                library.abi
            ),
            (None, false) => "not Heddle's, which has no library of this name".to_owned(),
        };
        lines.push(format!("  {name:width$}  {found}  {what}"));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_library_is_told_from_others() {
        let text = |ldd| described(Path::new("a.out"), Path::new("/heddle/lib"), ldd);
        let ours = text(
            "\tlibmpi.so.40 => /heddle/lib/compat/libmpi.so.40 (0x1)\n\tlibc.so.6 => /lib/libc.so.6 (0x2)\n",
        );
        assert!(
            ours.contains("libmpi.so.40  /heddle/lib/compat/libmpi.so.40  Heddle, with the ABI of Open MPI"),
            "{ours}"
        );
        assert!(!ours.contains("libc"), "{ours}");
        let others = text("\tlibmpi.so.12 => /opt/libmpi.so.12 (0x1)\n\tlibmpi_cxx.so.40 => not found\n");
        assert!(others.contains("--compat mpich"), "{others}");
        assert!(others.contains("libmpi_cxx.so.40  not found  not Heddle's"), "{others}");
        assert!(text("\tlibc.so.6 => /lib/libc.so.6 (0x2)\n").contains("asks for no MPI library"));
    }
}
