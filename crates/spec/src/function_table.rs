//! The parser of `functions.table`.

use crate::function::{Chapter, Direction, Errors, Function, Param, ParamKind, Returns};
use std::sync::OnceLock;

/// The chapter whose functions call no error handler.
const TOOL_CHAPTER: &str = "tool";

/// The contents of `functions.table`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Functions {
    /// The functions, by chapter.
    pub chapters: Vec<Chapter>,
    /// The types of callbacks.
    pub callbacks: Vec<Function>,
}

/// The names of all functions in C, their large-count forms included, in the order of the table. The position
/// of a name is the function's number.
pub fn names() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let functions = Functions::parse(crate::FUNCTIONS_TABLE).unwrap_or_default();
        functions.all().flat_map(Function::forms).map(|(name, _)| name).collect()
    })
}

impl Functions {
    /// Every function, in the order of the table.
    pub fn all(&self) -> impl Iterator<Item = &Function> {
        self.chapters.iter().flat_map(|chapter| &chapter.functions)
    }

    /// The callback of this name (without `MPI_`).
    pub fn callback(&self, name: &str) -> Option<&Function> {
        self.callbacks.iter().find(|callback| callback.name == name)
    }

    /// Reads the text of `functions.table`.
    ///
    /// # Errors
    ///
    /// Says which line cannot be understood, and why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut table = Self::default();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            table.add_line(line).map_err(|error| format!("line {}: {error}: {line}", number + 1))?;
        }
        Ok(table)
    }

    fn add_line(&mut self, line: &str) -> Result<(), String> {
        if let Some(rest) = line.strip_prefix("chapter ") {
            let (module, title) = rest.split_once(' ').ok_or("a chapter needs a module and a title")?;
            let (module, title) = (module.into(), title.trim().into());
            self.chapters.push(Chapter { module, title, functions: Vec::new() });
            return Ok(());
        }
        let (head, params) = line.split_once('|').ok_or("expected NAME ATTRIBUTES | PARAMETERS")?;
        let callback = head.strip_prefix("callback ");
        let mut words = callback.unwrap_or(head).split_whitespace();
        let name = words.next().ok_or("the name is missing")?;
        let existing = |known: &Function| known.name == name;
        if self.all().any(existing) || self.callbacks.iter().any(existing) {
            return Err(format!("{name} is defined twice"));
        }
        let mut function = self.with_params(name, params)?;
        function.errors = self.default_errors(&function);
        for word in words {
            apply_attribute(&mut function, word)?;
        }
        if callback.is_some() {
            self.callbacks.push(function);
        } else {
            self.chapters.last_mut().ok_or("no chapter is open")?.functions.push(function);
        }
        Ok(())
    }

    fn with_params(&self, name: &str, words: &str) -> Result<Function, String> {
        let mut params = Vec::new();
        let mut variadic = false;
        for word in words.split_whitespace() {
            if word == "..." {
                variadic = true;
            } else if let Some(other) = word.strip_prefix("..") {
                let mut known = self.all().chain(&self.callbacks);
                let other = known.find(|function| function.name == other);
                let other = other.ok_or("the function whose parameters are meant is not above")?;
                params.extend(other.params.iter().cloned());
                variadic |= other.variadic;
            } else {
                params.push(self.parse_param(word)?);
            }
        }
        Ok(Function {
            name: name.into(),
            large: false,
            built: false,
            form: false,
            early: false,
            express: false,
            unguarded: false,
            deprecated: false,
            returns: Returns::ErrorCode,
            errors: Errors::Default,
            params,
            variadic,
        })
    }

    fn parse_param(&self, word: &str) -> Result<Param, String> {
        let (large_only, rest) = word.strip_prefix('+').map_or((false, word), |rest| (true, rest));
        let (direction, rest) = if let Some(rest) = rest.strip_prefix("<>") {
            (Direction::InOut, rest)
        } else if let Some(rest) = rest.strip_prefix('>') {
            (Direction::Out, rest)
        } else {
            (Direction::In, rest)
        };
        let (name, kind) = rest.split_once(':').unwrap_or((rest, rest));
        let (base, dimensions, length) = parse_array(kind)?;
        let kind = match base.strip_prefix("fn(").and_then(|rest| rest.strip_suffix(')')) {
            Some(name) => {
                let callback = self.callback(name).ok_or_else(|| format!("unknown callback {name}"))?;
                ParamKind::Callback(name.into(), callback.large)
            }
            None => ParamKind::from_word(base).ok_or_else(|| format!("unknown kind {base}"))?,
        };
        Ok(Param { name: name.into(), kind, direction, dimensions, length, large_only })
    }

    fn default_errors(&self, function: &Function) -> Errors {
        if self.chapters.last().is_some_and(|chapter| chapter.module == TOOL_CHAPTER) {
            return Errors::Returned;
        }
        let carries = |param: &Param| {
            param.kind.has_error_handler() && param.direction != Direction::Out && param.dimensions == 0
        };
        let is_group = |param: &Param| {
            matches!(param.kind, ParamKind::Object("MPI_Group")) && param.direction != Direction::Out
        };
        let params = &function.params;
        let named = params.iter().position(carries).or_else(|| params.iter().position(is_group));
        named.map_or(Errors::Default, Errors::Param)
    }
}

/// Takes `KIND`, `KIND[]`, `KIND[][]` or `KIND[LENGTH]` apart: the kind, the dimensions, and the length.
fn parse_array(kind: &str) -> Result<(&str, usize, Option<String>), String> {
    if let Some((base, length)) = kind.strip_suffix(']').and_then(|rest| rest.split_once('['))
        && !length.is_empty()
        && length.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    {
        return Ok((base, 1, Some(length.into())));
    }
    let base = kind.trim_end_matches("[]");
    if base.contains('[') {
        return Err(format!("{kind} has a length that is no name"));
    }
    Ok((base, (kind.len() - base.len()) / "[]".len(), None))
}

fn apply_attribute(function: &mut Function, word: &str) -> Result<(), String> {
    match word.split_once('=').unwrap_or((word, "")) {
        ("large", "") => function.large = true,
        ("built", "") => function.built = true,
        ("form", "") => function.form = true,
        ("early", "") => function.early = true,
        ("express", "") => function.express = true,
        ("unguarded", "") => function.unguarded = true,
        ("deprecated", "") => function.deprecated = true,
        ("returns", "void") => function.returns = Returns::Void,
        ("returns", kind) => {
            let kind = ParamKind::from_word(kind).ok_or("unknown kind of value")?;
            function.returns = Returns::Value(kind);
        }
        ("errors", "MPI_FILE_NULL") => function.errors = Errors::NullFile,
        ("errors", name) => {
            let index = function.params.iter().position(|param| param.name == name);
            function.errors = Errors::Param(index.ok_or("errors= names no parameter")?);
        }
        _ => return Err(format!("unknown attribute {word}")),
    }
    Ok(())
}
