//! The table of options. A row's order is the help's.

use super::option::Inherit::{All, Listed, Nothing as NoVariables};
use super::option::OptionScope::{Block, Job};
use super::option::Takes::{Nothing, One, Two};
use super::option::{LaunchOption, OptionEffect, Takes};

const fn row(
    names: &'static [&'static str],
    takes: Takes,
    means: OptionEffect,
    of: &'static str,
    help: &'static str,
) -> LaunchOption {
    LaunchOption { names, takes, means, of, help }
}

const FILE: Takes = One("FILE", "a file");
const NUMBER: Takes = One("N", "a number");
const WORD: Takes = One("VALUE", "a value");
const PAIR: Takes = Two("NAME", "VALUE");
const NAMES: Takes = One("NAMES", "names of variables, separated by commas");

/// Every option; see [`super`].
pub const TABLE: &[LaunchOption] = &[
    // For the block they stand in.
    row(
        &["n", "np", "c", "ntasks"],
        One("N", "the number of ranks"),
        OptionEffect::Ranks,
        "shior",
        "start N ranks of the program (1 if not given)",
    ),
    row(&["env"], PAIR, OptionEffect::Variable, "hi", "set an environment variable"),
    row(
        &["envnone"],
        Nothing,
        OptionEffect::Inherit(NoVariables, Block),
        "hi",
        "let the ranks inherit no variable but those of Heddle",
    ),
    row(
        &["envlist"],
        NAMES,
        OptionEffect::Inherit(Listed, Block),
        "hi",
        "let them inherit these alone, separated by commas",
    ),
    row(&["envall"], Nothing, OptionEffect::Inherit(All, Block), "hi", ""),
    row(
        &["wdir", "wd", "chdir", "D"],
        One("DIR", "a directory"),
        OptionEffect::Directory,
        "shior",
        "start in this directory",
    ),
    row(
        &["path"],
        One("DIRS", "directories"),
        OptionEffect::Path,
        "shio",
        "look for the program in these directories, separated by colons, before PATH",
    ),
    row(
        &["compat"],
        One("HOW", "a way"),
        OptionEffect::Compat,
        "",
        "how a program that was compiled for another library finds Heddle: path (the loader looks into\n\
         Heddle's folder first; the default), mpich or openmpi (the library of that ABI is preloaded,\n\
         which an RPATH of the program cannot prevent), off",
    ),
    row(
        &["soft"],
        One("SET", "numbers of ranks"),
        OptionEffect::Soft,
        "s",
        "the allowed numbers of ranks, as 1,4,8:64:8: start the largest of them that is at most N",
    ),
    row(
        &["arch"],
        One("NAME", "the name of an architecture"),
        OptionEffect::Architecture,
        "s",
        "run on this architecture: an error if the machine has another one",
    ),
    row(
        &["initial-errhandler"],
        One("NAME", "the name of an error handler"),
        OptionEffect::ErrorHandler,
        "so",
        "the error handler at the start: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return",
    ),
    row(
        &["memory-alloc-kinds"],
        One("LIST", "kinds of memory"),
        OptionEffect::MemoryKinds,
        "so",
        "kinds of memory that the program will use, as system,mpi:alloc_mem",
    ),
    // For the whole job: its environment.
    row(&["genv"], PAIR, OptionEffect::GlobalVariable, "hi", "set an environment variable in every block"),
    row(
        &["x"],
        One("NAME[=VALUE]", "the name of a variable"),
        OptionEffect::Export,
        "o",
        "the same, as in Open MPI",
    ),
    row(&["genvnone"], Nothing, OptionEffect::Inherit(NoVariables, Job), "hi", "-envnone in every block"),
    row(&["genvlist"], NAMES, OptionEffect::Inherit(Listed, Job), "hi", "-envlist in every block"),
    row(&["genvall"], Nothing, OptionEffect::Inherit(All, Job), "hi", ""),
    // Machines.
    row(
        &["hosts", "host", "H", "nodelist", "w"],
        One("LIST", "names of machines"),
        OptionEffect::HostList,
        "shior",
        "run on these machines: names or addresses, separated by commas, each with the number of its\n\
         ranks if it is not 1 (first:4,second:4). If there are more ranks, each gets proportionally more.\n\
         The first of these launchers in PATH starts them: prterun (PRRTE, which comes with\n\
         Open MPI 5), mpiexec.hydra (MPICH). This machine alone needs no launcher.",
    ),
    row(
        &["hostfile", "machinefile", "file", "f", "default-hostfile"],
        FILE,
        OptionEffect::HostFile,
        "shio",
        "the same from a file with a machine on each line: NAME, NAME:4 or NAME slots=4; # begins\na comment",
    ),
    row(
        &["ppn", "N", "npernode", "perhost", "ntasks-per-node"],
        One("N", "the number of ranks per machine"),
        OptionEffect::PerMachine,
        "hior",
        "N ranks on each machine, also if -hosts says another number; without -n so many are\nstarted",
    ),
    row(&["pernode"], Nothing, OptionEffect::OnePerMachine, "o", ""),
    // Places.
    row(
        &["bind-to", "cpu-bind", "binding"],
        One("WHAT", "'core', 'none' or another unit"),
        OptionEffect::BindTo,
        "hior",
        "what a rank may run on: core, or so many (core:4), hwthread, l3cache, numa, socket, machine,\n\
         share (the cores divided by the ranks), none, or the hardware threads of each (user:0,1+2).\n\
         Without this option share, if each rank gets two cores or more, and none otherwise",
    ),
    row(
        &["map-by"],
        One("WHAT", "'core', 'socket' or another unit"),
        OptionEffect::MapBy,
        "hio",
        "where consecutive ranks go: slot, core, l3cache, numa, socket; PE=4 behind a colon gives each\n\
         four cores, ppr:2:socket puts two on a socket at most",
    ),
    row(
        &["rank-by"],
        One("WHAT", "'slot', 'core' or another unit"),
        OptionEffect::RankBy,
        "o",
        "how ranks are numbered: as they were placed (slot), core by core, or from one socket to the next",
    ),
    row(
        &["cpu-set", "cpu-list", "slot-list"],
        One("LIST", "numbers of hardware threads"),
        OptionEffect::CpuSet,
        "o",
        "use these hardware threads alone, as 0,4-7",
    ),
    row(
        &["cpus-per-rank", "cpus-per-proc", "cpus-per-task"],
        NUMBER,
        OptionEffect::CoresPerRank,
        "or",
        "cores for each rank: --map-by slot:PE=N",
    ),
    row(
        &["report-bindings", "display-bindings"],
        Nothing,
        OptionEffect::ReportBindings,
        "o",
        "print where each rank may run, with a picture: [B/B/./.][./././.] are two sockets of four cores",
    ),
    row(
        &["print-rank-map", "display-map", "display-allocation"],
        Nothing,
        OptionEffect::ShowMap,
        "hio",
        "print which ranks run on this machine",
    ),
    row(&["display"], One("LIST", "what to print"), OptionEffect::Display, "o", ""),
    // Input and output.
    row(
        &["l", "prepend-rank", "tag-output", "label"],
        Nothing,
        OptionEffect::Label,
        "hior",
        "begin each line of output with the rank it comes from: [rank]",
    ),
    row(
        &["timestamp-output"],
        Nothing,
        OptionEffect::Time,
        "o",
        "begin each line of output with the time (UTC)",
    ),
    row(
        &["outfile-pattern"],
        One("PATTERN", "a name of files"),
        OptionEffect::OutFiles,
        "hi",
        "write what each rank prints into a file of its own: %r becomes the rank, %p the launcher's\n\
         process number, %h the machine, %% a percent sign",
    ),
    row(
        &["errfile-pattern"],
        One("PATTERN", "a name of files"),
        OptionEffect::ErrFiles,
        "hi",
        "the same for standard error",
    ),
    row(
        &["output-filename"],
        One("DIR", "a directory"),
        OptionEffect::Folder,
        "o",
        "write the output of each rank into DIR/rank.N/stdout and stderr",
    ),
    row(
        &["output"],
        One("LIST", "what to do with the output"),
        OptionEffect::Output,
        "o",
        "what Open MPI 5 has for these, separated by commas: tag, timestamp, merge, dir=DIR, file=NAME",
    ),
    row(
        &["merge-stderr-to-stdout"],
        Nothing,
        OptionEffect::Merge,
        "o",
        "what ranks write to standard error goes to standard output",
    ),
    row(
        &["stdin", "s", "input"],
        One("WHO", "a rank, 'all' or 'none'"),
        OptionEffect::Input,
        "hior",
        "which rank reads mpiexec's standard input: a rank (0 if not given), all (each all of it; the\n\
         job starts when it has ended), or none",
    ),
    row(&["q", "quiet"], Nothing, OptionEffect::Quiet, "or", "say nothing of ignored options"),
    // The job's life.
    row(
        &["timeout"],
        One("SECONDS", "a number of seconds"),
        OptionEffect::TimeLimit,
        "o",
        "end the job after so many seconds, and say what each rank was doing (exit status 124);\n\
         also by the variable MPIEXEC_TIMEOUT",
    ),
    row(
        &["configfile", "app"],
        FILE,
        OptionEffect::ConfigFile,
        "shio",
        "take the command line from a file: a block per line",
    ),
    row(
        &["h", "help"],
        Nothing,
        OptionEffect::Help,
        "shior",
        "print this text; --help all lists what scripts for other launchers may carry",
    ),
    row(&["V", "version"], Nothing, OptionEffect::Version, "hior", "print the version"),
    // It is so here without them.
    row(
        &[
            "oversubscribe",
            "overcommit",
            "O",
            "allow-run-as-root",
            "use-hwthread-cpus",
            "byslot",
            "localonly",
            "localhost-only",
            "disable-recovery",
            "noprefix",
            "leave-session-attached",
            "kill-on-bad-exit",
            "K",
            "disable-hostname-propagation",
        ],
        Nothing,
        OptionEffect::Held,
        "hior",
        "",
    ),
    row(&["personality", "mpi"], WORD, OptionEffect::Held, "hior", ""),
    // Without an effect here: most are about the inside of another library.
    row(
        &["mca", "omca", "prtemca", "pmixmca", "gmca", "gomca", "gpmixmca"],
        PAIR,
        OptionEffect::Ignored,
        "o",
        "",
    ),
    row(
        &[
            "am",
            "tune",
            "prefix",
            "launch-agent",
            "ompi-server",
            "tmpdir",
            "launcher",
            "launcher-exec",
            "bootstrap",
            "bootstrap-exec",
            "rmk",
            "iface",
            "demux",
            "topolib",
            "membind",
            "nameserver",
            "branch-count",
            "pmi-port",
            "port-range",
            "profile",
            "gpus-per-proc",
            "gpu-subdevs-per-proc",
            "runtime-options",
            "report-pid",
            "report-uri",
            "mem-bind",
            "gres",
            "partition",
            "account",
            "job-name",
            "stream-buffering",
            "usize",
            "distribution",
            "m",
            "cpu-freq",
        ],
        WORD,
        OptionEffect::Ignored,
        "hior",
        "",
    ),
    row(
        &[
            "info",
            "enable-x",
            "disable-x",
            "novm",
            "use-regexp",
            "report-events",
            "noconf",
            "ilp64",
            "i8",
            "report-state-on-timeout",
            "get-stack-traces",
            "order-nodes",
            "skip-launch-node",
            "display-topo",
            "nooversubscribe",
            "bynode",
            "exclusive",
            "rr",
            "print-all-exitcodes",
            "ordered-output",
            "verbose",
            "v",
            "d",
            "show-progress",
            "unbuffered",
            "u",
        ],
        Nothing,
        OptionEffect::Ignored,
        "hio",
        "",
    ),
    // It cannot be had.
    row(
        &["disable-auto-cleanup", "enable-recovery", "with-ft", "no-kill"],
        Nothing,
        OptionEffect::Refused("a rank that fails ends the job; there is no recovery here"),
        "hior",
        "",
    ),
    row(
        &["rankfile", "rf"],
        FILE,
        OptionEffect::Refused("places are given by --bind-to user:0,1+2, rank by rank"),
        "o",
        "",
    ),
    row(
        &["tv", "debug", "debugger", "gdb", "gdba"],
        Nothing,
        OptionEffect::Refused("start a debugger in place of the program: mpiexec -n 2 xterm -e gdb PROGRAM"),
        "hio",
        "",
    ),
    row(
        &["xterm"],
        WORD,
        OptionEffect::Refused("start it in place of the program: mpiexec -n 2 xterm -e PROGRAM"),
        "o",
        "",
    ),
    row(
        &["preload-binary", "preload-files", "do-not-launch", "dvm", "nolocal", "index-argv-by-rank"],
        Nothing,
        OptionEffect::Refused(
            "this launcher does not do that; the launcher prterun, which --hosts hands jobs to, may",
        ),
        "io",
        "",
    ),
    row(&["umask"], WORD, OptionEffect::Refused("set it in the shell: ranks inherit it"), "i", ""),
    row(&["xml"], Nothing, OptionEffect::Refused("output is passed on as text"), "o", ""),
    row(&["npersocket"], NUMBER, OptionEffect::Refused("write --map-by ppr:N:socket"), "o", ""),
];
