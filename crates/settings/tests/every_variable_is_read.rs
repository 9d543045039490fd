//! A variable that stands in the table is read. This is a process of its own, since it changes the process's
//! settings.

use heddle_settings::{Settings, Variable, write};

#[test]
fn a_wrong_value_of_any_variable_is_refused_with_its_name() {
    let settings = Settings::chosen().expect("an environment without settings");
    for variable in Variable::all() {
        write(variable.name(), "no sense".to_owned());
        let error = Settings::chosen().expect_err("no sense");
        assert!(error.contains(variable.name()), "{}: {error}", variable.name());
        write(variable.name(), variable.get(&settings));
    }
    Settings::chosen().expect("the values that an empty environment gives");
}
