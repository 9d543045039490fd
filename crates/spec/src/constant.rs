//! The constants of the standard: the model behind `constants.table`, and its parser.

/// A group of constants of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConstantSection {
    /// Name of the group; a slice of that name lists its members in Rust.
    pub group: String,
    /// The kind of its members.
    pub kind: ConstantKind,
    /// A heading for readers.
    pub title: String,
    /// The members, in the order of the table.
    pub constants: Vec<Constant>,
}

/// The kind of a section's constants, in C and in Rust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConstantKind {
    /// An `int`.
    Int,
    /// An `MPI_Offset`.
    Offset,
    /// A pointer with a special meaning; each constant names its type.
    Address,
    /// A handle of the named C type.
    Handle(String),
    /// An enumerator of the named C type.
    Enum(String),
}

/// One constant of the standard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// Name, with its `MPI_`.
    pub name: String,
    /// The value as the header writes it, the symbol whose address it is, or the name of which this one is an
    /// alias.
    pub text: String,
    /// The value; an alias has that of the constant it stands for, and a symbol's address is not known: 0.
    pub value: i64,
    /// True if this is an alias.
    pub alias: bool,
    /// The C type of an address, else empty.
    pub c_type: String,
    /// The integer that Fortran has for a handle which is a symbol's address, if it has one.
    pub integer: Option<i32>,
}

/// Reads the text of `constants.table`.
///
/// # Errors
///
/// Says which line cannot be understood, and why.
pub fn parse(text: &str) -> Result<Vec<ConstantSection>, String> {
    let mut sections: Vec<ConstantSection> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let complain = |what: &str| format!("line {}: {what}: {line}", number + 1);
        match words.as_slice() {
            [] => {}
            [first, ..] if first.starts_with('#') => {}
            ["section", group, rest @ ..] => {
                let (kind, title) = parse_kind(rest).ok_or_else(|| complain("unknown kind"))?;
                let title = title.join(" ");
                sections.push(ConstantSection { group: (*group).into(), kind, title, constants: Vec::new() });
            }
            [name, rest @ ..] => {
                let constant = parse_constant(name, rest, &sections).map_err(|e| complain(&e))?;
                let section = sections.last_mut().ok_or_else(|| complain("no section is open"))?;
                if (section.kind == ConstantKind::Address) == constant.c_type.is_empty() {
                    return Err(complain("an address, and nothing else, has a type"));
                }
                section.constants.push(constant);
            }
        }
    }
    Ok(sections)
}

fn parse_kind<'a, 'b>(words: &'a [&'b str]) -> Option<(ConstantKind, &'a [&'b str])> {
    match words {
        ["int", title @ ..] => Some((ConstantKind::Int, title)),
        ["offset", title @ ..] => Some((ConstantKind::Offset, title)),
        ["address", title @ ..] => Some((ConstantKind::Address, title)),
        ["handle", name, title @ ..] => Some((ConstantKind::Handle((*name).into()), title)),
        ["enum", name, title @ ..] => Some((ConstantKind::Enum((*name).into()), title)),
        _ => None,
    }
}

/// Returns true if a handle is the address of what the library has under this name.
fn names_symbol(value: &str, section: Option<&ConstantSection>) -> bool {
    let holds_handles = matches!(section, Some(ConstantSection { kind: ConstantKind::Handle(_), .. }));
    holds_handles && value.starts_with(|first: char| first.is_ascii_lowercase())
}

fn parse_constant(name: &str, rest: &[&str], before: &[ConstantSection]) -> Result<Constant, String> {
    let mut known = before.iter().flat_map(|section| &section.constants);
    match rest {
        ["=", other] => {
            let target = known.find(|c| c.name == *other).ok_or("the other name is not defined above")?;
            let text = (*other).into();
            let c_type = String::new();
            Ok(Constant { name: name.into(), text, value: target.value, alias: true, c_type, integer: None })
        }
        [value, more @ ..] if more.len() <= 1 => {
            if known.any(|c| c.name == name) {
                return Err("defined twice".into());
            }
            let (c_type, integer) = match more {
                [integer] if names_symbol(value, before.last()) => {
                    (String::new(), Some(integer.parse().map_err(|_| format!("{integer} is no integer"))?))
                }
                _ => (more.concat(), None),
            };
            let parsed = match value.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16),
                None if names_symbol(value, before.last()) => Ok(0),
                None => value.parse(),
            };
            let parsed = parsed.map_err(|error| error.to_string())?;
            let (name, text) = (name.into(), (*value).into());
            Ok(Constant { name, text, value: parsed, alias: false, c_type, integer })
        }
        _ => Err("expected NAME VALUE, NAME VALUE TYPE, NAME SYMBOL INTEGER or NAME = OTHER".into()),
    }
}
