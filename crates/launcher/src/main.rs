//! `mpiexec`: starts the ranks of a job on one machine, passes on their input and
//! output, and ends them together. A job on other machines is handed over to another launcher.
//!
//! It uses `heddle-bootstrap`, which says what the ranks find in their environment and in the job's memory.
//!
//! | file | what it knows |
//! |---|---|
//! | `options` (`lib.rs`) | all options: what they take, mean, and who else has them |
//! | `command_line` | MPI's syntax for starting a job |
//! | `job_line` | a job as a command line describes it |
//! | `standard_options` | the values of the options that MPI names besides the number of ranks |
//! | `slurm` | values of options in the words of srun |
//! | `config_file` | a command line in a file |
//! | `hosts` | the machines of a job, from a list or a file |
//! | `hand_over` | jobs on other machines, which an installed launcher starts |
//! | `front` | the process that the user started, and the terminal; the launcher is its child |
//! | `start` | from a command line to running ranks |
//! | `rank` | one rank's process: start, signals, end |
//! | `compat` | where ranks of other ABIs find their library |
//! | `supervisor` | the event loop; the phases of a job |
//! | `verdict` | whether a rank's end is a failure, and how to say so |
//! | `leftovers` | what ranks have left running |
//! | `guardian` | ends the job when the launcher is killed |
//! | `processes` | a job's processes in `/proc` |
//! | `activity` | what a process is doing |
//! | `output`, `terminal_input` | lines out, keys in |
//! | `redirect` | files for the output of ranks, and who reads the input |
//! | `placement` | cores for ranks |
//! | `signals` | signals as events, and in words |

mod activity;
mod command_line;
mod compat;
mod config_file;
mod front;
mod guardian;
mod hand_over;
mod hosts;
mod job_line;
mod leftovers;
mod output;
mod placement;
mod processes;
mod rank;
mod redirect;
mod signals;
mod slurm;
mod standard_options;
mod start;
mod supervisor;
mod terminal_input;
mod verdict;

use std::fmt::Display;
use std::io::{self, Write};
use std::process::exit;

use command_line::Request;
use front::Side;

fn main() {
    let mut arguments = std::env::args_os();
    if arguments.next().is_some_and(|name| name == guardian::NAME) {
        return guardian::main(arguments.filter_map(|argument| argument.into_string().ok()));
    }
    let job = match command_line::parse(arguments) {
        Ok(Request::Help) => say_and_exit(&command_line::help()),
        Ok(Request::HelpAll) => say_and_exit(&heddle_launcher::options::listed()),
        Ok(Request::Version) => say_and_exit(concat!("mpiexec (Heddle) ", env!("CARGO_PKG_VERSION"), "\n")),
        Ok(Request::Run(job)) => job,
        Err(error) => {
            let _ = writeln!(io::stderr(), "mpiexec: {error}\nTry 'mpiexec --help'.");
            exit(2)
        }
    };
    if let Err(error) = hand_over::if_elsewhere(&job) {
        fail(error)
    }
    match front::divide() {
        Ok(Side::Front(front)) => front.run(),
        Ok(Side::Launcher(input)) => match start::start(&job, input) {
            Ok(supervisor) => exit(supervisor.run()),
            Err(error) => fail(error),
        },
        Err(error) => fail(format_args!("starting the launcher: {error}")),
    }
}

fn fail(error: impl Display) -> ! {
    let _ = writeln!(io::stderr(), "mpiexec: {error}");
    exit(1)
}

fn say_and_exit(text: &str) -> ! {
    let written = io::stdout().write_all(text.as_bytes());
    exit(i32::from(written.is_err()))
}
