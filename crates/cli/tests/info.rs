//! `heddle info`: which settings it shows.

use heddle_model::Class;
use heddle_settings::Variable;
use std::process::{Command, Output};

/// Runs `heddle info` with the arguments in an environment that sets only these of Heddle's variables.
fn info(arguments: &[&str], set: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.arg("info").args(arguments);
    for variable in Variable::all() {
        command.env_remove(variable.name());
    }
    command.envs(set.iter().copied()).output().expect("heddle runs")
}

/// The variables whose values are shown, in their order.
fn shown(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| {
        let (name, value) = line.strip_prefix("  HEDDLE_")?.split_once(' ')?;
        let is_value = value.trim_start() == "not set" || value.trim_start().starts_with("= ");
        is_value.then(|| format!("HEDDLE_{name}"))
    });
    names.collect()
}

fn of_classes(classes: &[Class]) -> Vec<String> {
    let mut names = Vec::new();
    for class in classes {
        let of_class = Variable::all().filter(|variable| variable.class() == *class);
        names.extend(of_class.map(|variable| variable.name().to_owned()));
    }
    names
}

#[test]
fn it_shows_the_settings_of_users_and_those_that_are_set() {
    let plain = info(&[], &[]);
    let of_users = of_classes(&[Class::User]);
    assert_eq!(shown(&plain), of_users);
    assert!((8..=12).contains(&of_users.len()), "about ten concern a user: {of_users:?}");
    let text = String::from_utf8_lossy(&plain.stdout);
    assert!(text.contains("heddle info --class NAME, or --all"), "{text}");

    let with_one = info(&[], &[("HEDDLE_LIFETIME", "naive")]);
    assert_eq!(shown(&with_one), [of_users, vec!["HEDDLE_LIFETIME".to_owned()]].concat());
    assert!(String::from_utf8_lossy(&with_one.stdout).contains("= naive"));
}

#[test]
fn it_shows_the_classes_that_are_asked_for() {
    assert_eq!(shown(&info(&["--class", "research"], &[])), of_classes(&[Class::Research]));
    let both = [Class::User, Class::Tuning];
    assert_eq!(shown(&info(&["--class", "tuning,user"], &[])), of_classes(&both));
    let all = info(&["--all"], &[]);
    assert_eq!(shown(&all), of_classes(&[Class::User, Class::Tuning, Class::Research]));
    assert_eq!(shown(&all).len(), Variable::all().count());
    assert!(!String::from_utf8_lossy(&all.stdout).contains("further settings"));
}

#[test]
fn it_refuses_an_unknown_class_and_names_the_known_ones() {
    let refused = info(&["--class", "expert"], &[]);
    assert!(!refused.status.success());
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(why.contains("user, tuning, research"), "{why}");
}
