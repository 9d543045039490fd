//! Which MPI library a program asks for: what its file says to the loader.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, ReadCache, ReadRef};

/// A library of another ABI in whose place Heddle has one.
#[derive(Debug, PartialEq, Eq)]
pub struct ForeignLibrary {
    /// The name by which programs ask for it.
    pub name: &'static str,
    /// A word for its ABI, for `mpiexec --compat`.
    pub abi: &'static str,
    /// Whose ABI that is.
    pub of: &'static str,
}

/// All of them. The first of an ABI is the one for C, which each program needs.
pub const FOREIGN_LIBRARIES: [ForeignLibrary; 8] = [
    ForeignLibrary { name: "libmpi.so.12", abi: "mpich", of: "MPICH and Intel MPI" },
    ForeignLibrary { name: "libmpich.so.12", abi: "mpich", of: "MPICH, by Debian's name" },
    ForeignLibrary { name: "libmpifort.so.12", abi: "mpich", of: "MPICH and Intel MPI for Fortran" },
    ForeignLibrary { name: "libmpichfort.so.12", abi: "mpich", of: "MPICH for Fortran, by Debian's name" },
    ForeignLibrary { name: "libmpi.so.40", abi: "openmpi", of: "Open MPI" },
    ForeignLibrary { name: "libmpi_mpifh.so.40", abi: "openmpi", of: "Open MPI for Fortran" },
    ForeignLibrary { name: "libmpi_usempi_ignore_tkr.so.40", abi: "openmpi", of: "Open MPI's module mpi" },
    ForeignLibrary { name: "libmpi_usempif08.so.40", abi: "openmpi", of: "Open MPI's module mpi_f08" },
];

/// What a program's file asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct AskedLibrary {
    /// The library.
    pub library: &'static ForeignLibrary,
    /// The first folder of the program's own that has a library of that name, if the loader looks there
    /// before it looks into those of `LD_LIBRARY_PATH`: the program has an `RPATH`, and no `RUNPATH`.
    pub from: Option<PathBuf>,
}

/// The libraries of another ABI that a program asks for itself. What the libraries that it asks for ask for,
/// or what it loads as it runs (Python's modules), is not known here.
pub fn asked_libraries(program: &Path) -> Vec<&'static ForeignLibrary> {
    let needed = File::open(program).ok().and_then(|file| dynamic(&ReadCache::new(file)));
    needed.map_or(Vec::new(), |[needed, ..]| of_names(&needed).collect())
}

fn of_names(needed: &[OsString]) -> impl Iterator<Item = &'static ForeignLibrary> {
    FOREIGN_LIBRARIES.iter().filter(|library| needed.iter().any(|name| name == OsStr::new(library.name)))
}

/// The first of these, and where the program finds it.
pub fn asked_library(program: &Path) -> Option<AskedLibrary> {
    let file = ReadCache::new(File::open(program).ok()?);
    let [needed, rpath, runpath] = dynamic(&file)?;
    let library = of_names(&needed).next()?;
    let folder = program.parent().unwrap_or(Path::new("."));
    let folders = if runpath.is_empty() { rpath } else { Vec::new() };
    let mut folders = folders.iter().flat_map(std::env::split_paths).map(|path| with_origin(&path, folder));
    Some(AskedLibrary { library, from: folders.find(|path| path.join(library.name).exists()) })
}

/// A folder in which `$ORIGIN` stands for the program's.
fn with_origin(path: &Path, folder: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    PathBuf::from(text.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", &folder.to_string_lossy()))
}

/// The needed libraries, the `RPATH` and the `RUNPATH` of a file, if it is one of 64 bits with such entries.
fn dynamic<'a, F: ReadRef<'a>>(file: F) -> Option<[Vec<OsString>; 3]> {
    let header = FileHeader64::<Endianness>::parse(file).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, file).ok()?;
    let entries = segments.iter().find_map(|segment| segment.dynamic(endian, file).ok().flatten())?;
    let sections = header.sections(endian, file).ok()?;
    let (_, strings) = sections.dynamic(endian, file).ok().flatten()?;
    let strings = sections.strings(endian, file, strings).ok()?;
    let texts = |wanted: u32| {
        let with_tag = entries.iter().filter(move |entry| entry.tag32(endian) == Some(wanted));
        let text = with_tag.filter_map(|entry| strings.get(entry.val32(endian)?).ok());
        text.map(|text| OsStr::from_bytes(text).to_owned()).collect()
    };
    Some([texts(DT_NEEDED), texts(DT_RPATH), texts(DT_RUNPATH)])
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A program that asks for a library of this name, linked with these options.
    fn program(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
        let (library, source, program) =
            (folder.join(name), folder.join("program.c"), folder.join("program"));
        std::fs::write(&source, "int f(void); int main(void) { return f(); }").expect("written");
        std::fs::write(folder.join("library.c"), "int f(void) { return 0; }").expect("written");
        let run = |command: &mut Command| assert!(command.status().expect("cc runs").success());
        let cc = || Command::new("cc");
        let soname = format!("-Wl,-soname,{name}");
        run(cc().args(["-shared", "-fPIC", &soname, "-o"]).arg(&library).arg(folder.join("library.c")));
        run(cc().arg("-o").arg(&program).arg(&source).arg(&library).args(options));
        program
    }

    #[test]
    fn a_program_s_file_says_what_it_asks_for_and_where() {
        let folder = tempfile::tempdir().expect("a folder");
        let asked = |name: &str, options: &[&str]| asked_library(&program(folder.path(), name, options));
        let found = asked("libmpi.so.40", &[]).expect("found");
        assert_eq!((found.library.abi, found.from), ("openmpi", None));
        let own = ["-Wl,--disable-new-dtags", "-Wl,-rpath,/nowhere:$ORIGIN"];
        let found = asked("libmpi.so.12", &own).expect("found");
        assert_eq!((found.library.abi, found.from.as_deref()), ("mpich", Some(folder.path())));
        let found = asked("libmpi.so.12", &["-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN"]).expect("found");
        assert_eq!(found.from, None, "LD_LIBRARY_PATH comes before RUNPATH");
        assert_eq!(asked("libmpi_abi.so.1", &[]), None);
        let fortran = asked_libraries(&program(folder.path(), "libmpi_mpifh.so.40", &[]));
        assert_eq!(fortran.iter().map(|library| library.abi).collect::<Vec<_>>(), ["openmpi"]);
        assert_eq!(asked_library(&folder.path().join("program.c")), None, "no program");
    }
}
