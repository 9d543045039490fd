//! Programs that were compiled for another library's ABI: how the loader finds Heddle's library of that name.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use heddle_launcher::asked_library::{FOREIGN_LIBRARIES, asked_libraries, asked_library};

/// The variables of the loader that name folders, and libraries that it loads first.
const SEARCH_PATH: &str = "LD_LIBRARY_PATH";
const PRELOAD: &str = "LD_PRELOAD";

/// What is done for the programs of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Compat {
    /// The loader looks into the folder of Heddle's libraries first.
    #[default]
    Path,
    /// It loads the libraries of this ABI, wherever the program would look for them: the one for C, and those
    /// for Fortran if the program asks for them.
    Preload(&'static str),
    /// Nothing.
    Off,
}

impl Compat {
    /// What `--compat` allows.
    pub(crate) const ALLOWED: &str = "path, mpich, openmpi or off";

    /// The meaning of a word.
    pub(crate) fn read(word: &str) -> Option<Compat> {
        match word {
            "path" => Some(Compat::Path),
            "off" => Some(Compat::Off),
            _ => Some(Compat::Preload(FOREIGN_LIBRARIES.iter().find(|library| library.abi == word)?.abi)),
        }
    }
}

/// The folder, in an installation that has it.
fn folder() -> Option<PathBuf> {
    let program = env::current_exe().ok()?.canonicalize().ok()?;
    let folder = program.parent()?.parent()?.join("lib/compat");
    folder.is_dir().then_some(folder)
}

/// The loader's variable that leads the ranks of a program to Heddle's libraries, and its value; `otherwise`
/// is what a variable would be without it.
pub(crate) fn variable(
    compat: Compat,
    program: &Path,
    otherwise: impl Fn(&str) -> Option<OsString>,
) -> Option<(&'static str, OsString)> {
    variable_with(compat, program, &folder()?, otherwise)
}

fn variable_with(
    compat: Compat,
    program: &Path,
    folder: &Path,
    otherwise: impl Fn(&str) -> Option<OsString>,
) -> Option<(&'static str, OsString)> {
    let before = |name, first: &OsStr| (name, before(first, otherwise(name).as_deref()));
    match compat {
        Compat::Path => Some(before(SEARCH_PATH, folder.as_os_str())),
        Compat::Preload(abi) => {
            let first = FOREIGN_LIBRARIES.iter().find(|library| library.abi == abi);
            let asked = asked_libraries(program).into_iter().filter(|library| library.abi == abi);
            let others = asked.filter(|library| Some(*library) != first);
            let paths =
                first.into_iter().chain(others).map(|library| folder.join(library.name).into_os_string());
            Some(before(PRELOAD, &paths.collect::<Vec<_>>().join(OsStr::new(":"))))
        }
        Compat::Off => None,
    }
}

/// What there is to say of a program that finds another library all the same.
pub(crate) fn notice(compat: Compat, program: &Path) -> Option<String> {
    folder()?;
    let asked = asked_library(program).filter(|_| compat == Compat::Path)?;
    Some(format!(
        "{} asks for {}, and its RPATH leads to {}: it gets that one; --compat {} gives it Heddle's",
        program.display(),
        asked.library.name,
        asked.from?.join(asked.library.name).display(),
        asked.library.abi
    ))
}

/// A folder or libraries, and behind these those that were there: the loader takes the first.
fn before(first: &OsStr, others: Option<&OsStr>) -> OsString {
    let mut path = first.to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        path.push(":");
        path.push(others);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_comes_before_those_of_the_program() {
        let path = |others: Option<&str>| before(OsStr::new("/here/lib/compat"), others.map(OsStr::new));
        assert_eq!(path(Some("/a:/b")), "/here/lib/compat:/a:/b");
        assert_eq!(path(Some("")), "/here/lib/compat", "an empty entry would be the current folder");
        assert_eq!(path(None), "/here/lib/compat");
    }

    #[test]
    fn each_way_has_its_variable() {
        let variable = |word: &str| {
            variable_with(Compat::read(word).expect(word), Path::new("sh"), Path::new("/compat"), |_| None)
                .map(|(name, value)| (name, value.into_string().expect("text")))
        };
        assert!(
            variable("path").is_some_and(|(name, value)| name == SEARCH_PATH && value.starts_with("/compat"))
        );
        for (abi, library) in [("mpich", "/compat/libmpi.so.12"), ("openmpi", "/compat/libmpi.so.40")] {
            assert!(variable(abi).is_some_and(|(name, value)| name == PRELOAD && value.starts_with(library)));
        }
        assert_eq!(variable("off"), None);
        assert_eq!(Compat::read("preload"), None);
    }
}
