//! The harness of all benchmarks: systems take turns at each case in alternating rounds, and a figure is the
//! median over the rounds that other programs did not disturb.
//!
//! | module | what |
//! |---|---|
//! | `alternation` | who measures when; failures, and systems that take too long |
//! | `interrupts` | Ctrl-C and SIGTERM |
//! | `load` | what other programs used meanwhile |
//! | `rounds` | a median, and which rounds it is made of |
//! | `record` | what every record says of its run |
//! | `folder` | the files of a run, and its exit status |
//! | `machine`, `commit` | on what was measured, and what |
//! | `lab` | a simulated machine in place of this one |
//! | `options` | options of the command line |

pub(crate) mod alternation;
pub(crate) mod commit;
pub(crate) mod folder;
pub(crate) mod interrupts;
pub(crate) mod lab;
pub(crate) mod load;
pub(crate) mod machine;
pub(crate) mod options;
pub(crate) mod record;
pub(crate) mod rounds;
