//! What ranks leave running when they end.

use crate::harness::mpiexec;

#[test]
fn a_forgotten_child_is_ended_and_named() {
    let report = mpiexec(&["-n", "2", "sh", "-c", "sleep 1000 & exit 0"]);
    report.failed(0, &["left running", "sleep (pid "]);
}

#[test]
fn a_child_in_a_session_of_its_own() {
    let report = mpiexec(&["-n", "1", "sh", "-c", "setsid -f sleep 1000 </dev/null >/dev/null 2>&1"]);
    report.failed(0, &["left running", "sleep"]);
}

#[test]
fn a_child_that_will_not_end() {
    let report = mpiexec(&["-n", "1", "sh", "-c", "(trap '' TERM; while :; do sleep 1; done) & exit 0"]);
    report.failed(0, &["left running"]);
}

#[test]
fn children_of_a_failed_job_go_with_it() {
    let script = "setsid sleep 1000 & timeout 1000 sleep 1000 & [ $HEDDLE_RANK = 0 ] && exit 5; wait";
    mpiexec(&["-n", "2", "sh", "-c", script]).failed(5, &["rank 0", "code 5"]);
}

#[test]
fn output_that_comes_late_is_not_lost() {
    // The rank ends at once; what it has piped its output into ends by itself a moment later.
    let report = mpiexec(&["-n", "1", "bash", "-c", "seq 20000 > >(cat)"]);
    report.went_well();
    assert_eq!(report.out.lines().count(), 20_000);
}
