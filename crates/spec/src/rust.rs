//! Rust text for the constants.

use crate::constant::{ConstantKind, ConstantSection};
use std::fmt::Write;

/// A `pub const` for every constant, and for every section a slice of its names and values.
pub fn constants(sections: &[ConstantSection]) -> String {
    let mut out = String::new();
    for section in sections {
        let rust_type = match section.kind {
            ConstantKind::Int | ConstantKind::Enum(_) => "i32",
            ConstantKind::Offset => "i64",
            ConstantKind::Address | ConstantKind::Handle(_) => "usize",
        };
        let mut names = String::new();
        for constant in &section.constants {
            let (name, title) = (&constant.name, &section.title);
            let value = &constant.text;
            line(&mut out, format_args!("/// `{name}`: {title}.\npub const {name}: {rust_type} = {value};"));
            if !constant.alias {
                line(&mut names, format_args!("    (\"{name}\", {name}),"));
            }
        }
        let ConstantSection { group, title, .. } = section;
        line(&mut out, format_args!("/// {title}: every name with its value.\n#[rustfmt::skip]"));
        line(&mut out, format_args!("pub const {group}: &[(&str, {rust_type})] = &[\n{names}];"));
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("a String takes everything");
}
