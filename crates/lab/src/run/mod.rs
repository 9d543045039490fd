//! Runs a command with its programs on a machine: the supervisor.
//!
//! It holds the token when nobody on the machine can run, and each 50 us while a thread waits for something
//! outside. Then it waits until everything outside sleeps, lets new processes in, and has those that wait
//! look.

mod hot;
mod outside;
mod start;
mod symbols;

pub use hot::{HotMemory, HotReport};
pub use start::{Places, RANK_VARIABLES, find_program, is_launcher};

use crate::machine::Machine;
use crate::shared::{CoreLayout, Counts, LabMemory, SUPERVISOR, SharedLab, State};
use heddle_platform::atomic::{AtomicBool, Ordering};
use outside::Outside;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the supervisor rests while others have to run: they are on its core.
const REST: Duration = Duration::from_micros(200);

/// How often the supervisor looks whether the holder of the token still lives.
const WATCH: Duration = Duration::from_millis(100);

/// A command, and the machine that it runs on.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// The machine.
    pub machine: Machine,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Moves the starts of threads.
    pub seed: u64,
    /// Where `qemu-x86_64` is.
    pub qemu: PathBuf,
    /// Where the plugin is.
    pub plugin: PathBuf,
    /// The host's core on which all of it runs.
    pub host_core: usize,
    /// A folder for what programs see of the machine.
    pub tree: PathBuf,
    /// How many lines and functions the report has; 0: there is none.
    pub hot: usize,
    /// Set by the user who wants no more: all that runs is killed.
    pub stop: Arc<AtomicBool>,
}

/// The end of a run.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// How the command ended.
    pub status: ExitStatus,
    /// Virtual picoseconds.
    pub time: u64,
    /// What all threads did.
    pub counts: Counts,
    /// Hand-overs between threads.
    pub passes: u64,
    /// Lines that the directory forgot.
    pub evictions: u64,
    /// Real time.
    pub wall: Duration,
    /// Where the time went, if that was asked for.
    pub report: Option<HotReport>,
}

/// Runs the plan's command; programs that it starts are on the machine.
///
/// # Errors
///
/// When memory, the folder or the command are not to be had, or the user has stopped it.
pub fn run(plan: &RunPlan) -> io::Result<RunOutcome> {
    let began = Instant::now();
    let file = memory()?;
    let mapping = LabMemory::new(Some(&file))?;
    // SAFETY: this process is the supervisor, which holds the token from the beginning; `Supervisor` gives
    // it up while it waits.
    let lab = unsafe { &mut *mapping.lab() };
    lab.begin(CoreLayout::of(&plan.machine), plan.machine.costs, plan.seed);
    lab.report_wanted = u32::from(plan.hot > 0);
    // The whole run, unless the program says what it wants to have counted.
    lab.begin_interval();
    nix::sys::prctl::set_child_subreaper(true)?;
    let mut supervisor =
        Supervisor { lab, child: start(plan, &file)?, outside: Outside::default(), stop: &plan.stop };
    let ended = supervisor.go_on_to_the_end();
    outside::kill_descendants();
    let status = ended?;
    let lab = supervisor.lab;
    Ok(RunOutcome {
        status,
        time: lab.now,
        counts: lab.total,
        passes: lab.passes,
        evictions: lab.evictions,
        wall: began.elapsed(),
        report: (plan.hot > 0).then(|| HotReport::of(lab, &plan.tree, plan.hot)),
    })
}

/// A file without a name for the machine's memory: it goes with the last process that has it.
fn memory() -> io::Result<File> {
    let file =
        File::from(nix::sys::memfd::memfd_create(c"heddle-lab", nix::sys::memfd::MFdFlags::MFD_CLOEXEC)?);
    file.set_len(LabMemory::BYTES as u64)?;
    Ok(file)
}

fn start(plan: &RunPlan, memory: &File) -> io::Result<Child> {
    use std::os::fd::AsRawFd;
    let places = Places {
        qemu: plan.qemu.clone(),
        plugin: plan.plugin.clone(),
        tree: plan.tree.clone(),
        lab: format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd()).into(),
        seed: plan.seed,
    };
    let missing = |what: &str| io::Error::new(io::ErrorKind::NotFound, what.to_owned());
    let name = plan.command.first().ok_or_else(|| missing("no program was named"))?;
    let path = std::env::var_os("PATH");
    let program = find_program(name, path.as_deref())
        .ok_or_else(|| missing(&format!("there is no program {}", name.display())))?;
    let mut command = if is_launcher(&program) {
        let mut command = Command::new(program);
        command.args(&plan.command[1..]).env("LD_PRELOAD", &plan.plugin);
        command
    } else {
        let line = places.command(&program, &plan.command);
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]);
        command
    };
    command
        .envs(places.variables())
        .env("HWLOC_SYNTHETIC", plan.machine.hwloc_synthetic())
        .env("HWLOC_THISSYSTEM", "1");
    let core = plan.host_core;
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(move || {
            nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
            nix::sys::personality::set(nix::sys::personality::Persona::ADDR_NO_RANDOMIZE)?;
            let mut cores = nix::sched::CpuSet::new();
            cores.set(core)?;
            nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), &cores)?;
            Ok(())
        });
    }
    let mut cores = nix::sched::CpuSet::new();
    cores.set(core)?;
    nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), &cores)?;
    command.spawn()
}

struct Supervisor<'a> {
    lab: &'a mut SharedLab,
    child: Child,
    outside: Outside,
    stop: &'a AtomicBool,
}

impl Supervisor<'_> {
    fn go_on_to_the_end(&mut self) -> io::Result<ExitStatus> {
        loop {
            let ended = self.child.try_wait()?;
            self.settle()?;
            self.lab.stirred = 0;
            self.bury();
            self.admit();
            self.ask()?;
            let lab = &mut *self.lab;
            let earliest = lab.earliest().map_or(0, |(_, clock)| clock);
            lab.asked = lab.asked.max(lab.now).max(earliest);
            if lab.let_run() {
                self.wait_for_token()?;
                continue;
            }
            if let Some(status) = ended {
                return Ok(status);
            }
            self.check_stop()?;
            std::thread::sleep(REST);
        }
    }

    /// Waits until the token comes back. The token of a process that was killed is taken from it.
    fn wait_for_token(&mut self) -> io::Result<()> {
        while !self.lab.token.wait_for(SUPERVISOR, WATCH) {
            self.check_stop()?;
            let holder = self.lab.token.holder();
            if holder == SUPERVISOR {
                continue;
            }
            let pid = self.lab.slots[holder as usize].pid;
            if outside::is_gone(pid) {
                self.lab.end_process(pid);
                self.lab.token.give_to(SUPERVISOR);
                break;
            }
        }
        Ok(())
    }

    fn check_stop(&self) -> io::Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            Err(io::Error::new(io::ErrorKind::Interrupted, "stopped"))
        } else {
            Ok(())
        }
    }

    /// Waits until all processes outside sleep.
    fn settle(&mut self) -> io::Result<()> {
        loop {
            self.check_stop()?;
            let inside = self.inside();
            if self.outside.is_still(&inside) {
                return Ok(());
            }
            std::thread::sleep(REST);
        }
    }

    /// The processes on the machine, and those that wait to be let in.
    fn inside(&self) -> HashSet<i32> {
        let slots = &self.lab.slots[..self.lab.used as usize];
        let lived = slots.iter().filter(|slot| slot.state != State::Free).map(|slot| slot.pid);
        lived.chain(self.lab.new_processes.waiting().iter().map(|(pid, _)| pid.cast_signed())).collect()
    }

    /// Threads of processes that were killed are no longer there.
    fn bury(&mut self) {
        for pid in self.inside() {
            if outside::is_gone(pid) {
                self.lab.end_process(pid);
            }
        }
    }

    /// Lets new processes in. Those that come together share the cores among them.
    fn admit(&mut self) {
        let lab = &mut *self.lab;
        let (first, cores) = (lab.processes, u64::from(lab.layout.cores));
        let waiting: Vec<u32> = lab.new_processes.waiting().iter().map(|(pid, _)| *pid).collect();
        for (index, pid) in waiting.iter().enumerate() {
            let core = index as u64 * cores / waiting.len() as u64;
            let slot = lab.begin_thread(first + index as u32, pid.cast_signed(), core as u32, lab.now);
            lab.processes += 1;
            for (number, arrival) in lab.new_processes.waiting() {
                if number == *pid {
                    arrival.admit(slot.expect("a slot is free for each process"));
                }
            }
        }
        if !waiting.is_empty() {
            self.outside.forget();
        }
    }

    /// Has each look that waits for something outside.
    fn ask(&mut self) -> io::Result<()> {
        for slot in 0..self.lab.used {
            if self.lab.slots[slot as usize].state == State::Outside {
                self.lab.ask(slot);
                self.wait_for_token()?;
            }
        }
        self.lab.end_asking();
        Ok(())
    }
}
