//! Variables of the environment that look like a setting, and are none.

use crate::Variable;
use heddle_model::nearest;

/// What to say of each variable in the environment that may be a setting with a slip in its name. Nobody
/// reads such a variable, so a program would run with another setting than was meant.
pub fn mistyped_variables() -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter_map(|name| mistyped(&name)).collect()
}

fn mistyped(name: &str) -> Option<String> {
    let known: Vec<&str> = Variable::all().map(Variable::name).collect();
    if !name.starts_with("HEDDLE_") || known.contains(&name) {
        return None;
    }
    let meant = nearest(name, known.into_iter())?;
    Some(format!("the environment variable {name} is no setting, and is ignored; did you mean {meant}?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_bootstrap::builtin::env;

    #[test]
    fn a_slip_is_told_with_the_setting_that_may_be_meant() {
        assert!(mistyped("HEDDLE_MODLE").is_some_and(|text| text.ends_with("did you mean HEDDLE_MODEL?")));
        for other in ["HEDDLE_MODEL", "HEDDLE_PEER_MPICH", "HEDDLE_TEST_SEED", "MODEL"] {
            assert_eq!(mistyped(other), None);
        }
        for own in [env::RANK, env::SIZE, env::APPNUM, env::JOB_FD, env::JOB_PATH, env::JOB_ID] {
            assert_eq!(mistyped(own), None);
        }
        assert_eq!([env::INITIAL_ERRHANDLER, env::MEMORY_ALLOC_KINDS].map(mistyped), [None, None]);
    }
}
