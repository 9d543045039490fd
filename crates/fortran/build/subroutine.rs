//! Rust text of the subroutines: for each function of the table one for `mpif.h` and the module `mpi`, and
//! one or, with large counts, two for the module `mpi_f08`.

use heddle_spec::function::{Direction, Function, Kind, Param, Returns};
use heddle_spec::function_table::Functions;
use heddle_spec::mpi_f08;
use heddle_spec::mpif::has_subroutine;

/// The subroutines of `src/hand_written.rs` and, as they take functions of the program, `src/callbacks.rs`.
fn is_hand_written(function: &Function) -> bool {
    const NAMES: [&str; 13] = [
        "Comm_get_attr",
        "Comm_set_attr",
        "Info_create_env",
        "Info_get",
        "Info_get_string",
        "Init",
        "Init_thread",
        "Pcontrol",
        "Session_get_nth_pset",
        "Type_get_attr",
        "Type_set_attr",
        "Win_get_attr",
        "Win_set_attr",
    ];
    let is_callback = |param: &Param| matches!(param.kind, Kind::Callback(..));
    NAMES.contains(&function.name.as_str()) || function.params.iter().any(is_callback)
}

/// The form of a subroutine.
#[derive(Debug, Clone, Copy)]
struct Form {
    /// True for that of `mpi_f08`: buffers and texts come with a descriptor, and the error code is optional.
    f08: bool,
    /// True if counts are large.
    large: bool,
}

/// All subroutines, and the functions that they call.
pub(crate) fn subroutines(functions: &Functions) -> String {
    let mut declarations = String::new();
    let mut out = String::new();
    for function in functions.all().filter(|function| !function.name.starts_with("T_")) {
        for prefix in ["MPI", "PMPI"] {
            if is_conversion(function) && prefix == "MPI" {
                declarations += &declaration(function, prefix, false);
            }
            if !has_subroutine(function) {
                continue;
            }
            let is_made = !is_hand_written(function);
            for large in mpi_f08::forms(function) {
                declarations += &declaration(function, prefix, large);
                for f08 in [false, true].into_iter().filter(|f08| is_made && (*f08 || !large)) {
                    out += &subroutine(function, prefix, Form { f08, large });
                }
            }
        }
    }
    format!("unsafe extern \"C\" {{\n{declarations}}}\n{out}")
}

/// Returns true for the functions that make a handle of an integer, or the reverse.
fn is_conversion(function: &Function) -> bool {
    function.name.ends_with("_toint") || function.name.ends_with("_fromint")
}

fn declaration(function: &Function, prefix: &str, large: bool) -> String {
    let params = function.params_of(large);
    let mut params: Vec<String> =
        params.map(|param| format!("c_{}: {}", param.name, c_param(param, large))).collect();
    if function.variadic {
        params.push("...".into());
    }
    let name = c_name(function, prefix, large);
    format!("    pub(crate) fn {name}({}) -> {};\n", params.join(", "), result(function))
}

fn c_name(function: &Function, prefix: &str, large: bool) -> String {
    format!("{prefix}_{}{}", function.name, if large { "_c" } else { "" })
}

fn result(function: &Function) -> &'static str {
    match &function.returns {
        Returns::Value(kind) => c_value(kind, false),
        _ => "c_int",
    }
}

/// The Rust type of a value in C.
fn c_value(kind: &Kind, large: bool) -> &'static str {
    match kind {
        Kind::Count | Kind::Extent if large => "i64",
        Kind::Displ if large => "isize",
        Kind::Extent | Kind::Aint => "isize",
        Kind::BigCount | Kind::Offset => "i64",
        Kind::Double => "f64",
        Kind::Choice | Kind::Address | Kind::State | Kind::Attr | Kind::Callback(..) => "c_void",
        Kind::Text => "c_char",
        Kind::Status => "Status",
        Kind::Object(_) => "Handle",
        _ => "c_int",
    }
}

fn is_scalar(param: &Param) -> bool {
    param.dimensions == 0
        && !matches!(
            param.kind,
            Kind::Choice
                | Kind::Address
                | Kind::State
                | Kind::Attr
                | Kind::Callback(..)
                | Kind::Text
                | Kind::Range
                | Kind::Status
        )
}

fn c_param(param: &Param, large: bool) -> String {
    let value = c_value(&param.kind, large);
    match (&param.kind, param.dimensions, param.direction) {
        (Kind::Text, 1 | 2, direction) => {
            "*mut ".repeat(1 + param.dimensions + usize::from(direction != Direction::In)) + value
        }
        _ if is_scalar(param) && param.direction == Direction::In => value.into(),
        _ => format!("*mut {value}"),
    }
}

/// The text of a subroutine: its parameters, and the conversion of each to an argument in C.
#[derive(Default)]
struct Conversion {
    /// Its parameters, and behind them the lengths of texts.
    params: Vec<String>,
    lengths: Vec<String>,
    /// The statements before the call, its arguments, and the statements behind it.
    before: String,
    arguments: Vec<String>,
    behind: String,
}

fn subroutine(function: &Function, prefix: &str, form: Form) -> String {
    let mut conversion = Conversion::default();
    for param in function.params_of(form.large) {
        conversion.add(function, param, form);
    }
    let Conversion { mut params, lengths, before, arguments, behind } = conversion;
    let call = format!("{}({})", c_name(function, prefix, form.large), arguments.join(", "));
    let symbol = if form.f08 {
        mpi_f08::symbol(function, prefix, form.large)
    } else {
        format!("{}_{}_", prefix.to_lowercase(), function.name.to_lowercase())
    };
    let name = format!("fortran_{symbol}");
    let head = |params: &[String], result: &str| {
        format!(
            "#[unsafe(export_name = \"{symbol}\")]\npub unsafe extern \"C\" fn {name}({}){result} {{\n\
             // SAFETY: the program's arguments are those that the standard asks for.\nunsafe {{\n",
            params.join(", ")
        )
    };
    if let Returns::Value(kind) = &function.returns {
        return format!("{}{call}\n}}\n}}\n", head(&params, &format!(" -> {}", c_value(kind, false))));
    }
    params.push("ierror: *mut c_int".into());
    params.extend(lengths);
    let tell = if form.f08 { "if !ierror.is_null() { ierror.write(code); }" } else { "ierror.write(code);" };
    format!("{}{before}let code = {call};\n{behind}{tell}\n}}\n}}\n", head(&params, ""))
}

impl Conversion {
    fn add(&mut self, function: &Function, param: &Param, form: Form) {
        let name = format!("f_{}", param.name);
        let c_value = |kind| c_value(kind, form.large);
        let is_buffer =
            param.kind == Kind::Choice || param.kind == Kind::Address && param.direction == Direction::In;
        let pointer = |value: &str| format!("{name}: *mut {value}");
        let (taken, given) = match &param.kind {
            _ if is_buffer && form.f08 => {
                (format!("{name}: *const Descriptor"), format!("special::buffer({})", address(&name, form)))
            }
            _ if is_buffer => (pointer("c_void"), format!("special::buffer({})", address(&name, form))),
            // This form has no use for the address of the buffer that is detached (MPI 5.0, section 3.6).
            Kind::Address if param.name == "buffer_addr" && !form.f08 => {
                self.before += "let mut detached: *mut c_void = std::ptr::null_mut();\n";
                (format!("_{name}: *mut c_void"), "(&raw mut detached).cast()".into())
            }
            Kind::Address => (pointer("c_void"), name.clone()),
            Kind::Status => (pointer("Status"), format!("special::status({name})")),
            Kind::Text => self.text(function, param, &name, form),
            Kind::Logical => self.logical(param, &name),
            Kind::Object(object) => self.handle(function, param, &name, object, form),
            Kind::Int if param.name.ends_with("weights") => {
                (pointer("c_int"), format!("special::weights({name})"))
            }
            kind if is_scalar(param) && param.direction == Direction::In => {
                (pointer(c_value(kind)), format!("*{name}"))
            }
            kind => {
                self.count_from_one(function, param, &name);
                (pointer(c_value(kind)), name.clone())
            }
        };
        self.params.push(taken);
        self.arguments.push(given);
    }

    /// Positions in arrays of requests begin with 1.
    fn count_from_one(&mut self, function: &Function, param: &Param, name: &str) {
        let of_requests = function.params.iter().any(|param| param.name == "array_of_requests");
        let len = match param.name.as_str() {
            "indx" if of_requests => "1",
            "array_of_indices" => "*f_outcount",
            _ => return,
        };
        self.behind += &format!("if code == MPI_SUCCESS {{ array::count_from_one({name}, {len}); }}\n");
    }

    fn text(&mut self, function: &Function, param: &Param, name: &str, form: Form) -> (String, String) {
        let (text, length) = (format!("t_{}", param.name), format!("l_{}", param.name));
        let taken = if form.f08 {
            self.before += &format!("let ({name}, {length}) = (*{name}).characters();\n");
            format!("{name}: *const Descriptor")
        } else {
            self.lengths.push(format!("{length}: usize"));
            format!("{name}: *mut c_char")
        };
        if param.direction == Direction::In {
            let to_c = if function.name.starts_with("Info_") { "to_c_trimmed" } else { "to_c" };
            self.before += &format!("let {text} = text::{to_c}({name}, {length});\n");
            return (taken, format!("{text}.as_ptr().cast_mut()"));
        }
        self.before += &format!("let mut {text} = text::buffer();\n");
        self.behind +=
            &format!("if code == MPI_SUCCESS {{ text::to_fortran(&{text}, {name}, {length}); }}\n");
        (taken, format!("{text}.as_mut_ptr().cast()"))
    }

    fn logical(&mut self, param: &Param, name: &str) -> (String, String) {
        let (value, taken) = (format!("v_{}", param.name), format!("{name}: *mut c_int"));
        match (length(param), param.direction) {
            (None, Direction::In) => (taken, format!("logical::to_c(*{name})")),
            (None, _) => {
                self.before += &format!("let mut {value} = 0;\n");
                self.behind +=
                    &format!("if code == MPI_SUCCESS {{ {name}.write(logical::to_fortran({value})); }}\n");
                (taken, format!("&raw mut {value}"))
            }
            (Some(length), Direction::In) => {
                self.before += &format!("let mut {value} = array::to_c({name}, {length}, logical::to_c);\n");
                (taken, format!("{value}.as_mut_ptr()"))
            }
            (Some(length), _) => {
                self.before += &format!("let mut {value} = array::zeroed({length});\n");
                self.behind += &format!(
                    "if code == MPI_SUCCESS {{ array::to_fortran(&mut {value}, {name}, logical::to_fortran); }}\n"
                );
                (taken, format!("{value}.as_mut_ptr()"))
            }
        }
    }

    fn handle(
        &mut self,
        function: &Function,
        param: &Param,
        name: &str,
        object: &str,
        form: Form,
    ) -> (String, String) {
        let kind = if object == "MPI_Datatype" { "MPI_Type" } else { object };
        let (value, taken) = (format!("v_{}", param.name), format!("{name}: *mut c_int"));
        let from_int = |of: &str| format!("handle::from_int({of}, {kind}_fromint)");
        let to_int = |of: &str| format!("handle::to_int({of}, {kind}_toint)");
        let is_out = param.direction == Direction::Out;
        let Some(length) = length(param) else {
            if param.direction == Direction::In {
                return (taken, from_int(&format!("*{name}")));
            }
            let before = if is_out { "0".into() } else { from_int(&format!("*{name}")) };
            self.before += &format!("let mut {value} = {before};\n");
            let condition = if is_out { "if code == MPI_SUCCESS " } else { "" };
            self.behind += &format!("{condition}{{ {name}.write({}); }}\n", to_int(&value));
            return (taken, format!("&raw mut {value}"));
        };
        self.before += &if is_out {
            format!("let mut {value} = array::zeroed::<Handle>({length});\n")
        } else {
            // Under MPI_IN_PLACE there need not be types of what is sent.
            let length = match function.params.first() {
                Some(first) if first.kind == Kind::Choice && param.name == "sendtypes" => {
                    let buffer = format!("f_{}", first.name);
                    format!("if special::is_in_place({}) {{ 0 }} else {{ {length} }}", address(&buffer, form))
                }
                _ => length,
            };
            format!("let mut {value} = array::to_c({name}, {length}, |handle| {});\n", from_int("handle"))
        };
        if param.direction != Direction::In {
            let condition = if is_out { "if code == MPI_SUCCESS " } else { "" };
            self.behind += &format!(
                "{condition}{{ array::to_fortran(&mut {value}, {name}, |handle| {}); }}\n",
                to_int("handle")
            );
        }
        (taken, format!("{value}.as_mut_ptr()"))
    }
}

/// Where a buffer begins.
fn address(buffer: &str, form: Form) -> String {
    if form.f08 { format!("(*{buffer}).address") } else { buffer.into() }
}

/// The number of elements of an array that is converted.
fn length(param: &Param) -> Option<String> {
    let length = param.length.as_deref()?;
    Some(match length {
        "processes" | "dimensions" | "sources" | "destinations" => {
            format!("number_of::{length}(handle::from_int(*f_comm, MPI_Comm_fromint))")
        }
        param => format!("*f_{param}"),
    })
}
