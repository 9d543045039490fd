//! The two ways in which a case is played.

use super::draw::Draw;
use super::stage::Stage;
use crate::entry::Express;
use crate::error::Result;
use heddle_p2p::{Attempt, Refusal};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The way that a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// As its entry point calls it: by the express path, and if that refuses, by the general one.
    ExpressFirst,
    GeneralOnly,
}

/// How often the express path has taken a call at home, on a lane, and refused one.
pub(super) type Counts = [usize; 3];

/// The counts of each function.
pub(super) type Taken = RefCell<BTreeMap<&'static str, Counts>>;

/// Calls a function in a way; returns its error code.
pub(super) fn in_way(
    (way, name, taken): (Way, &'static str, &Taken),
    express: impl Fn(Attempt) -> Express,
    general: impl FnOnce() -> Result<()>,
) -> i32 {
    let code = |result: Result<()>| result.map_or_else(|error| error.code(), |()| 0);
    if way == Way::GeneralOnly {
        return code(general());
    }
    let tried = match express(Attempt::Bias) {
        Err(Refusal::Busy) => express(Attempt::Lock),
        tried => tried,
    };
    let is_on_lane = matches!(tried, Err(Refusal::OnLane));
    let tried = if is_on_lane { express(Attempt::Lane) } else { tried };
    let outcome = if tried.is_err() { 2 } else { usize::from(is_on_lane) };
    taken.borrow_mut().entry(name).or_default()[outcome] += 1;
    tried.map_or_else(|_| code(general()), code)
}

/// Calls a function by its two bodies, with the same arguments: `running` or another function of
/// [`entry`](crate::entry) says what surrounds the general one.
macro_rules! call {
    ($way:expr, $name:literal, $when:path, $express:path, $general:path, ($($argument:expr),* $(,)?)) => {
        $crate::both_paths::way::in_way(
            ($way.0, $name, $way.1),
            |attempt| $express(attempt, $($argument),*),
            || $when(|| $general($($argument),*)),
        )
    };
}
pub(super) use call;

/// The way of a call, and where it is noted whether the express path took it.
pub(super) type Called<'a> = (Way, &'a Taken);

/// A kind of cases.
pub(super) trait Case: std::fmt::Debug + Sized {
    fn draw(draw: &mut Draw) -> Self;

    /// Both ranks play it together; returns what this one sees.
    fn play(&self, stage: &Stage<'_>, called: Called<'_>) -> String;
}
