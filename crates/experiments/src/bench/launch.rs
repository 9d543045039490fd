//! Runs one launch of the benchmark with a time limit, interruptible, without leaving anything behind: on
//! this machine, or on one of the lab.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::case::{Case, Effort};
use super::graph500;
use super::library::Library;
use super::record::Line;
use super::remains::Remains;
use super::subject::Subject;
use super::sweep;
use crate::error::{BenchError, tail};
use crate::harness::interrupts::Interrupts;
use crate::harness::lab::Lab;
use crate::harness::load::{Load, LoadMeter};

/// Time for a launcher to end its ranks after SIGTERM, and for everything to vanish after SIGKILL.
const GRACE: Duration = Duration::from_secs(3);

/// The events that the launcher of runs waits for.
enum Event {
    /// The child of this number ended.
    Ended(u64, io::Result<Output>),
    /// Ctrl-C or SIGTERM.
    Interrupted,
}

/// The end of a launch.
#[derive(Debug)]
pub(crate) enum Ending {
    /// By itself, with success.
    Success,
    /// By itself, without success: how it ended, and its output.
    Failure(String),
    /// It was ended because it took too long.
    TimedOut,
    /// The user interrupted.
    Interrupted,
}

/// A launch that is over.
#[derive(Debug)]
pub(crate) struct Run {
    /// How it ended.
    pub(crate) ending: Ending,
    /// The results it printed until then.
    pub(crate) lines: Vec<Line>,
    /// The load by other programs meanwhile.
    pub(crate) load: Load,
}

/// A command that is over.
#[derive(Debug)]
pub(crate) struct Finished {
    /// How it ended.
    pub(crate) ending: Ending,
    /// Its output until then.
    pub(crate) output: String,
    /// The load by other programs meanwhile.
    pub(crate) load: Load,
}

/// Runs launches one after the other.
#[derive(Debug)]
pub(crate) struct Runner {
    events: Receiver<Event>,
    to_events: Sender<Event>,
    interrupts: Interrupts,
    number: u64,
    limit: Duration,
    lab: Option<Lab>,
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ended(number, _) => write!(f, "Ended({number})"),
            Self::Interrupted => write!(f, "Interrupted"),
        }
    }
}

impl Runner {
    /// A runner whose launches may take `limit` each, here or on a machine of the lab; takes over Ctrl-C.
    ///
    /// # Errors
    ///
    /// If the handler of Ctrl-C cannot be set.
    pub(crate) fn new(limit: Duration, lab: Option<Lab>) -> Result<Self, BenchError> {
        let (to_events, events) = channel();
        let to_handler = to_events.clone();
        let interrupts = Interrupts::take_over(move || {
            // The receiver is gone only when the program is about to end anyway.
            let _ = to_handler.send(Event::Interrupted);
        })?;
        Ok(Self { events, to_events, interrupts, number: 0, limit, lab })
    }

    /// The user's interruptions.
    pub(crate) fn interrupts(&self) -> &Interrupts {
        &self.interrupts
    }

    /// Launches `program` for `case` and waits until it is over. In the lab, `seed` moves the starts of
    /// threads.
    ///
    /// # Errors
    ///
    /// If the launcher cannot be started.
    pub(crate) fn run(
        &mut self,
        library: &Library,
        program: &Path,
        case: &Case,
        effort: &Effort,
        seed: u64,
    ) -> Result<Run, BenchError> {
        let mut command = self.command(&library.mpiexec, seed);
        command
            .args(&library.launch_arguments)
            .args(["-n", &case.ranks.to_string()])
            .arg(program)
            .args(arguments(library, case, effort, self.lab.is_some()))
            .envs(library.environment_of(case));
        if case.subject == Subject::Startup {
            command.args(["--launched", &monotonic_ns().to_string()]);
        }
        let Finished { ending, output, load } = self.finish(command)?;
        let lines = match case.subject {
            Subject::Graph500 => graph500::line(&output).into_iter().collect(),
            Subject::Sweep => sweep::line(&output, case.op).into_iter().collect(),
            _ => Line::parse_all(&output),
        };
        Ok(Run { ending, lines, load })
    }

    /// The lab, if launches are there.
    pub(crate) fn lab(&self) -> Option<&Lab> {
        self.lab.as_ref()
    }

    /// `program`, here or in the lab; its arguments are still to be added.
    pub(crate) fn command(&self, program: &Path, seed: u64) -> Command {
        match &self.lab {
            Some(lab) => lab.command(program, seed),
            None => Command::new(program),
        }
    }

    /// Runs a command until it is over.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub(crate) fn finish(&mut self, mut command: Command) -> Result<Finished, BenchError> {
        self.number += 1;
        let remains = Remains::watch(self.number);
        command
            .env(remains.variable(), remains.mark())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let load = LoadMeter::start();
        let child = command.spawn().map_err(|source| BenchError::Start {
            program: command.get_program().display().to_string(),
            source,
            hint: "",
        })?;
        let group = Pid::from_raw(child.id().cast_signed());
        let (number, to_events) = (self.number, self.to_events.clone());
        thread::spawn(move || {
            // Sending fails only if the run is over, and then the result is not needed.
            let _ = to_events.send(Event::Ended(number, child.wait_with_output()));
        });

        let mut cut_short = None;
        let output = match self.wait(number, self.limit) {
            Waited::Ended(output) => Some(output),
            Waited::TimedOut => {
                cut_short = Some(Ending::TimedOut);
                self.end(number, group, &remains)
            }
            Waited::Interrupted => {
                cut_short = Some(Ending::Interrupted);
                self.end(number, group, &remains)
            }
        };
        if output.is_some() {
            remains.reap();
        }
        // Nothing disturbs virtual time.
        let load = if self.lab.is_some() { Load::default() } else { load.finish() };
        remains.remove();

        let (output, ending) = match output {
            Some(Ok(output)) => {
                let ending = if output.status.success() {
                    Ending::Success
                } else {
                    Ending::Failure(format!("{}: {}", output.status, tail(&output.stderr)))
                };
                (String::from_utf8_lossy(&output.stdout).into_owned(), ending)
            }
            Some(Err(error)) => {
                (String::new(), Ending::Failure(format!("its output could not be read: {error}")))
            }
            None => (String::new(), Ending::Failure("it did not end when it was killed".to_owned())),
        };
        Ok(Finished { ending: cut_short.unwrap_or(ending), output, load })
    }

    /// Ends the launch: asks the launcher to end, then kills the processes that are left.
    fn end(&self, number: u64, group: Pid, remains: &Remains) -> Option<io::Result<Output>> {
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            // The group may be gone already.
            let _ = killpg(group, signal);
            if signal == Signal::SIGKILL {
                remains.kill();
            }
            let until = Instant::now() + GRACE;
            loop {
                match self.wait(number, until.saturating_duration_since(Instant::now())) {
                    Waited::Ended(output) => {
                        remains.kill();
                        return Some(output);
                    }
                    Waited::TimedOut => break,
                    // It is being ended already.
                    Waited::Interrupted => {}
                }
            }
        }
        None
    }

    fn wait(&self, number: u64, limit: Duration) -> Waited {
        let until = Instant::now() + limit;
        loop {
            match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Ended(ended, output)) if ended == number => return Waited::Ended(output),
                // An earlier child that outlived its killing.
                Ok(Event::Ended(..)) => {}
                Ok(Event::Interrupted) => return Waited::Interrupted,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Waited::TimedOut,
            }
        }
    }
}

/// The program's command line. The probe of the machine's speed has no use where that is `simulated`.
fn arguments(library: &Library, case: &Case, effort: &Effort, simulated: bool) -> Vec<String> {
    match case.subject {
        Subject::Graph500 => return graph500::arguments(case, effort),
        Subject::Sweep => return sweep::arguments(case, effort),
        _ => {}
    }
    let lengths = [
        ("--reps", effort.reps.to_string()),
        ("--seconds", case.seconds(effort.seconds).to_string()),
        ("--warm", effort.warm.to_string()),
    ];
    let mut arguments = case.arguments();
    arguments.extend(library.program_arguments.iter().cloned());
    arguments.extend(lengths.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
    arguments.extend(simulated.then(|| "--no-probe".to_owned()));
    arguments
}

/// The event that came first.
enum Waited {
    Ended(io::Result<Output>),
    TimedOut,
    Interrupted,
}

/// The clock that the C program reads too.
fn monotonic_ns() -> i64 {
    heddle_platform::clock::now_ns().cast_signed()
}
