//! The columns of tables in Markdown.

use std::fmt::Write as _;

use super::record::Key;

/// A column of a table.
#[derive(Clone, Copy)]
pub(super) struct Column {
    name: &'static str,
    rule: &'static str,
}

impl Column {
    /// A column whose cells are aligned left.
    pub(super) const fn left(name: &'static str) -> Column {
        Column { name, rule: "---|" }
    }

    /// A column of numbers.
    pub(super) const fn right(name: &'static str) -> Column {
        Column { name, rule: "---:|" }
    }
}

/// The columns of a subject's key.
pub(super) const KEY: [Column; 7] = [
    Column::left("level"),
    Column::left("op"),
    Column::left("comms"),
    Column::left("beside"),
    Column::right("ranks"),
    Column::right("threads"),
    Column::right("bytes"),
];

/// Its cells.
pub(super) fn key_cells(key: &Key) -> String {
    let Key { level, op, comms, beside, ranks, threads, size, bench: _ } = key;
    format!("{level} | {op} | {comms} | {} | {ranks} | {threads} | {size}", beside.name())
}

/// Writes the head of a table: the first columns, a column of numbers for each library, and the last columns.
pub(super) fn head<'a>(
    page: &mut String,
    first: &'a [Column],
    libraries: impl Iterator<Item = &'a str>,
    last: &'a [Column],
) {
    let mut rules = String::from("|");
    page.push('|');
    let numbers = libraries.map(|name| (name, "---:|"));
    let fixed = |columns: &'a [Column]| columns.iter().map(|column| (column.name, column.rule));
    for (name, rule) in fixed(first).chain(numbers).chain(fixed(last)) {
        let _ = write!(page, " {name} |");
        rules.push_str(rule);
    }
    // A `String` takes whatever is written to it, so the results of these macros cannot be errors.
    let _ = writeln!(page, "\n{rules}");
}
