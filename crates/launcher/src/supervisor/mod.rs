//! The event loop of a running job.
//!
//! | phase | until | then |
//! |---|---|---|
//! | `Running` | all ranks have ended, or one has failed, or the launcher was told twice to end | `Leftovers` or `Ending` |
//! | `Ending` | all ranks have ended; those that have not by `kill_at` are killed | `Leftovers` |
//! | `Leftovers` | nothing of the job runs any more and its output is read | `Writing` |
//! | `Writing` | the output is written | over |
//!
//! One thread waits for everything by `poll`: signals (`SIGCHLD` among them), the ranks' output, room in the
//! launcher's output. Some things cannot be waited for and are looked at every [`TICK`]: what
//! ranks say in the control block, whether an MPI process that a wrapper started is still there, and whether
//! a rank has ended without `MPI_Init` while others have called it.

mod phase;
mod phases;
mod pump;
mod report;

use std::sync::Arc;
use std::time::{Duration, Instant};

use heddle_bootstrap::{JobControl, RankState};
use nix::sched::CpuSet;
use nix::sys::eventfd::EventFd;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::guardian::Guardian;
use crate::job_line::Block;
use crate::output::{Health, Sink};
use crate::processes;
use crate::rank::{Common, Ended, Input, Rank};
use crate::signals::{ENDING, Signals};
use crate::verdict::{Failure, Verdict, judge};
use phase::Phase;

/// How often the launcher looks at what it cannot wait for.
const TICK: Duration = Duration::from_millis(250);

/// The exit status of a job that was ended by its time limit, as that of the command `timeout`.
const OUT_OF_TIME: i32 = 124;

/// The launcher's standard output and standard error, which may be one file.
#[derive(Debug)]
pub(crate) struct Sinks {
    out: Sink,
    err: Option<Sink>,
}

impl Sinks {
    /// `err` is absent when both are one file.
    pub(crate) fn new(out: Sink, err: Option<Sink>) -> Self {
        Self { out, err }
    }

    /// Standard error.
    pub(crate) fn err(&mut self) -> &mut Sink {
        self.err.as_mut().unwrap_or(&mut self.out)
    }

    /// Where stream 0 (standard output) or 1 (standard error) of a rank goes.
    fn of(&mut self, stream: usize) -> &mut Sink {
        if stream == 0 { &mut self.out } else { self.err() }
    }

    /// The health of both.
    fn health(&self) -> [Health; 2] {
        let out = self.out.health();
        [out.clone(), self.err.as_ref().map_or(out, Sink::health)]
    }
}

/// A running job.
#[derive(Debug)]
pub(crate) struct Supervisor {
    job: JobControl,
    common: Common,
    signals: Signals,
    guardian: Guardian,
    sinks: Sinks,
    wake: Arc<EventFd>,
    ranks: Vec<Rank>,
    phase: Phase,
    /// The exit status, once the job has failed.
    failed: Option<i32>,
    /// The signal the launcher was told to end by.
    interrupted: Option<Signal>,
    /// Which ranks ended with a code other than 0 after `MPI_Finalize`, and the code.
    late: Vec<(usize, i32)>,
    /// Ranks that have ended and are not judged yet.
    ended: Vec<usize>,
    /// True if children may have ended since they were last looked at.
    children_changed: bool,
    /// When the control block was last looked at.
    looked: Instant,
    /// True if the last wait found nothing to read although it looked at every pipe.
    drained: bool,
    /// When the launcher of an interrupted job goes although its output is not written.
    give_up_at: Option<Instant>,
    /// To end although a killed process is still there or output is not written.
    given_up: bool,
    /// The job's time limit, and when it is over.
    limit: Option<(Duration, Instant)>,
}

impl Supervisor {
    /// A job without ranks.
    pub(crate) fn new(
        job: JobControl,
        common: Common,
        signals: Signals,
        guardian: Guardian,
        (sinks, wake): (Sinks, Arc<EventFd>),
    ) -> Self {
        Self {
            job,
            common,
            signals,
            guardian,
            sinks,
            wake,
            ranks: Vec::new(),
            phase: Phase::Running,
            failed: None,
            interrupted: None,
            late: Vec::new(),
            ended: Vec::new(),
            children_changed: true,
            looked: Instant::now(),
            drained: false,
            give_up_at: None,
            given_up: false,
            limit: None,
        }
    }

    /// Ends the job after that time.
    pub(crate) fn end_after(&mut self, limit: Duration) {
        self.limit = Instant::now().checked_add(limit).map(|end| (limit, end));
    }

    /// Starts the next rank, with block number `appnum` of the command line. If that is impossible the job is
    /// ended, and the answer is false.
    pub(crate) fn start_rank(
        &mut self,
        program: (usize, &Block),
        input: Input,
        place: Option<CpuSet>,
    ) -> bool {
        let rank = self.ranks.len() as u32;
        match Rank::start(&self.common, program, rank, input, place, &self.guardian) {
            Ok(started) => self.ranks.push(started),
            Err(error) => {
                self.say(&format!("cannot start rank {rank}: {error}"));
                self.end(error.status());
                return false;
            }
        }
        true
    }

    /// Runs the job to its end, and returns the launcher's exit status.
    pub(crate) fn run(mut self) -> i32 {
        while !self.is_over() {
            self.pump();
            self.take_signals();
            self.judge_ended();
            self.look_at_children();
            self.look_at_control_block();
            self.look_at_the_clock();
            self.look_at_sinks();
            self.advance();
        }
        // An output may have failed after it was looked at, and so the job was seen to be over.
        self.look_at_sinks();
        self.guardian.dismiss();
        match (self.interrupted, self.failed) {
            (Some(signal), Some(_)) => 128 + signal as i32,
            (_, Some(status)) => status,
            (_, None) => self.late.iter().map(|&(_, code)| code).max().unwrap_or(0),
        }
    }

    fn take_signals(&mut self) {
        while let Some(signal) = self.signals.next() {
            match signal {
                Signal::SIGCHLD => self.children_changed = true,
                signal if ENDING.contains(&signal) => self.interrupt(signal),
                signal => self.pass_on(signal),
            }
        }
    }

    fn pass_on(&self, signal: Signal) {
        for rank in self.ranks.iter().filter(|rank| rank.is_running()) {
            rank.signal(signal);
        }
    }

    /// Sees which ranks have ended.
    fn look_at_children(&mut self) {
        if std::mem::take(&mut self.children_changed) {
            let ended = self
                .ranks
                .iter_mut()
                .enumerate()
                .filter_map(|(index, rank)| rank.has_just_ended().then_some(index));
            self.ended.extend(ended);
        }
    }

    /// Judges the ranks that were seen to have ended one round ago: their last words have been read since.
    fn judge_ended(&mut self) {
        let mut worst: Option<(usize, Failure)> = None;
        for index in std::mem::take(&mut self.ended) {
            let rank = &self.ranks[index];
            let Some(ended) = rank.ended else { continue };
            match judge(ended, &self.job.entry(rank.rank)) {
                Verdict::Well => {}
                Verdict::Late(code) => self.late.push((index, code)),
                Verdict::Failed(failure) => {
                    if worst.as_ref().is_none_or(|(_, known)| failure.telling() > known.telling()) {
                        worst = Some((index, failure));
                    }
                }
            }
        }
        if let Some((index, failure)) = worst {
            let pid = self.ranks[index].group();
            self.fail(index, pid, &failure);
        }
    }

    /// Sees failures that no end of a child shows: a rank that aborts takes its time to end, or its MPI
    /// process is not the process that was started.
    fn look_at_control_block(&mut self) {
        if self.looked.elapsed() < TICK || !matches!(self.phase, Phase::Running) {
            return;
        }
        self.looked = Instant::now();
        self.children_changed = true;
        for index in 0..self.ranks.len() {
            let rank = &mut self.ranks[index];
            let entry = self.job.entry(rank.rank);
            let (true, Some(pid)) = (rank.is_running(), entry.pid) else { continue };
            let pid = Pid::from_raw(pid.cast_signed());
            if let Verdict::Failed(failure @ Failure::Abort { .. }) = judge(Ended::Code(0), &entry) {
                return self.fail(index, pid, &failure);
            }
            if !entry.state.is_in_mpi() || pid == rank.group() {
                continue;
            }
            match (processes::alive(pid), &rank.wrapped) {
                (Some(found), None) => rank.wrapped = Some(found),
                (Some(found), Some(known)) if found.started == known.started => {}
                // It is gone. It may have finalised after the state was read above.
                _ if !self.job.entry(rank.rank).state.is_in_mpi() => {}
                _ => return self.fail(index, pid, &Failure::Vanished),
            }
        }
        self.look_for_absent_ranks();
    }

    /// A rank that has ended well without `MPI_Init` is missed by those that have called it: in
    /// `MPI_Finalize`, if not before. If no rank calls it the job is none of MPI's, or its ranks have only
    /// sessions, which need not concern all ranks; then such an end is fine.
    fn look_for_absent_ranks(&mut self) {
        let state = |rank: &Rank| self.job.entry(rank.rank).state;
        let is_absent = |rank: &Rank| rank.ended == Some(Ended::Code(0)) && state(rank).is_outside();
        let Some(joined) = self.ranks.iter().find(|rank| state(rank) == RankState::Initialised) else {
            return;
        };
        let joined = joined.rank;
        let id = &self.common.job_id;
        let absent = self.ranks.iter().enumerate().find(|(index, rank)| {
            // A rank whose end is not judged yet may still report. A process that the rank has left behind
            // may still join.
            !self.ended.contains(index)
                && is_absent(rank)
                && !processes::has_any_of_rank(id, rank.rank, rank.group())
                && is_absent(rank)
        });
        if let Some((index, rank)) = absent {
            self.fail(index, rank.group(), &Failure::NeverJoined { joined });
        }
    }

    /// A rank has failed: says so, unless that is a consequence of something known, and ends the job.
    fn fail(&mut self, index: usize, pid: Pid, failure: &Failure) {
        if !matches!(self.phase, Phase::Running) {
            return;
        }
        let [out, err] = self.sinks.health();
        let unread = out == Health::NobodyReads || err == Health::NobodyReads;
        match self.interrupted {
            Some(signal) => self.say(&format!("the job was ended by {signal}")),
            None if unread && *failure == Failure::Signal(Signal::SIGPIPE as i32) => {}
            None => self.say_failure(index, pid, failure),
        }
        self.end(failure.status());
    }

    /// Ends a job that has run for too long.
    fn look_at_the_clock(&mut self) {
        let Some((limit, end)) = self.limit else { return };
        if matches!(self.phase, Phase::Running) && end <= Instant::now() {
            self.say_limit(limit);
            self.end(OUT_OF_TIME);
        }
    }

    /// Stops reading what cannot be written.
    fn look_at_sinks(&mut self) {
        let mut failed = None;
        for (stream, health) in self.sinks.health().into_iter().enumerate() {
            if matches!(health, Health::Writing | Health::Done) {
                continue;
            }
            // The ranks see it as they would without a launcher: SIGPIPE, or an error in a write.
            for rank in &mut self.ranks {
                rank.streams[stream] = None;
            }
            if let Health::Failed(why) = health {
                failed = Some((["output", "error"][stream], why));
            }
        }
        if let (Some((name, why)), None) = (failed, self.failed) {
            self.say_directly(&format!("cannot write to standard {name}: {why}; the job is ended"));
            self.failed = Some(1);
            if matches!(self.phase, Phase::Running) {
                self.end(1);
            }
        }
    }
}
