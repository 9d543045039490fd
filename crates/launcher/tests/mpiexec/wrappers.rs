//! MPI programs inside scripts.

use crate::harness::mpiexec;

#[test]
fn a_script_around_each_rank() {
    let report = mpiexec(&["-n", "2", "sh", "-c", "@rank init who finalize; echo after"]);
    report.went_well();
    let expected = ["after", "after", "rank 0 of 2 app Some(0)", "rank 1 of 2 app Some(0)"];
    assert_eq!(report.sorted(), expected);
}

#[test]
fn a_wrapper_that_closes_descriptors() {
    let script = "exec $HEDDLE_JOB_FD>&-; @rank init who finalize";
    let report = mpiexec(&["-n", "2", "bash", "-c", &script.replace("$HEDDLE_JOB_FD", "48")]);
    report.went_well();
    assert_eq!(report.sorted().len(), 2);
    // Or puts something else in their place.
    mpiexec(&["-n", "2", "bash", "-c", "exec 48</dev/null; @rank init who finalize"]).went_well();
}

#[test]
fn a_rank_dies_and_its_wrapper_does_not() {
    // The shell stays, so that only the control block and the process table tell.
    mpiexec(&["-n", "2", "sh", "-c", "@rank init 1@exit=0 finalize; sleep 1000"])
        .failed(1, &["rank 1", "without MPI_Finalize", "wrapper"]);
}

#[test]
fn a_wrapper_that_ends_before_its_rank_has_begun() {
    // The rank is missed by nobody as long as a process of it runs, which may still call MPI_Init.
    let script = "test $HEDDLE_RANK = 0 && exec @rank init await-finalized=1 finalize; \
                  (sleep 1; @rank init finalize) & exit 0";
    mpiexec(&["-n", "2", "sh", "-c", script]).went_well();
}

#[test]
fn a_wrapper_passes_on_a_death() {
    mpiexec(&["-n", "2", "sh", "-c", "@rank init 1@raise=11 park; exit $?"])
        .failed(139, &["rank 1", "code 139", "SIGSEGV", "without MPI_Finalize"]);
}

#[test]
fn a_wrapped_rank_aborts() {
    mpiexec(&["-n", "2", "sh", "-c", "@rank init 0@abort=8:stop 0@exit=8 park; sleep 1000"])
        .failed(8, &["rank 0", "MPI_Abort with code 8: stop"]);
}

#[test]
fn a_rank_is_one_program_only() {
    let report = mpiexec(&["-n", "1", "sh", "-c", "@rank init finalize; @rank init finalize"]);
    assert!(report.err.contains("rank 0 was already taken by process"), "{}", report.err);
    assert_eq!(report.code(), 9);
}

#[test]
fn a_job_within_a_job() {
    let mpiexec_path = env!("CARGO_BIN_EXE_mpiexec");
    let script = format!("{mpiexec_path} -n 2 @rank init who finalize");
    let report = mpiexec(&["-n", "2", "sh", "-c", &script]);
    report.went_well();
    assert_eq!(report.sorted().len(), 4);
}
