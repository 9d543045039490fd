//! Rust text of the entries of programs that were compiled for another ABI: each converts its arguments,
//! calls the entry point of the standard's ABI, and converts what comes back.

use super::face::{Face, handle_type, object_type};
use super::integer_entries::{integer, same};
use super::parameter;
use heddle_spec::function::{Direction, Function, Param, ParamKind, Returns};
use heddle_spec::function_table::Functions;
use heddle_spec::stubs::{EntryOrigin, origin_of_entry};

/// The imports of the entries.
const USES: &str = "\
    use super::array::{self, Array};\n\
    use super::foreign::Foreign;\n\
    use super::handle_out::HandleOut;\n\
    use super::converted_status::ConvertedStatus;\n\
    use super::status::Status;\n\
    use super::text::ShorterText;\n\
    use super::{address, after, callback, constant, constants, number_of, removed};\n\
    use heddle_spec::constants::{MPI_IN_PLACE, MPI_SUCCESS};\n\
    use heddle_spec::handle::*;\n\
    use std::ffi::{c_char, c_int, c_void};\n";

/// Entries that are functions of `src/foreign`, without conversions: names, files and parameters.
const WRITTEN: [(&str, &str, &str); 7] = [
    ("Status_copy", "removed", "from: *const Status, to: *mut Status"),
    ("Type_extent", "removed", "datatype: HANDLE, extent: *mut isize"),
    ("Type_lb", "removed", "datatype: HANDLE, displacement: *mut isize"),
    ("Type_ub", "removed", "datatype: HANDLE, displacement: *mut isize"),
    ("keep_value", "callback", COPY),
    ("drop_value", "callback", COPY),
    ("delete_nothing", "callback", "object: HANDLE, key: c_int, value: *mut c_void, state: *mut c_void"),
];
const COPY: &str = "object: HANDLE, key: c_int, state: *mut c_void, value: *mut c_void, copy: *mut *mut c_void, flag: *mut c_int";

/// The entries of all functions.
pub(crate) fn foreign_entries(face: Face<'_>, functions: &Functions) -> String {
    let mut out = String::from(USES);
    for function in functions.all() {
        for (name, large) in function.forms() {
            out += &match origin_of_entry(face.abi, function) {
                EntryOrigin::HandWritten => by_hand(face, &name, function, large),
                EntryOrigin::Same => same(face, &name, function),
                EntryOrigin::Integer => integer(face, &name, function),
                EntryOrigin::Made => made(face, &name, function, large),
            };
        }
    }
    for (name, file, params) in WRITTEN {
        let params: Vec<String> =
            params.split(", ").map(|param| param.replace("HANDLE", face.handle())).collect();
        out += &calls(face, name, file, &params);
    }
    out
}

/// A function that is written by hand, for it takes functions of the program.
fn by_hand(face: Face<'_>, name: &str, function: &Function, large: bool) -> String {
    let params =
        function.params_of(large).map(|param| format!("{}: {}", param.name, c_type(face, param, large)));
    calls(face, name, "callback", &params.collect::<Vec<_>>())
}

/// An entry that calls a function of `src/foreign`.
fn calls(face: Face<'_>, name: &str, file: &str, params: &[String]) -> String {
    let names: Vec<&str> = params.iter().filter_map(|param| Some(param.split_once(':')?.0)).collect();
    let function = name.trim_start_matches("MPI_").to_lowercase();
    format!(
        "{}({}) -> c_int {{\n// SAFETY: the same.\nunsafe {{ {file}::{function}({}) }}\n}}\n",
        face.head(name),
        params.join(", "),
        names.join(", ")
    )
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

fn made(face: Face<'_>, name: &str, function: &Function, large: bool) -> String {
    let text = |part| Text::new(face, function, large, part);
    let usual = text(Part::Usual);
    if !function.express || usual.exceptions.is_empty() {
        return entry(name, function, large, (&face.head(name), ""), text(Part::Whole));
    }
    let other = format!("other_{name}");
    let names: Vec<&str> = usual.params.iter().filter_map(|param| Some(param.split_once(':')?.0)).collect();
    let begin = format!(
        "{}if {} {{ return {other}({}); }}\n",
        usual.usual,
        usual.exceptions.join(" || "),
        names.join(", ")
    );
    let other = format!("#[inline(never)]\nunsafe extern \"C\" fn {other}");
    entry(name, function, large, (&other, ""), text(Part::Whole))
        + &entry(name, function, large, (&face.head(name), &begin), usual)
}

/// The text of a part.
fn entry(
    name: &str,
    function: &Function,
    large: bool,
    (head, begin): (&str, &str),
    text: Text<'_>,
) -> String {
    let Text { face, params, before, arguments, mut behind, .. } = text;
    let before = format!("{begin}{before}").replace("NAME", &format!("{name:?}"));
    behind += after(function, large);
    let (params, arguments) = (params.join(", "), arguments.join(", "));
    let call = format!("crate::entry_points::{name}({arguments})");
    let (result, body) = match &function.returns {
        Returns::Value(ParamKind::Object(kind)) => {
            (object_type(face, kind).into(), format!("{before}{call}.number()"))
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
struct Text<'a> {
    face: Face<'a>,
    part: Part,
    params: Vec<String>,
    /// Statements that look up usual handles, and the conditions under which arguments are not usual.
    usual: String,
    exceptions: Vec<String>,
    before: String,
    arguments: Vec<String>,
    behind: String,
}

impl<'a> Text<'a> {
    fn new(face: Face<'a>, function: &Function, large: bool, part: Part) -> Text<'a> {
        let none = String::new;
        let mut text = Text {
            face,
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
        self.params.push(format!("{name}: {}", c_type(self.face, param, large)));
        let argument = match (&param.kind, param.dimensions, param.direction) {
            (ParamKind::Object("MPI_T_pvar_handle"), 0, Direction::In) => {
                format!("address::pvar_handle({name})")
            }
            (ParamKind::Object(kind), ..) if is_word(kind) => name,
            (ParamKind::Object("MPI_T_cb_safety"), ..) => self.constant(function, param, "T_CB_SAFETIES"),
            (ParamKind::Object("MPI_T_source_order"), ..) => {
                self.constant(function, param, "T_SOURCE_ORDERS")
            }
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
            (ParamKind::Choice, ..) => format!("address::buffer({name})"),
            (ParamKind::Address, _, Direction::In) => format!("address::buffer({name})"),
            (ParamKind::Address, ..) if param.name == "buffer_addr" => {
                self.behind += &format!("address::detached(code, {name});\n");
                name
            }
            (ParamKind::Int, 1, direction) if param.name.ends_with("weights") => {
                let cast = if direction == Direction::In { "" } else { ".cast_mut()" };
                format!("address::weights({name}){cast}")
            }
            (ParamKind::Text, 0, Direction::Out) => self.text(function, &name),
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
        if !self.face.has_group(group) {
            return name;
        }
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
                "let mut v_{name} = Array::room();\nif !v_{name}.fill_from({name}, {length}, {to}) {{ return array::no_memory(NAME); }}\n"
            );
            return format!("v_{name}.pointer({name})");
        }
        self.behind += &format!("if code == MPI_SUCCESS {{ array::change({name}, {length}, {from}); }}\n");
        name
    }

    /// A text that may be longer in the standard's ABI.
    fn text(&mut self, function: &Function, name: &str) -> String {
        let limit = match function.name.as_str() {
            "Error_string" => "MPI_MAX_ERROR_STRING",
            "Get_processor_name" => "MPI_MAX_PROCESSOR_NAME",
            "Info_get_nthkey" => "MPI_MAX_INFO_KEY",
            other if other.ends_with("_get_name") => "MPI_MAX_OBJECT_NAME",
            _ => return name.into(),
        };
        let Some((ours, theirs)) = self.face.lengths(limit) else { return name.into() };
        let length = if limit == "MPI_MAX_INFO_KEY" { "std::ptr::null_mut()" } else { "c_resultlen" };
        self.before += &format!("let mut v_{name} = ShorterText::<{ours}, {theirs}>::new({name});\n");
        self.behind += &format!("v_{name}.hand_over(code, {length});\n");
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
                "if address::buffer(c_{}).addr() == MPI_IN_PLACE {{ 0 }} else {{ {length} }}",
                function.params[0].name
            );
        }
        if param.direction == Direction::Out {
            self.before += &format!(
                "let mut v_{name} = Array::room();\nif !v_{name}.fill({length}, array::unset::<{handle}>()) {{ return array::no_memory(NAME); }}\n"
            );
            self.behind +=
                &format!("if code == MPI_SUCCESS {{ array::hand_over_set(&mut v_{name}, {name}); }}\n");
        } else {
            self.before += &format!(
                "let mut v_{name} = Array::room();\nif !v_{name}.fill_from({name}, {length}, {handle}::of_number) {{ return array::no_memory(NAME); }}\n"
            );
            if param.direction == Direction::InOut {
                self.behind += &format!("array::hand_over(&mut v_{name}, {name});\n");
            }
        }
        format!("v_{name}.pointer({name})")
    }

    /// An array of statuses, one for each request.
    fn statuses(&mut self, function: &Function, name: &str) -> String {
        let requests = function.params.iter().find_map(|param| {
            (param.kind == ParamKind::Object("MPI_Request")).then(|| length(function, param))
        });
        let requests = requests.expect("statuses belong to requests");
        self.before += &format!(
            "let mut v_{name} = Array::room();\nif !array::fill_statuses(&mut v_{name}, {name}, {requests}) {{ return array::no_memory(NAME); }}\n"
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

/// The type with which a parameter arrives from the program.
fn c_type(face: Face<'_>, param: &Param, large: bool) -> String {
    let pointer = if param.direction == Direction::In { "*const" } else { "*mut" };
    let is_value = param.dimensions == 0 && param.direction == Direction::In;
    match &param.kind {
        ParamKind::Object(kind) if is_word(kind) => parameter::c_type(param, large),
        ParamKind::Object("MPI_T_cb_safety" | "MPI_T_source_order") => parameter::c_type(param, large),
        ParamKind::Object(kind) if is_value => object_type(face, kind).into(),
        ParamKind::Object(kind) => format!("{pointer} {}", object_type(face, kind)),
        ParamKind::Status => format!("{pointer} Status"),
        _ => parameter::c_type(param, large),
    }
}
