//! The settings that the environment and the control variables choose.

use crate::collectives::COLLECTIVES;
use crate::given::given;
use crate::settings::{SETTINGS, Settings};
use heddle_model::{Model, ModelError, Setting};

impl Settings {
    /// Reads the values written to control variables, and the environment for all other settings.
    ///
    /// # Errors
    /// A message that names the variable, its value and the allowed ones.
    pub fn chosen() -> Result<Settings, String> {
        let mut settings = Settings { model: model()?, ..Settings::default() };
        // The model has been read, with the parts that replace its own.
        let others = SETTINGS.iter().filter(|setting| setting.about.variable != MODEL);
        let changed = choose(others, &mut settings)?;
        choose(COLLECTIVES.iter(), &mut settings.collectives)?;
        for setting in changed {
            if let Some(acts_under) = setting.unmet(&settings) {
                let (variable, model) = (setting.about.variable, Box::new(settings.model));
                return Err(ModelError::WithoutEffect { variable, acts_under, model }.to_string());
            }
        }
        Ok(settings)
    }
}

/// Sets the fields whose variables are set, and returns the settings that have other values than before.
fn choose<S: 'static>(
    table: impl Iterator<Item = &'static Setting<S>>,
    settings: &mut S,
) -> Result<Vec<&'static Setting<S>>, String> {
    let mut changed = Vec::new();
    for setting in table {
        let name = setting.about.variable;
        if let Some(text) = given(name)? {
            let refused = |why| format!("the environment variable {name} is \"{text}\": {why}");
            if setting.change(settings, &text).map_err(refused)? {
                changed.push(setting);
            }
        }
    }
    Ok(changed)
}

/// The variable that names the model.
pub(crate) const MODEL: &str = "HEDDLE_MODEL";

/// The model of `HEDDLE_MODEL`, with the parts whose variables are set.
fn model() -> Result<Model, String> {
    let name = given(MODEL)?;
    let mut unreadable = Ok(());
    let model = Model::choose(name.as_deref(), |part| match given(part.variable) {
        Ok(value) => value,
        Err(why) => {
            unreadable = Err(why);
            None
        }
    });
    unreadable?;
    model.map_err(|error| match error {
        ModelError::Unknown { .. } => format!("the environment variable HEDDLE_MODEL: {error}"),
        ModelError::Part { .. } => format!("the environment variable {error}"),
        ModelError::WithoutEffect { .. } | ModelError::Senseless(_) => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Variable;

    #[test]
    fn every_variable_allows_the_value_that_it_has_and_refuses_nonsense() {
        let settings = Settings::chosen().expect("an environment without settings");
        for variable in Variable::all() {
            let (name, value) = (variable.name(), variable.get(&settings));
            assert_eq!(variable.check(&value), Ok(()), "{name} refuses the value that it has, {value}");
            assert!(variable.check("no sense").is_err(), "{name} takes \"no sense\": a value has no blanks");
        }
    }

    #[test]
    fn defaults_are_what_an_empty_environment_gives() {
        let settings = Settings::chosen().expect("an environment without settings");
        for variable in Variable::all().filter(|variable| variable.name() != "HEDDLE_VNIS") {
            assert_eq!(variable.get(&settings), variable.default(), "{}", variable.name());
        }
        assert_eq!(settings.vnis, None);
    }
}
