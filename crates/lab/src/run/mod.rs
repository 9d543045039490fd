//! Runs a command with its programs on a machine: the supervisor.
//!
//! It holds the token when nobody on the machine can run, and each 50 us while a thread waits for something outside. Then it waits
//! until everything outside sleeps, lets new processes in, and has those that wait look.

mod outside;
mod start;

pub use start::{Places, RANK_VARIABLES, find_program, is_launcher};

use crate::machine::Machine;
use crate::world::{Counts, Layout, Mapping, SUPERVISOR, State, World};
use outside::Outside;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How long the supervisor rests while others have to run: they are on its core.
const REST: Duration = Duration::from_micros(200);

/// How often the supervisor looks whether the holder of the token still lives.
const WATCH: Duration = Duration::from_millis(100);

/// What to run, and where.
#[derive(Clone, Debug)]
pub struct Plan {
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
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
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
}

/// Runs the plan's command; programs that it starts are on the machine.
///
/// # Errors
///
/// When memory, the folder or the command are not to be had.
pub fn run(plan: &Plan) -> io::Result<Outcome> {
    let began = Instant::now();
    let file = memory()?;
    let mapping = Mapping::new(Some(&file))?;
    // SAFETY: this process is the supervisor, which holds the token from the beginning; `Supervisor` gives it up while it waits.
    let world = unsafe { &mut *mapping.world() };
    world.begin(Layout::of(&plan.machine), plan.machine.costs, plan.seed);
    nix::sys::prctl::set_child_subreaper(true)?;
    let mut supervisor = Supervisor { world, child: start(plan, &file)?, outside: Outside::default() };
    let status = supervisor.go_on_to_the_end()?;
    let world = supervisor.world;
    Ok(Outcome {
        status,
        time: world.now,
        counts: world.total,
        passes: world.passes,
        evictions: world.evictions,
        wall: began.elapsed(),
    })
}

/// A file without a name for the machine's memory: it goes with the last process that has it.
fn memory() -> io::Result<File> {
    let file = File::from(nix::sys::memfd::memfd_create(c"heddle-lab", nix::sys::memfd::MFdFlags::MFD_CLOEXEC)?);
    file.set_len(Mapping::BYTES as u64)?;
    Ok(file)
}

fn start(plan: &Plan, memory: &File) -> io::Result<Child> {
    use std::os::fd::AsRawFd;
    let places = Places {
        qemu: plan.qemu.clone(),
        plugin: plan.plugin.clone(),
        tree: plan.tree.clone(),
        world: format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd()).into(),
        seed: plan.seed,
    };
    let missing = |what: &str| io::Error::new(io::ErrorKind::NotFound, what.to_owned());
    let name = plan.command.first().ok_or_else(|| missing("no program was named"))?;
    let path = std::env::var_os("PATH");
    let program =
        find_program(name, path.as_deref()).ok_or_else(|| missing(&format!("there is no program {}", name.display())))?;
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
    command.envs(places.variables()).env("HWLOC_SYNTHETIC", plan.machine.hwloc_synthetic()).env("HWLOC_THISSYSTEM", "1");
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
    world: &'a mut World,
    child: Child,
    outside: Outside,
}

impl Supervisor<'_> {
    fn go_on_to_the_end(&mut self) -> io::Result<ExitStatus> {
        loop {
            let ended = self.child.try_wait()?;
            self.settle();
            self.bury();
            self.admit();
            self.ask();
            let world = &mut *self.world;
            let earliest = world.earliest().map_or(0, |(_, clock)| clock);
            world.asked = world.asked.max(world.now).max(earliest);
            if world.let_run() {
                self.wait_for_token();
                continue;
            }
            if let Some(status) = ended {
                return Ok(status);
            }
            std::thread::sleep(REST);
        }
    }

    /// Waits until the token comes back. The token of a process that was killed is taken from it.
    fn wait_for_token(&mut self) {
        while !self.world.token.wait_for(SUPERVISOR, WATCH) {
            let holder = self.world.token.holder();
            if holder == SUPERVISOR {
                continue;
            }
            let pid = self.world.slots[holder as usize].pid;
            if outside::is_gone(pid) {
                self.world.end_process(pid);
                self.world.token.give_to(SUPERVISOR);
                return;
            }
        }
    }

    /// Waits until all processes outside sleep.
    fn settle(&mut self) {
        loop {
            let inside = self.inside();
            if self.outside.is_still(&inside) {
                return;
            }
            std::thread::sleep(REST);
        }
    }

    /// The processes on the machine, and those that wait to be let in.
    fn inside(&self) -> HashSet<i32> {
        let slots = &self.world.slots[..self.world.used as usize];
        let lived = slots.iter().filter(|slot| slot.state != State::Free).map(|slot| slot.pid);
        lived.chain(self.world.arrivals.waiting().iter().map(|(pid, _)| pid.cast_signed())).collect()
    }

    /// Threads of processes that were killed are no longer there.
    fn bury(&mut self) {
        for pid in self.inside() {
            if outside::is_gone(pid) {
                self.world.end_process(pid);
            }
        }
    }

    /// Lets new processes in. Those that come together share the cores among them.
    fn admit(&mut self) {
        let world = &mut *self.world;
        let (first, cores) = (world.processes, u64::from(world.layout.cores));
        let waiting: Vec<u32> = world.arrivals.waiting().iter().map(|(pid, _)| *pid).collect();
        for (index, pid) in waiting.iter().enumerate() {
            let core = index as u64 * cores / waiting.len() as u64;
            let slot = world.begin_thread(first + index as u32, pid.cast_signed(), core as u32, world.now);
            world.processes += 1;
            for (number, arrival) in world.arrivals.waiting() {
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
    fn ask(&mut self) {
        for slot in 0..self.world.used {
            if self.world.slots[slot as usize].state == State::Outside {
                self.world.ask(slot);
                self.wait_for_token();
            }
        }
        self.world.end_asking();
    }
}

