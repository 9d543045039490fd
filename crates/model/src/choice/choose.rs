//! Makes a model from the user's choices, and refuses parts that make no sense together.

use super::arbitration::Arbitration;
use super::error::ModelError;
use super::lookup::named_models;
use super::model::{ENTERING, Model, PARTS};
use super::options::{Bias, Execution, Granularity, ReferenceCounts, RequestPool};
use super::setting::About;
use heddle_locks::kinds::LockKind;
use std::fmt;

impl Model {
    /// The model with the name, or the default, with some of its parts replaced. `part` gives the value of a
    /// part's environment variable, if it is set.
    ///
    /// # Errors
    /// A name or value that does not exist; parts that make no sense together.
    pub fn choose(
        name: Option<&str>,
        mut part: impl FnMut(&About) -> Option<String>,
    ) -> Result<Model, ModelError> {
        let mut model = name.map_or(Ok(Model::default()), Model::named)?;
        let (mut given, mut changed) = (Vec::new(), Vec::new());
        for known in PARTS {
            let about = &known.about;
            if let Some(value) = part(about) {
                let is_changed = known.change(&mut model, &value);
                let refused = |why| ModelError::Part { variable: about.variable, value, why };
                if is_changed.map_err(refused)? {
                    changed.push(known);
                }
                given.push(about.variable);
            }
        }
        model.make_sense(|variable| given.contains(&variable))?;
        // A value that was asked for instead of the model's own must change something.
        for part in changed {
            if let Some(acts_under) = part.unmet(&model) {
                return Err(model.without_effect(part.about.variable, acts_under));
            }
        }
        Ok(model)
    }

    /// Refuses parts that make no sense together; parts that were not asked for give way. `given` returns
    /// true for a variable that was set.
    fn make_sense(&mut self, given: impl Fn(&str) -> bool) -> Result<(), ModelError> {
        let refuse = |why: String| Err(ModelError::Senseless(why));
        let runs_elsewhere = self.execution != Execution::Caller;
        if runs_elsewhere && self.granularity == Granularity::PerChannel && !given("HEDDLE_GRANULARITY") {
            self.granularity = Granularity::PerVni;
        }
        if runs_elsewhere && self.granularity != Granularity::PerVni {
            return refuse(format!(
                "execution \"{}\" runs operations on a VNI, so it needs granularity \"per-vni\", not \"{}\": under that a \
                 critical section is more or less than one operation",
                self.execution, self.granularity
            ));
        }
        match self.execution {
            Execution::Caller => {}
            Execution::LockQ => {
                if matches!(self.arbitration, Arbitration::Priority(..)) {
                    return refuse(format!(
                        "execution \"lockq\" runs over one lock, not over arbitration \"{}\"",
                        self.arbitration
                    ));
                }
            }
            Execution::CSync | Execution::DsmSynch | Execution::Offload => {
                if given("HEDDLE_ARBITRATION") {
                    return refuse(format!(
                        "execution \"{}\" has no lock to arbitrate: leave HEDDLE_ARBITRATION out",
                        self.execution
                    ));
                }
            }
        }
        if self.granularity == Granularity::LockFree {
            self.wait_for_nothing(&given)?;
        }
        if let Some(entry) = self.only_progress_entry() {
            if self.progress_entry != entry && given("HEDDLE_PROGRESS_ENTRY") {
                return Err(self.without_effect("HEDDLE_PROGRESS_ENTRY", ENTERING.name));
            }
            self.progress_entry = entry;
        }
        // Who asks for classes gets them: the first that comes to a biased lock waits for its owner, whatever
        // its class.
        let is_pair = matches!(self.arbitration, Arbitration::Priority(..));
        if is_pair && given("HEDDLE_ARBITRATION") && !given("HEDDLE_BIAS") {
            self.bias = Bias::None;
        }
        if self.bias != Bias::None && self.execution != Execution::Caller {
            if given("HEDDLE_BIAS") {
                return refuse(format!(
                    "a bias belongs to a lock, which execution \"{}\" does not have; leave HEDDLE_BIAS out",
                    self.execution
                ));
            }
            self.bias = Bias::None;
        }
        Ok(())
    }

    /// The refusal of a variable that acts under a condition which the model does not meet.
    fn without_effect(&self, variable: &'static str, acts_under: &'static str) -> ModelError {
        ModelError::WithoutEffect { variable, acts_under, model: Box::new(*self) }
    }

    /// Does the same as [`make_sense`](Self::make_sense) for the parts that granularity
    /// `lock-free` leaves no room for.
    fn wait_for_nothing(&mut self, given: impl Fn(&str) -> bool) -> Result<(), ModelError> {
        for (variable, senseless, why) in [
            (
                "HEDDLE_ARBITRATION",
                true,
                "no thread waits for a critical section, so there is nothing to arbitrate",
            ),
            (
                "HEDDLE_BIAS",
                self.bias != Bias::None,
                "no thread waits for a critical section, so a bias has no effect",
            ),
            (
                "HEDDLE_REQUEST_POOL",
                self.request_pool == RequestPool::Shared,
                "a shared pool has a critical section, for which threads would wait",
            ),
            (
                "HEDDLE_REFERENCE_COUNTS",
                self.reference_counts == ReferenceCounts::Locked,
                "references that are counted inside a critical section would make threads wait",
            ),
        ] {
            if senseless && given(variable) {
                let why = format!("granularity \"lock-free\": {why}; leave {variable} out");
                return Err(ModelError::Senseless(why));
            }
        }
        // The remaining locks are those of rendezvous, and of the rings, whose readers only try them.
        self.arbitration = Arbitration::One(LockKind::Mutex);
        self.bias = Bias::None;
        self.request_pool = RequestPool::ThreadLocal;
        self.reference_counts = ReferenceCounts::Atomic;
        Ok(())
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(named) = named_models().find(|named| named.model == *self) {
            return f.write_str(named.name);
        }
        for (index, part) in PARTS.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{} {}", part.about.name(), (part.get)(self))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::Values;
    use super::*;

    fn choose(name: &str, parts: &[(&str, &str)]) -> Result<Model, ModelError> {
        Model::choose(Some(name), |part| {
            parts
                .iter()
                .find(|(variable, _)| *variable == part.variable)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn names_lead_to_models_and_back() {
        for name in Model::names() {
            assert_eq!(choose(name, &[]).map(|model| model.to_string()), Ok(name.to_owned()));
        }
        let error = choose("per-vnl", &[]).expect_err("not a model");
        assert!(error.to_string().contains("per-vni-mutex"), "{error}");
    }

    #[test]
    fn parts_replace_those_of_the_name() {
        let model = choose("global-mcs", &[("HEDDLE_ARBITRATION", "p-hmcs-mcs"), ("HEDDLE_LOW_BOUND", "7")]);
        let model = model.expect("a model");
        assert_eq!(model.granularity, Granularity::Global);
        assert_eq!(model.arbitration.to_string(), "p-hmcs-mcs");
        assert_eq!(model.low_bound, 7);
        assert!(model.to_string().contains("arbitration p-hmcs-mcs"), "{model}");
    }

    #[test]
    fn every_part_refuses_what_it_does_not_know_and_reads_what_it_says() {
        for part in PARTS {
            let variable = part.about.variable;
            let error = choose("csync", &[(variable, "nonsense")]).expect_err("nonsense");
            assert!(error.to_string().contains(variable), "{error}");
            let mut model = Model::default();
            let value = (part.get)(&model);
            assert_eq!((part.set)(&mut model, &value), Ok(()), "{variable}");
            let allowed = (part.about.allowed)();
            for name in allowed.split(", ").filter(|_| (part.about.values)() == Values::Names) {
                let mut other = model;
                assert_eq!((part.set)(&mut other, name), Ok(()), "{variable}");
                assert_eq!((part.get)(&other), name);
            }
            assert_eq!(model, Model::default(), "{variable}");
        }
    }

    /// The bias was on or off before it could belong to a core.
    #[test]
    fn a_bias_has_its_old_spellings_too() {
        for (value, bias) in [
            ("on", Bias::Thread),
            ("off", Bias::None),
            ("thread", Bias::Thread),
            ("none", Bias::None),
            ("core", Bias::Core),
        ] {
            let model = choose("per-vni-mcs", &[("HEDDLE_BIAS", value)]).expect("a bias");
            assert_eq!(model.bias, bias, "{value}");
        }
    }

    #[test]
    fn parts_are_taken_where_they_act() {
        for (name, parts) in [
            ("offload", vec![("HEDDLE_OFFLOAD_THREADS", "one")]),
            ("csync", vec![("HEDDLE_COLLECT_THRESHOLD", "9"), ("HEDDLE_COMBINING_LIMIT", "9")]),
            (
                "p-mcs-mcs",
                vec![("HEDDLE_ARBITRATION", "p-mcs-strict-hmcs"), ("HEDDLE_COHORT_THRESHOLD", "9")],
            ),
            ("hmcs-usc", vec![("HEDDLE_COHORT_THRESHOLD", "9"), ("HEDDLE_TEST_PATIENCE", "9")]),
            ("global-p-mcs-mcs", vec![("HEDDLE_LOW_BOUND", "9")]),
            ("lockq-mtx", vec![("HEDDLE_POST_TRIES", "9"), ("HEDDLE_COMBINING_LIMIT", "9")]),
            ("csync", vec![("HEDDLE_TEST_BACKOFF", "exponential")]),
            ("brief-global", vec![("HEDDLE_TEST_BACKOFF", "exponential"), ("HEDDLE_TEST_PATIENCE", "9")]),
            ("ics2019-lockq-mcs", vec![("HEDDLE_TEST_BACKOFF", "none")]),
            ("per-vni-mutex", vec![("HEDDLE_BIAS", "none"), ("HEDDLE_TEST_PATIENCE", "9")]),
            ("brief-global", vec![("HEDDLE_TEST_PATIENCE", "9")]),
            ("per-vni-mutex", vec![("HEDDLE_PROGRESS_ENTRY", "wait")]),
            ("p-hmcs-mcs", vec![("HEDDLE_BIAS", "thread")]),
            ("p-mcs-mcs", vec![("HEDDLE_BIAS", "core"), ("HEDDLE_PROGRESS_ENTRY", "try")]),
            ("lockq-mcs", vec![("HEDDLE_ARBITRATION", "hmcs"), ("HEDDLE_COHORT_THRESHOLD", "9")]),
            ("csync", vec![("HEDDLE_EXECUTION", "dsm-synch"), ("HEDDLE_COMBINING_LIMIT", "9")]),
            ("per-vni-mutex", vec![("HEDDLE_TEST_PATIENCE", "0"), ("HEDDLE_LOW_BOUND", "256")]),
        ] {
            let model = choose(name, &parts).unwrap_or_else(|error| panic!("{name}: {error}"));
            for (variable, value) in parts {
                let part = PARTS.iter().find(|part| part.about.variable == variable).expect("a part");
                assert_eq!((part.get)(&model), value, "{name}: {variable}");
            }
        }
    }

    #[test]
    fn parts_that_make_no_sense_together_are_refused_with_the_reason() {
        for (name, parts, reason) in [
            ("global-mutex", vec![("HEDDLE_EXECUTION", "lockq")], "needs granularity"),
            ("csync", vec![("HEDDLE_ARBITRATION", "mcs")], "no lock to arbitrate"),
            ("csync", vec![("HEDDLE_GRANULARITY", "brief-global")], "needs granularity"),
            ("offload", vec![("HEDDLE_GRANULARITY", "per-object")], "needs granularity"),
            (
                "auto",
                vec![("HEDDLE_GRANULARITY", "per-channel"), ("HEDDLE_EXECUTION", "csync")],
                "needs granularity",
            ),
            ("offload", vec![("HEDDLE_ARBITRATION", "mcs")], "no lock to arbitrate"),
            ("offload", vec![("HEDDLE_BIAS", "on")], "belongs to a lock"),
            ("lockq-mcs", vec![("HEDDLE_ARBITRATION", "p-mcs-mcs")], "over one lock"),
            ("global-mcs", vec![("HEDDLE_PROGRESS_ENTRY", "try")], "without offload threads"),
            (
                "per-vni-mutex",
                vec![("HEDDLE_GRANULARITY", "global"), ("HEDDLE_PROGRESS_ENTRY", "try")],
                "without offload threads",
            ),
            ("lock-free", vec![("HEDDLE_PROGRESS_ENTRY", "wait")], "without offload threads"),
            ("offload", vec![("HEDDLE_PROGRESS_ENTRY", "wait")], "without offload threads"),
            ("lock-free", vec![("HEDDLE_ARBITRATION", "mutex")], "nothing to arbitrate"),
            ("offload", vec![("HEDDLE_BIAS", "core")], "belongs to a lock"),
            ("lock-free", vec![("HEDDLE_BIAS", "on")], "a bias has no effect"),
            ("lock-free", vec![("HEDDLE_BIAS", "core")], "a bias has no effect"),
            ("lock-free", vec![("HEDDLE_REQUEST_POOL", "shared")], "has a critical section"),
            ("lock-free", vec![("HEDDLE_REFERENCE_COUNTS", "locked")], "counted inside a critical section"),
            ("lock-free", vec![("HEDDLE_EXECUTION", "lockq")], "needs granularity"),
            ("csync", vec![("HEDDLE_OFFLOAD_THREADS", "one")], "acts under execution \"offload\""),
            (
                "per-object",
                vec![("HEDDLE_LIFETIME", "none"), ("HEDDLE_COLLECT_THRESHOLD", "9")],
                "a lifetime other than",
            ),
            ("p-mcs-mcs", vec![("HEDDLE_COHORT_THRESHOLD", "9")], "an arbitration with hmcs"),
            ("lock-free", vec![("HEDDLE_COHORT_THRESHOLD", "9")], "an arbitration with hmcs"),
            ("per-vni-hmcs", vec![("HEDDLE_LOW_BOUND", "9")], "an arbitration p-X-Y"),
            ("offload", vec![("HEDDLE_COMBINING_LIMIT", "9")], "\"dsm-synch\" or \"lockq\""),
            ("csync", vec![("HEDDLE_POST_TRIES", "9")], "acts under execution \"lockq\""),
            ("per-vni-mutex", vec![("HEDDLE_TEST_PATIENCE", "9")], "bias \"none\""),
            ("per-vni-mcs", vec![("HEDDLE_TEST_PATIENCE", "9")], "can give up"),
            ("p-mcs-mcs", vec![("HEDDLE_TEST_PATIENCE", "9")], "can give up"),
            ("csync", vec![("HEDDLE_TEST_PATIENCE", "9")], "can give up"),
            ("topc2019-mcs", vec![("HEDDLE_TEST_PATIENCE", "9")], "can give up"),
            ("per-object", vec![("HEDDLE_TEST_PATIENCE", "9")], "can give up"),
            ("global-mutex", vec![("HEDDLE_TEST_BACKOFF", "exponential")], "no test finds"),
            ("per-object", vec![("HEDDLE_TEST_BACKOFF", "exponential")], "no test finds"),
            ("lock-free", vec![("HEDDLE_TEST_BACKOFF", "exponential")], "no test finds"),
            ("offload", vec![("HEDDLE_TEST_BACKOFF", "exponential")], "no test finds"),
        ] {
            let error = choose(name, &parts).expect_err("senseless");
            assert!(error.to_string().contains(reason), "{error}");
        }
        let model = choose("auto", &[("HEDDLE_EXECUTION", "csync")]).expect("the granularity gives way");
        assert_eq!(model.granularity, Granularity::PerVni);
        for part in [("HEDDLE_EXECUTION", "csync"), ("HEDDLE_ARBITRATION", "p-mcs-mcs")] {
            let model = choose("per-vni-mutex", &[part]).expect("the bias gives way");
            assert_eq!(model.bias, Bias::None, "{part:?}");
        }
        let model = choose("p-mcs-mcs", &[("HEDDLE_GRANULARITY", "lock-free")]);
        assert_eq!(model, Model::named("lock-free"), "parts that were not asked for give way");
    }
}
