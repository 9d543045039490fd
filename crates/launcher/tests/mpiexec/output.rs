//! What ranks read and write.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;

use crate::harness::{Running, mpiexec};

#[test]
fn lines_are_never_mixed() {
    // Each rank writes lines of its own digit only, torn into small writes, to both
    // outputs, which are one pipe.
    let script = r#"
        half=$(printf %0100d 0 | tr 0 $HEDDLE_RANK)
        i=0
        while [ $i -lt 300 ]; do
            printf %s $half; printf '%s\n' $half
            printf %s $half >&2; printf '%s\n' $half >&2
            i=$((i + 1))
        done"#;
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let both = writer.try_clone().expect("a pipe's end");
    let running = Running::start_with(&["-n", "4", "sh", "-c", script], &[], |command| {
        command.stdout(writer).stderr(both)
    });
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("text");
    assert_eq!(running.finish().code(), 0);
    assert_eq!(text.lines().count(), 4 * 2 * 300);
    for line in text.lines() {
        assert!(line.len() == 200 && line.bytes().all(|byte| byte == line.as_bytes()[0]), "{line}");
    }
}

#[test]
fn labels_name_the_rank() {
    let report = mpiexec(&["-l", "-n", "2", "sh", "-c", "echo one; echo two; echo bad >&2"]);
    assert_eq!(report.sorted(), ["[0] one", "[0] two", "[1] one", "[1] two"]);
    let mut errors: Vec<&str> = report.err.lines().collect();
    errors.sort_unstable();
    assert_eq!(errors, ["[0] bad", "[1] bad"]);
}

#[test]
fn last_lines_need_no_end() {
    let report = mpiexec(&["-n", "1", "printf", "no end"]);
    report.went_well();
    assert_eq!(report.out, "no end");
    let report = mpiexec(&["-n", "2", "sh", "-c", "printf $HEDDLE_RANK"]);
    assert_eq!(report.sorted(), ["0", "1"]);
}

#[test]
fn bytes_are_not_changed() {
    // 8 MiB without regard to lines, far more than the pipes and the launcher's queue hold.
    let report = mpiexec(&["-n", "1", "sh", "-c", "head -c 8388608 /dev/zero | tr '\\0' x"]);
    report.went_well();
    assert_eq!(report.out.len(), 8 << 20);
    assert!(report.out.bytes().all(|byte| byte == b'x'));
}

#[test]
fn a_slow_reader_of_much_output() {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let arguments = ["-n", "2", "sh", "-c", "seq 400000; seq 100000 >&2"];
    let running = Running::start_with(&arguments, &[], |command| command.stdout(writer));
    let mut count = 0;
    let mut piece = [0; 4096];
    loop {
        match reader.read(&mut piece).expect("text") {
            0 => break,
            read => count += piece[..read].iter().filter(|&&byte| byte == b'\n').count(),
        }
        std::thread::yield_now();
    }
    let report = running.finish();
    assert_eq!(report.code(), 0);
    assert_eq!((count, report.err.lines().count()), (800_000, 200_000));
}

#[test]
fn output_that_nobody_reads_ends_the_job_silently() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let running = Running::start_with(&["-n", "2", "yes"], &[], |command| command.stdout(writer));
    drop(reader);
    let report = running.finish();
    assert_eq!((report.code(), report.err.as_str()), (128 + 13, ""));
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    // The writing may fail at any moment of the job's end.
    for _ in 0..20 {
        let full = File::options().write(true).open("/dev/full").expect("/dev/full");
        let report =
            Running::start_with(&["-n", "1", "echo", "lost"], &[], |command| command.stdout(full)).finish();
        report.failed(1, &["standard output", "No space left"]);
    }
}

#[test]
fn input_goes_to_rank_0() {
    let input = "line\n".repeat(50_000);
    let script = "echo $HEDDLE_RANK: $(wc -l)";
    let arguments = ["-n", "3", "sh", "-c", script];
    let report = Running::start_with(&arguments, input.as_bytes(), |command| command).finish();
    report.went_well();
    assert_eq!(report.sorted(), ["0: 50000", "1: 0", "2: 0"]);
}

#[test]
fn closed_input_is_no_obstacle() {
    let arguments = ["-n", "2", "cat"];
    Running::start_with(&arguments, &[], |command| command.stdin(Stdio::null())).finish().went_well();
}
