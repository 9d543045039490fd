//! `heddle pages`: manual pages, and completions for shells, made from the tables that the programs read.
//!
//! | file | pages |
//! |---|---|
//! | `launcher` | `mpiexec`, from its table of options |
//! | `wrappers` | `mpicc` and its kin |
//! | `settings` | the environment variables |
//!
//! The command `heddle` describes itself.

mod launcher;
mod settings;
mod wrappers;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_complete::{Shell, generate_to};
use clap_mangen::Man;

/// Options of `heddle pages`.
#[derive(Debug, clap::Args)]
pub(crate) struct PagesArgs {
    /// The folder under which they are laid out, as `share` of an installation has them.
    folder: PathBuf,
}

/// Programs that are the same by another name, and whose page is that of another one.
const OTHER_NAMES: [(&str, &str); 6] = [
    ("mpirun", "mpiexec"),
    ("mpicxx", "mpicc"),
    ("mpic++", "mpicc"),
    ("mpifort", "mpicc"),
    ("mpif77", "mpicc"),
    ("mpif90", "mpicc"),
];

/// Writes all of them.
///
/// # Errors
/// The system's error, if it refuses a file.
pub(crate) fn write<C: CommandFactory>(args: &PagesArgs) -> io::Result<()> {
    let manuals = args.folder.join("man/man1");
    let others = args.folder.join("man/man7");
    for folder in [&manuals, &others] {
        fs::create_dir_all(folder)?;
    }
    clap_mangen::generate_to(C::command().disable_help_subcommand(true), &manuals)?;
    Man::new(launcher::command("mpiexec")).render(&mut File::create(manuals.join("mpiexec.1"))?)?;
    Man::new(wrappers::command()).render(&mut File::create(manuals.join("mpicc.1"))?)?;
    for (name, page) in OTHER_NAMES {
        fs::write(manuals.join(format!("{name}.1")), format!(".so man1/{page}.1\n"))?;
    }
    fs::write(others.join("heddle-settings.7"), settings::page())?;
    for (shell, place) in [
        (Shell::Bash, "bash-completion/completions"),
        (Shell::Zsh, "zsh/site-functions"),
        (Shell::Fish, "fish/vendor_completions.d"),
    ] {
        complete::<C>(shell, &args.folder.join(place))?;
    }
    Ok(())
}

fn complete<C: CommandFactory>(shell: Shell, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    generate_to(shell, &mut C::command(), "heddle", folder)?;
    for name in ["mpiexec", "mpirun"] {
        generate_to(shell, &mut launcher::command(name), name, folder)?;
    }
    // bash looks for a file with the command's own name.
    if shell == Shell::Bash {
        for name in ["heddle", "mpiexec", "mpirun"] {
            fs::rename(folder.join(format!("{name}.bash")), folder.join(name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_launcher::options::TABLE;
    use heddle_settings::Variable;

    #[test]
    fn every_option_and_setting_has_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        write::<crate::Command>(&PagesArgs { folder: folder.path().to_owned() }).expect("pages");
        let read = |path: &str| fs::read_to_string(folder.path().join(path)).expect(path);
        let manual = read("man/man1/mpiexec.1");
        for option in TABLE.iter().filter(|option| option.means.is_done() && !option.help.is_empty()) {
            let name = option.names[0].replace('-', "\\-");
            assert!(manual.contains(&format!("\\-{name}")), "{name}");
        }
        let settings = read("man/man7/heddle-settings.7");
        for variable in Variable::all() {
            assert!(settings.contains(&variable.name().replace('-', "\\-")), "{}", variable.name());
        }
        assert!(read("man/man1/heddle-bench.1").contains("heddle\\-bench"));
        assert_eq!(read("man/man1/mpirun.1"), ".so man1/mpiexec.1\n");
        for place in [
            "bash-completion/completions/mpirun",
            "zsh/site-functions/_mpiexec",
            "fish/vendor_completions.d/heddle.fish",
        ] {
            assert!(!read(place).is_empty());
        }
        assert!(read("bash-completion/completions/mpiexec").contains("--report-bindings"));
    }
}
