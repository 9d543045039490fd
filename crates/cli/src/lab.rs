//! `heddle lab`: any MPI program on a machine of many cores, in virtual time.

use clap::Args;
use heddle_experiments::papers::{ValidationArgs, validate};
use heddle_lab::machine::{Machine, tree};
use heddle_lab::run::{RunOutcome, RunPlan, run};
use heddle_platform::atomic::{AtomicBool, Ordering};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// A command, and the machine that it runs on.
#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    /// A size, SOCKETSxCORES; a name, such as haswell-88; or a file that describes it.
    #[arg(required_unless_present = "validate", conflicts_with_all = ["validate", "rounds", "no_peers", "PlaceArgs"])]
    machine: Option<String>,
    /// Moves the starts of threads.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Says where the time went: so many lines of memory that threads fought over, and functions of each
    /// process.
    #[arg(long, default_value_t = 0, value_name = "LINES", conflicts_with = "validate")]
    hot: usize,
    /// The core of this host on which all of it runs.
    #[arg(long)]
    host_core: Option<usize>,
    /// The program, or the launcher that starts it, and its arguments.
    #[arg(last = true, required_unless_present = "validate", conflicts_with = "validate")]
    command: Vec<OsString>,
    #[command(flatten, next_help_heading = "Validation")]
    validation: ValidationArgs,
}

/// Runs the command, or the validation; the exit code.
///
/// # Errors
///
/// When the machine is not described, qemu or the plugin are missing, or the program is.
pub(crate) fn run_lab(args: &LabArgs) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let Some(machine) = &args.machine else {
        return Ok(validate(&args.validation, args.seed, args.host_core)?);
    };
    let machine = Machine::parse(machine)?;
    // In memory: on a disk the many small files of a large machine take seconds.
    let folder = tempfile::Builder::new()
        .prefix("heddle-lab.")
        .tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())?;
    tree::write(&machine, folder.path())?;
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    ctrlc::set_handler(move || asked.store(true, Ordering::Relaxed))?;
    let plan = RunPlan {
        machine,
        command: args.command.clone(),
        seed: args.seed,
        qemu: find_qemu()?,
        plugin: find_plugin()?,
        host_core: args.host_core.map_or_else(last_core, Ok)?,
        tree: folder.path().to_owned(),
        hot: args.hot,
        stop,
    };
    let outcome = run(&plan)?;
    report(&outcome);
    if let Some(hot) = &outcome.report {
        eprint!("{hot}");
    }
    let code = outcome.status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn find_qemu() -> io::Result<PathBuf> {
    let path = std::env::var_os("PATH");
    heddle_lab::run::find_program("qemu-x86_64".as_ref(), path.as_deref()).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "there is no qemu-x86_64: install the package qemu-user (version 7.2, of Debian 12)",
        )
    })
}

/// The plugin: in `lib/heddle` of the installation, or beside this program where cargo has built both.
fn find_plugin() -> io::Result<PathBuf> {
    const NAME: &str = "libheddle_lab_plugin.so";
    let program = std::env::current_exe()?;
    let folder = program.parent().unwrap_or(Path::new("."));
    let places = [folder.join("../lib/heddle").join(NAME), folder.join(NAME)];
    let found = places.iter().find(|place| place.exists());
    let missing = || {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("there is no {}: tools/stage.sh puts it there", places[0].display()),
        )
    };
    found.ok_or_else(missing)?.canonicalize()
}

/// The last core that this process may use: others begin with the first.
fn last_core() -> io::Result<usize> {
    let cores = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0))?;
    let all = 0..nix::sched::CpuSet::count();
    all.rev()
        .find(|core| cores.is_set(*core).unwrap_or(false))
        .ok_or_else(|| io::Error::other("this process may use no core"))
}

fn report(outcome: &RunOutcome) {
    let counts = &outcome.counts;
    let wall = outcome.wall.as_secs_f64();
    eprintln!(
        "heddle lab: {:.3} ms of the machine's time, {:.1} M instructions, {} transfers of lines, {} sleeps; {wall:.1} s here, \
         {:.0} M instructions per second, {} hand-overs",
        outcome.time as f64 / 1e9,
        counts.instructions as f64 / 1e6,
        counts.moved,
        counts.sleeps,
        counts.instructions as f64 / 1e6 / wall,
        outcome.passes,
    );
    if outcome.evictions > 0 {
        eprintln!(
            "heddle lab: {} lines were forgotten: the program uses more memory than the lab can follow",
            outcome.evictions
        );
    }
}

#[cfg(test)]
mod tests {
    use super::LabArgs;
    use clap::{Args, Command, FromArgMatches};

    fn parsed(arguments: &str) -> Option<LabArgs> {
        let command = LabArgs::augment_args(Command::new("lab").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments.split(' ')).ok()?;
        LabArgs::from_arg_matches(&matches).ok()
    }

    #[test]
    fn a_command_runs_on_a_machine_and_the_validation_has_its_own() {
        let lab = parsed("--hot 3 xeon-16 -- true").expect("a machine and a command");
        assert!(lab.machine.as_deref() == Some("xeon-16") && lab.command == ["true"]);
        assert!(
            parsed("--validate --rounds 2 --seed 4 --peers-dir a").is_some_and(|lab| lab.machine.is_none())
        );
        for wrong in ["xeon-16", "--seed 2", "--validate xeon-16", "--validate --hot 2", "--validate -- true"]
        {
            assert!(parsed(wrong).is_none(), "{wrong}");
        }
        for option in ["--rounds 2", "--no-peers", "--prefix a", "--sources a", "--peers-dir a"] {
            let text = format!("{option} xeon-16 -- true");
            assert!(parsed(&text).is_none(), "{text}");
        }
    }
}
