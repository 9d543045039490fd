//! The results of an experiment, as they go into its JSON file.

use serde::Serialize;

use super::conditions::Lengths;
use super::experiment::{Paper, Statement};
use crate::bench::record;

/// The results of an experiment.
#[derive(Debug, Serialize)]
pub(crate) struct PaperResults {
    /// The paper.
    pub(super) paper: Paper,
    /// The experiment: its figures.
    pub(super) experiment: &'static [&'static str],
    /// The question.
    pub(super) title: &'static str,
    /// The lengths of its launches.
    pub(super) lengths: Lengths,
    /// The paper's statements and how the figures stand to them.
    pub(super) statements: Vec<Statement>,
    /// The launches, and the medians over the rounds.
    #[serde(flatten)]
    pub(super) record: record::Results,
}
