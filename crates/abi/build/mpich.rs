//! Rust text of the entries of programs that were compiled for MPICH's ABI: each converts its arguments,
//! calls the entry point of the standard's ABI, and converts what comes back.

use super::parameter;
use heddle_spec::function::{Direction, Function, Param, ParamKind, Returns};
use heddle_spec::function_table::Functions;
use heddle_spec::mpich::{EntryOrigin, origin_of_entry};

/// The entries of all functions but those of `src/mpich/hand_written.rs`.
pub(crate) fn mpich_entries(functions: &Functions) -> String {
    let mut out = String::new();
    for function in functions.all() {
        for (name, large) in function.forms() {
            out += &match origin_of_entry(function) {
                EntryOrigin::HandWritten => continue,
                EntryOrigin::Same => same(&name, function),
                EntryOrigin::Made => made(&name, function, large),
            };
        }
    }
    out
}

/// A number that stands for a handle in both languages.
fn same(name: &str, function: &Function) -> String {
    let name = symbol(name);
    let param = &function.params[0].name;
    format!("#[unsafe(no_mangle)]\npub extern \"C\" fn {name}({param}: c_int) -> c_int {{ {param} }}\n")
}

/// `MPI_Send` has `heddle_mpich_Send`.
fn symbol(name: &str) -> String {
    name.replacen("MPI", "heddle_mpich", 1)
}

/// The parts of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// For the world's communicator, basic datatypes and ordinary ranks and tags, which are converted without
    /// a call.
    Usual,
    /// For all.
    Whole,
}

fn made(name: &str, function: &Function, large: bool) -> String {
    let text = |part| Text::new(function, large, part);
    let usual = text(Part::Usual);
    if !function.express || usual.exceptions.is_empty() {
        let head = format!("#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {}", symbol(name));
        return entry(name, function, large, (&head, ""), text(Part::Whole));
    }
    let other = format!("other_{}", symbol(name));
    let names: Vec<&str> = usual.params.iter().filter_map(|param| Some(param.split_once(':')?.0)).collect();
    let begin = format!(
        "{}if {} {{ return {other}({}); }}\n",
        usual.usual,
        usual.exceptions.join(" || "),
        names.join(", ")
    );
    let head = format!("#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {}", symbol(name));
    let other = format!("#[inline(never)]\nunsafe extern \"C\" fn {other}");
    entry(name, function, large, (&other, ""), text(Part::Whole))
        + &entry(name, function, large, (&head, &begin), usual)
}

/// The text of a part.
fn entry(name: &str, function: &Function, large: bool, (head, begin): (&str, &str), text: Text) -> String {
    let Text { params, before, arguments, mut behind, .. } = text;
    let before = format!("{begin}{before}").replace("NAME", &format!("{name:?}"));
    behind += after(function, large);
    let (params, arguments) = (params.join(", "), arguments.join(", "));
    let call = format!("crate::entry_points::{name}({arguments})");
    let (result, body) = match &function.returns {
        Returns::Value(ParamKind::Object("MPI_File")) => {
            ("usize".into(), format!("{before}handle::pointer_of_file({call})"))
        }
        Returns::Value(kind) => (parameter::value_type(kind, large), format!("{before}{call}")),
        _ => ("c_int".into(), format!("{before}let code = {call};\n{behind}constant::result(code)")),
    };
    format!(
        "{head}({params}) -> {result} {{\n\
         // SAFETY: the program's arguments are those that the standard asks for.\nunsafe {{\n{body}\n}}\n}}\n"
    )
}

/// Text that converts what the table does not describe, behind the call.
fn after(function: &Function, large: bool) -> &'static str {
    match (function.name.as_str(), large) {
        ("Comm_get_attr", _) => "after::comm_attribute(code, c_comm_keyval, c_attribute_val, c_flag);\n",
        ("Attr_get", _) => "after::comm_attribute(code, c_keyval, c_attribute_val, c_flag);\n",
        ("Win_get_attr", _) => "after::win_attribute(code, c_win_keyval, c_attribute_val, c_flag);\n",
        ("Type_get_contents", false) => "after::contents(code, false, c_datatype, c_array_of_integers);\n",
        ("Type_get_contents", true) => "after::contents(code, true, c_datatype, c_array_of_integers);\n",
        ("Abi_get_version", _) => "after::abi_version(code, c_abi_major, c_abi_minor);\n",
        ("Get_library_version", _) => "after::library_version(code, c_version, c_resultlen);\n",
        _ => "",
    }
}

/// The pieces of an entry's text.
struct Text {
    part: Part,
    params: Vec<String>,
    /// Statements that look up usual handles, and the conditions under which arguments are not usual.
    usual: String,
    exceptions: Vec<String>,
    before: String,
    arguments: Vec<String>,
    behind: String,
}

impl Text {
    fn new(function: &Function, large: bool, part: Part) -> Text {
        let none = String::new;
        let mut text = Text {
            part,
            params: Vec::new(),
            usual: none(),
            exceptions: Vec::new(),
            before: none(),
            arguments: Vec::new(),
            behind: none(),
        };
        for param in function.params_of(large) {
            text.add(function, param, large);
        }
        text
    }

    /// A handle that the usual part converts without a call.
    fn usual_handle(&mut self, name: &str, handle: &str) -> String {
        self.usual += &format!("let u_{name} = {handle}::usual({name});\n");
        self.exceptions.push(format!("u_{name}.word() == 0"));
        format!("u_{name}")
    }

    /// A rank or tag without a special meaning.
    fn usual_number(&mut self, name: String) -> String {
        self.exceptions.push(format!("{name} < 0"));
        name
    }

    fn add(&mut self, function: &Function, param: &Param, large: bool) {
        let name = format!("c_{}", param.name);
        self.params.push(format!("{name}: {}", c_type(param, large)));
        let argument = match (&param.kind, param.dimensions, param.direction) {
            (ParamKind::Object(kind), ..) if is_word(kind) => name,
            (ParamKind::Object("MPI_T_cb_safety"), ..) => self.constant(function, param, "T_CB_SAFETIES"),
            (ParamKind::Object("MPI_T_source_order"), ..) => {
                self.constant(function, param, "T_SOURCE_ORDERS")
            }
            (ParamKind::Object("MPI_File"), 0, Direction::In) => format!("handle::file({name})"),
            (ParamKind::Object("MPI_File"), ..) => self.file(param),
            (ParamKind::Object(kind @ ("MPI_Comm" | "MPI_Datatype" | "MPI_Op")), 0, Direction::In)
                if self.part == Part::Usual =>
            {
                self.usual_handle(&name, &handle_type(kind))
            }
            (ParamKind::Object(kind), 0, Direction::In) => {
                format!("{}::of_number({name})", handle_type(kind))
            }
            (ParamKind::Object(kind), 0, _) => self.handle_out(param, &handle_type(kind)),
            (ParamKind::Object(kind), ..) => self.handles(function, param, &handle_type(kind)),
            (ParamKind::Status, 0, Direction::In) => {
                self.before += &format!("let mut v_{name} = ConvertedStatus::given({name}.cast_mut());\n");
                format!("v_{name}.pointer()")
            }
            (ParamKind::Status, 0, direction) => {
                let new = if direction == Direction::Out { "new" } else { "given" };
                self.before += &format!("let mut v_{name} = ConvertedStatus::{new}({name});\n");
                self.behind += &format!("v_{name}.hand_over();\n");
                format!("v_{name}.pointer()")
            }
            (ParamKind::Status, ..) => self.statuses(function, &name),
            // That asks for an address, whatever it stands for.
            (ParamKind::Choice, ..) if function.name == "Get_address" => name,
            (ParamKind::Choice, ..) => format!("constant::buffer({name})"),
            (ParamKind::Address, _, Direction::In) => format!("constant::buffer({name})"),
            (ParamKind::Address, ..) if param.name == "buffer_addr" => {
                self.behind += &format!("after::detached(code, {name});\n");
                name
            }
            (ParamKind::Rank | ParamKind::Tag, 0, Direction::In) if self.part == Part::Usual => {
                self.usual_number(name)
            }
            (ParamKind::Rank, 0, Direction::In) => format!("constant::rank({name})"),
            (ParamKind::Tag, 0, Direction::In) => format!("constant::tag({name})"),
            (ParamKind::Rank, 0, _) => self.changed_behind(&name, "constant::their_rank"),
            (ParamKind::Tag, 0, _) => self.changed_behind(&name, "constant::their_tag"),
            (ParamKind::Rank, ..) if param.length.is_some() => {
                self.numbers(function, param, "constant::rank", "constant::their_rank")
            }
            (ParamKind::Keyval, ..) => self.constant(function, param, "KEYVALS"),
            (ParamKind::Constant("ERROR_CLASSES"), 0, Direction::In) => format!("constant::error({name})"),
            (ParamKind::Constant("ERROR_CLASSES"), 0, _) => {
                self.changed_behind(&name, "constant::their_error")
            }
            (ParamKind::Constant("ERROR_CLASSES"), ..) => name,
            (ParamKind::Constant(group), ..) => self.constant(function, param, group),
            _ => name,
        };
        self.arguments.push(argument);
    }

    /// One of a group of constants, or several.
    fn constant(&mut self, function: &Function, param: &Param, group: &str) -> String {
        let name = format!("c_{}", param.name);
        let (to, from) = (format!("constants::to_{group}"), format!("constants::from_{group}"));
        match (param.dimensions, param.direction) {
            (0, Direction::In) => format!("{to}({name})"),
            (0, Direction::Out) => self.changed_behind(&name, &from),
            (0, Direction::InOut) => {
                self.before += &format!("if !{name}.is_null() {{ *{name} = {to}(*{name}); }}\n");
                self.behind += &format!("if !{name}.is_null() {{ *{name} = {from}(*{name}); }}\n");
                name
            }
            _ => self.numbers(function, param, &to, &from),
        }
    }

    /// A number that the call sets, and that is changed then.
    fn changed_behind(&mut self, name: &str, change: &str) -> String {
        self.behind +=
            &format!("if code == MPI_SUCCESS && !{name}.is_null() {{ *{name} = {change}(*{name}); }}\n");
        name.into()
    }

    /// An array of numbers.
    fn numbers(&mut self, function: &Function, param: &Param, to: &str, from: &str) -> String {
        let (name, length) = (format!("c_{}", param.name), length(function, param));
        if param.direction == Direction::In {
            self.before += &format!(
                "let mut v_{name} = Array::room();\nif !v_{name}.fill_from({name}, {length}, {to}) {{ return no_memory(NAME); }}\n"
            );
            return format!("v_{name}.pointer({name}.cast())");
        }
        self.behind += &format!("if code == MPI_SUCCESS {{ array::change({name}, {length}, {from}); }}\n");
        name
    }

    fn file(&mut self, param: &Param) -> String {
        let name = format!("c_{}", param.name);
        self.before += &format!("let mut v_{name} = handle::FileOut::given({name});\n");
        self.behind += &format!("v_{name}.hand_over();\n");
        format!("v_{name}.pointer()")
    }

    fn handle_out(&mut self, param: &Param, handle: &str) -> String {
        let name = format!("c_{}", param.name);
        let is_given = param.direction == Direction::InOut;
        let new = if is_given { "given" } else { "new" };
        self.before += &format!("let mut v_{name} = HandleOut::<{handle}>::{new}({name});\n");
        self.behind += &format!("v_{name}.hand_over();\n");
        format!("v_{name}.pointer()")
    }

    fn handles(&mut self, function: &Function, param: &Param, handle: &str) -> String {
        let name = format!("c_{}", param.name);
        let mut length = length(function, param);
        // Under MPI_IN_PLACE there need not be types of what is sent.
        if param.name == "sendtypes" {
            length = format!(
                "if constant::buffer(c_{}).addr() == MPI_IN_PLACE {{ 0 }} else {{ {length} }}",
                function.params[0].name
            );
        }
        if param.direction == Direction::Out {
            self.before += &format!(
                "let mut v_{name} = Array::room();\nif !v_{name}.fill({length}, array::unset::<{handle}>()) {{ return no_memory(NAME); }}\n"
            );
            self.behind +=
                &format!("if code == MPI_SUCCESS {{ array::hand_over_set(&mut v_{name}, {name}); }}\n");
        } else {
            self.before += &format!(
                "let mut v_{name} = Array::room();\nif !v_{name}.fill_from({name}, {length}, {handle}::of_number) {{ return no_memory(NAME); }}\n"
            );
            if param.direction == Direction::InOut {
                self.behind += &format!("array::hand_over(&mut v_{name}, {name});\n");
            }
        }
        format!("v_{name}.pointer({name}.cast())")
    }

    /// An array of statuses, one for each request.
    fn statuses(&mut self, function: &Function, name: &str) -> String {
        let requests = function.params.iter().find_map(|param| {
            (param.kind == ParamKind::Object("MPI_Request")).then(|| length(function, param))
        });
        let requests = requests.expect("statuses belong to requests");
        self.before += &format!(
            "let mut v_{name} = Array::room();\nif !array::fill_statuses(&mut v_{name}, {name}, {requests}) {{ return no_memory(NAME); }}\n"
        );
        self.behind += &format!("array::hand_over_statuses(&mut v_{name}, {name});\n");
        format!("v_{name}.pointer_or_null()")
    }
}

/// The number of elements of an array that is converted.
fn length(function: &Function, param: &Param) -> String {
    match param.length.as_deref() {
        Some(known @ ("processes" | "sources" | "destinations")) => {
            format!("number_of::{known}(c_comm)")
        }
        Some(length) => {
            let of = function.params.iter().find(|param| param.name == length);
            match of.map(|param| param.direction) {
                Some(Direction::In) | None => format!("c_{length}"),
                Some(_) => format!("array::length_at(c_{length})"),
            }
        }
        None => panic!("the length of {} is not in functions.table", param.name),
    }
}

/// Objects of the tool information interface are words in both ABIs.
fn is_word(kind: &str) -> bool {
    kind.starts_with("MPI_T_") && !["MPI_T_cb_safety", "MPI_T_source_order"].contains(&kind)
}

fn handle_type(kind: &str) -> String {
    format!("{}Handle", kind.trim_start_matches("MPI_"))
}

/// The type with which a parameter arrives from the program.
fn c_type(param: &Param, large: bool) -> String {
    let pointer = if param.direction == Direction::In { "*const" } else { "*mut" };
    let is_value = param.dimensions == 0 && param.direction == Direction::In;
    match &param.kind {
        ParamKind::Object(kind) if is_word(kind) => parameter::c_type(param, large),
        ParamKind::Object("MPI_File") if is_value => "usize".into(),
        ParamKind::Object("MPI_File") => format!("{pointer} usize"),
        ParamKind::Object(_) if is_value => "c_int".into(),
        ParamKind::Object(_) => format!("{pointer} c_int"),
        ParamKind::Status => format!("{pointer} Status"),
        _ => parameter::c_type(param, large),
    }
}
