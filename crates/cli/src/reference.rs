//! The reference page, `docs/reference.md`: made from the tables that the library itself uses.

use heddle_model::{Choice, Class, Origin, Values, named_models};
use heddle_settings::info_keys::{INFO_KEYS, InfoKey, SESSION_KEYS, WINDOW_KEYS};
use heddle_settings::{Algorithm, Variable};
use heddle_spec::function_table::Functions;
use heddle_spec::{FUNCTIONS_TABLE, missing};
use std::fmt::Write;

const BEGIN: &str = "\
<!-- Made by `heddle info --reference`; `ci/readme_table.sh --update` writes it anew. -->

# Reference

## Environment variables

`MPI_Init` refuses a wrong value and names the allowed ones. Each variable is also an MPI_T control
variable (its name in lower case), which a program may write before `MPI_Init` and its first
session. `heddle info` shows those of class user and all that are set, `heddle info --all` all of
them. A part of the model that has a variable replaces that of the model named by `HEDDLE_MODEL`;
the defaults below are those of the default model. `MPI_Init` refuses parts that make no sense
together, and a value that changes nothing under the others (a low bound where no lock has two
classes), and says why.
";

const INFO: &str = "\
## Info keys

A program gives them where it makes a communicator (`MPI_Comm_dup_with_info`,
`MPI_Comm_idup_with_info`, `MPI_Comm_split_type`). Without any, new communicators go round the VNIs.

";

const RULES: &str = "
- A hint takes effect only if every process gives the same value; unknown values are ignored. No
  error is raised. `MPI_Comm_get_info` returns the values in force (`default` if no VNI was named).
- With both promises messages are sharded by tag and sender. Messages of one communicator, sender
  and tag always keep their order. With `heddle_vni` all messages stay on that VNI, and a broken
  promise is refused all the same.
- `MPI_Comm_set_info` comes too late, since messages may be under way: it ignores `heddle_vni`,
  records promises without effect, and takes no promise back. `MPI_Comm_dup` inherits no hints.
- Collective operations stay on the communicator's default VNI.
- Without any promise, self messages (from a process to itself) are sharded by tag once several
  threads send them, until the communicator sees its first wildcard or probe for them. This holds
  for models with a lock for each VNI whose calling threads run their operations (not `csync`,
  `lockq-*`, `offload`), and for communicators without `heddle_vni`.

";

const SESSIONS: &str = "\
## Sessions

A program makes sessions before, instead of, beside and after `MPI_Init`, and as often as it likes;
threads may make them at once. Each has the process sets `mpi://WORLD` and `mpi://SELF`.

- Under a launcher that speaks PMIx, PMI-1 or PMI-2 (`HEDDLE_BOOTSTRAP`) the first session or
  `MPI_Init` of a rank waits for those of all other ranks; under Heddle's `mpiexec` it waits for
  none.
- A process whose first use of MPI is a session runs at `MPI_THREAD_MULTIPLE`. If `MPI_Init` came
  first, its level, which `HEDDLE_THREAD_LEVEL` may raise, is that of the sessions, too.
- `MPI_Session_finalize` waits for other processes only as far as they have not yet received what
  was sent by buffered sends: from the session's buffer, and at the end of the last use of MPI from
  any. Communicators that were not freed can be used as long as MPI is in use otherwise.
- On several machines a session that is the process's first one, and comes after `MPI_Finalize`,
  reaches only ranks that the process knew before: it has left its launcher, which knows the others.
- An unknown process set is `MPI_ERR_ARG`. A group of a session that was finalised makes no
  communicator: `MPI_ERR_SESSION`.
- A process that exits with a session ends the job with an error, as one without `MPI_Finalize`
  does. A process that never makes one does not, unless another one has called `MPI_Init`: sessions
  need not concern all processes.

";

const UNEXPECTED: &str = "\
## What an unexpected message costs

A message that arrives before its receive is kept in the receiver's memory. One of up to 40 bytes
takes 112 bytes there (measured on 2026-11-23 with 10^7 messages of 8 bytes), a longer one its data
and 128 bytes. `HEDDLE_UNEXPECTED_BYTES` is the bound on each VNI.

- Beyond the bound senders offer each message by rendezvous: the receiver keeps 112 bytes for it,
  and the data waits with the sender. A blocking send in standard mode then returns when its message
  was received, as the standard allows. A nonblocking send completes then; buffered sends still
  return at once. Senders send as usual again when the receiver's messages take half of the bound.
- A sender notices within one lap of its ring: at most 512 messages, or 2 MiB of data, go beyond the
  bound for each sender. A sender on another machine notices within 128 packets, of which each has 8
  KiB of small messages, or one longer message.
- Small self messages beyond the bound stay in the program's buffers until they are received. A
  process's blocking send to itself then waits for a receive that is posted by another thread.
- A program that relies on more buffering than the bound waits for ever, as it may with any bound; a
  larger one helps. The MPI_T variables `heddle_throttles` and `heddle_throttled_sends` show that
  the bound was reached.
- A receive still finds a message that lies behind others. The headers of nonblocking sends under
  way have no bound.

";

const WINDOWS: &str = "
## Windows

A program gives these info keys where it makes a window; `MPI_Win_set_info` takes `no_locks` and
those without an effect.

";

const WINDOW_LOCKS: &str = "
| `HEDDLE_WIN_LOCK` | meaning |
|---|---|
| `queue-rw` | a word at the target that a process takes by one operation if it is free; the others wait in a queue, whose first process reserves the word after a while |
| `rma-rw` | the reader-writer lock of Schmid, Besta and Hoefler (HPDC 2016), phase-fair: counters for readers, a queue for writers |
| `rma-mcs` | their tree of queues; on one machine a tree of one level; a shared lock is exclusive |
| `d-mcs` | one queue; a shared lock is exclusive |
| `spin` | foMPI's word that is 0 or 1; not fair; a shared lock is exclusive |
| `rw` | foMPI's word that counts readers; readers may starve writers |
| `adaptive` | research: `rma-rw` that measures while it runs and chooses how many counters there are (T_DC), and for how long the lock stays within an element (T_L,i) and with writers (T_L,1); `heddle_win_lock_counter_distance`, `_locality` and `_writers` are the bounds, `_patience` is for readers |

Before the queues of `rma-rw`, `rma-mcs` and `d-mcs` stands a word: a process that runs may enter
past those that wait, at most `HEDDLE_WIN_LOCK_BYPASSES` times (or `heddle_win_lock_bypasses`)
between two processes of the queue. With 0 the order is strict, as in the paper; where there are
more processes than cores each acquisition then costs a switch between processes. `adaptive` is
always strict. Where a window lies over several machines it compares their wall clocks: if these
differ, it chooses worse.

No lock needs its target to be inside MPI. Memory of `MPI_Win_allocate`, `MPI_Win_allocate_shared`
and `MPI_Alloc_mem` is mapped by all processes of a window: put and get are loads and stores, and
accumulates of 1, 2, 4 and 8 bytes processor atomics. Other memory (`MPI_Win_create`,
`MPI_Win_create_dynamic`) is copied by the kernel, and accumulates there take the target's
accumulate lock; where the kernel or `HEDDLE_SINGLE_COPY=off` forbids such copies, a thread of the
target copies, which sleeps otherwise. A process can attach at most 4096 regions to a dynamic window
at one time.

";

const COLLECTIVES: &str = "\
## Collective operations

The algorithm of each operation, and the points where `auto` turns to another one. All processes of
a job must choose alike. The choice holds for communicators with one group, and for the blocking,
nonblocking and persistent forms. An algorithm that cannot do what is asked gives way to `auto`: so
with an operator that does not commute, where there is no blackboard, and where there are no
leaders. Sizes are those of the data: of the whole message or vector, or of a block.

The file of `HEDDLE_COLLECTIVES` has a rule per line: an operation, numbers of processes, numbers of
bytes, and the algorithm, one of those that the operation's variable takes. `#` begins a comment,
and `K` and `M` are KiB and MiB. The first rule that holds is the one that counts; without one the
choice is `auto`. The bytes are those of the data (bcast), of the vector (reduce, allreduce, scan),
or of a block per process (the others; their mean where they differ). Of `MPI_Gatherv`,
`MPI_Scatterv`, `MPI_Alltoallv` and `MPI_Alltoallw` no process knows all blocks: they have no rules,
only variables.
[collectives.md](collectives.md#a-table-for-a-machine) says how to get such a file.

```
# operation  processes  bytes   algorithm
bcast        2          4M..    binomial
allreduce    3..8       ..64K   recursive-doubling
```

";

const ERRORS: &str = "\
## Error handlers

An error of a call without a communicator, window, file or session runs the handler of
`MPI_COMM_SELF`. As long as the program has set none there, it runs that of `MPI_COMM_WORLD`. In a
program that has sessions alone it ends the job. A function of files that has no open file, such as
`MPI_File_open`, runs the handler of `MPI_FILE_NULL`, which returns by default.

";

const MISSING: &str = "\
## What is missing

A function that is not built reports `MPI_ERR_UNSUPPORTED_OPERATION`; the fatal message, or
`MPI_Error_string` of the code that it returns, names it. [fortran.md](fortran.md#plan) says what
Fortran lacks. The names that MPI 3.0 removed are errors that name the successor.

";

/// The page, in Markdown.
pub(crate) fn page() -> String {
    let mut page = format!("{BEGIN}{} also take 1 and 0.\n\n", switches());
    let heads = ["variable", "values", "default", "meaning"];
    let (collectives, others): (Vec<_>, Vec<_>) =
        Variable::all().partition(|variable| variable.is_of_collectives());
    for (class, name, meaning) in Class::OPTIONS {
        // Writing to a String never fails.
        let _ = writeln!(page, "### Class {name}\n\nThis is {meaning}.\n");
        table(&mut page, heads, others.iter().filter(|variable| variable.class() == *class).map(row));
        page.push('\n');
    }
    page += "The variables of collective operations, [below](#collective-operations), are of class tuning.\n";
    page += "\n## What the names mean\n\n";
    for variable in Variable::all() {
        let meanings = variable.meanings();
        if !meanings.is_empty() {
            let rows = meanings.into_iter().map(|(name, meaning)| [code(name), meaning.to_owned()]);
            table(&mut page, [&code(variable.name()), "meaning"], rows);
            page.push('\n');
        }
    }
    page += "## Models\n\nThe values of `HEDDLE_MODEL`: Heddle's models, the default first, and those of\n\
             the papers in the papers' form.\n\n";
    let models = named_models().map(|model| {
        let (source, departure) = match model.origin {
            Origin::Heddle => ("Heddle", None),
            Origin::Paper { source, departure } => (source, departure),
        };
        [code(model.name), model.meaning.to_owned(), source.to_owned(), departure.unwrap_or("").to_owned()]
    });
    table(&mut page, ["model", "meaning", "form", "departure from the paper"], models);
    page.push('\n');
    page += COLLECTIVES;
    table(&mut page, heads, collectives.iter().map(row));
    page.push('\n');
    let algorithms = Algorithm::OPTIONS.iter().map(|(_, name, meaning)| [code(name), (*meaning).to_owned()]);
    table(&mut page, ["algorithm", "meaning"], algorithms);
    page.push('\n');
    page += INFO;
    info_keys(&mut page, INFO_KEYS);
    page += RULES;
    page += WINDOWS;
    info_keys(&mut page, WINDOW_KEYS);
    page += WINDOW_LOCKS;
    page += SESSIONS;
    info_keys(&mut page, SESSION_KEYS);
    page.push('\n');
    page += UNEXPECTED;
    page += ERRORS;
    page += MISSING;
    let functions = Functions::parse(FUNCTIONS_TABLE).expect("the table that the library is built from");
    page += &missing::missing_table(&functions);
    page
}

fn info_keys(page: &mut String, keys: &[InfoKey]) {
    let rows = keys.iter().map(|key| [code(key.name), key.values.to_owned(), key.meaning.to_owned()]);
    table(page, ["info key", "values", "effect"], rows);
}

fn row(variable: &Variable) -> [String; 4] {
    let meaning = variable.meaning().to_owned();
    [code(variable.name()), variable.allowed(), variable.default(), meaning]
}

/// The variables that are on or off, and accept a digit for that.
fn switches() -> String {
    let are = |it: &Variable| it.values() == Values::Names && it.check("1").is_ok();
    let names: Vec<_> = Variable::all().filter(are).map(|variable| code(variable.name())).collect();
    let (last, others) = names.split_last().expect("there is a switch");
    format!("{} and {last}", others.join(", "))
}

fn table<const N: usize>(page: &mut String, heads: [&str; N], rows: impl Iterator<Item = [String; N]>) {
    // Writing to a String never fails.
    let _ = writeln!(page, "| {} |\n|{}", heads.join(" | "), "---|".repeat(N));
    for row in rows {
        let _ = writeln!(page, "| {} |", row.join(" | ").replace('<', "&lt;"));
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_row_for_each_variable_key_and_model_and_no_broken_row() {
        let page = page();
        let has_rows = |title: &str, names: Vec<&str>| {
            let section = page.split("\n## ").find(|section| section.starts_with(title));
            let section = section.unwrap_or_else(|| panic!("no section {title}"));
            for name in names {
                assert_eq!(section.matches(&format!("\n| `{name}` |")).count(), 1, "{name}");
            }
        };
        let (collectives, others): (Vec<_>, Vec<_>) =
            Variable::all().partition(|variable| variable.is_of_collectives());
        has_rows("Environment variables", others.into_iter().map(Variable::name).collect());
        has_rows("Collective operations", collectives.into_iter().map(Variable::name).collect());
        has_rows("Models", named_models().map(|model| model.name).collect());
        has_rows("Info keys", INFO_KEYS.iter().map(|key| key.name).collect());
        has_rows("Sessions", SESSION_KEYS.iter().map(|key| key.name).collect());
        has_rows("Windows", WINDOW_KEYS.iter().map(|key| key.name).collect());
        let mut columns = None;
        for line in page.lines() {
            let found = line.starts_with('|').then(|| line.matches('|').count());
            if let (Some(before), Some(now)) = (columns, found) {
                assert_eq!(before, now, "{line}");
            }
            columns = found;
        }
    }
}
