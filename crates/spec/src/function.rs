//! The functions of the standard: the model behind `functions.table`. The table's own head explains its
//! notation.

/// A chapter of the standard with its functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter {
    /// Name of the Rust module that holds the bodies.
    pub module: String,
    /// The chapter's title.
    pub title: String,
    /// The functions, in the order of the table.
    pub functions: Vec<Function>,
}

/// One function, or one type of callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Name without `MPI_` and `_c`.
    pub name: String,
    /// True if there is a large-count form.
    pub large: bool,
    /// True if it has a body.
    pub built: bool,
    /// True if its body is told which form was called.
    pub form: bool,
    /// True if it may be called before initialisation and after finalisation.
    pub early: bool,
    /// True if it has an express path that is tried first.
    pub express: bool,
    /// True if it must not wait for another thread; then it runs outside of the model's call section.
    pub unguarded: bool,
    /// True if the standard advises against it.
    pub deprecated: bool,
    /// Its result.
    pub returns: Returns,
    /// The object whose error handler is called.
    pub errors: Errors,
    /// The parameters; those of the large form included.
    pub params: Vec<Param>,
    /// True if C's variable arguments follow.
    pub variadic: bool,
}

/// The result of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Returns {
    /// An error code.
    ErrorCode,
    /// Nothing.
    Void,
    /// A value of this kind.
    Value(ParamKind),
}

/// The object whose error handler is called when a function fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errors {
    /// The object in the parameter with this index.
    Param(usize),
    /// The default one.
    Default,
    /// `MPI_FILE_NULL`.
    NullFile,
    /// None: the error code is only returned.
    Returned,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Name in C.
    pub name: String,
    /// Its meaning.
    pub kind: ParamKind,
    /// Its direction.
    pub direction: Direction,
    /// The number of array dimensions: 0, 1 or 2.
    pub dimensions: usize,
    /// Where Fortran's form converts the elements of an array: the parameter with their number, or the word
    /// of `functions.table` for a number that the communicator knows.
    pub length: Option<String>,
    /// True if only the large-count form has it.
    pub large_only: bool,
}

/// The direction of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Input.
    In,
    /// Output.
    Out,
    /// Input and output.
    InOut,
}

/// The meaning of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParamKind {
    /// A number.
    Int,
    /// A rank.
    Rank,
    /// A tag.
    Tag,
    /// A constant of this group of `constants.table`, or bits of it. An error may be one that the program
    /// added.
    Constant(&'static str),
    /// A truth value.
    Logical,
    /// A key of attributes.
    Keyval,
    /// A number of elements: `int`, or `MPI_Count` in the large form.
    Count,
    /// A displacement in elements, or its unit: `int`, or `MPI_Aint` in the large form.
    Displ,
    /// A displacement or size in bytes: `MPI_Aint`, or `MPI_Count` in the large form.
    Extent,
    /// An address or a size in memory.
    Aint,
    /// A number of 64 bits in both forms.
    BigCount,
    /// A position in a file.
    Offset,
    /// Seconds.
    Double,
    /// A buffer of any type.
    Choice,
    /// Memory to use, or a pointer that receives its address.
    Address,
    /// The program's extra state.
    State,
    /// The value of an attribute.
    Attr,
    /// Text.
    Text,
    /// Triplets of first rank, last rank, stride.
    Range,
    /// `MPI_Status`.
    Status,
    /// A handle or an enumeration of MPI_T, with its C type.
    Object(&'static str),
    /// A callback, with its name (without `MPI_`) and whether it has a large form.
    Callback(String, bool),
}

/// The words of `functions.table` for kinds, and the kinds.
const KINDS: &[(&str, ParamKind)] = &[
    ("int", ParamKind::Int),
    ("rank", ParamKind::Rank),
    ("tag", ParamKind::Tag),
    ("logical", ParamKind::Logical),
    ("comparison", ParamKind::Constant("COMPARISONS")),
    ("topology", ParamKind::Constant("TOPOLOGIES")),
    ("splittype", ParamKind::Constant("SPLIT_TYPES")),
    ("level", ParamKind::Constant("THREAD_LEVELS")),
    ("error", ParamKind::Constant("ERROR_CLASSES")),
    ("combiner", ParamKind::Constant("COMBINERS")),
    ("typeclass", ParamKind::Constant("TYPE_CLASSES")),
    ("order", ParamKind::Constant("ORDERS")),
    ("distribution", ParamKind::Constant("DISTRIBUTIONS")),
    ("locktype", ParamKind::Constant("LOCK_TYPES")),
    ("winassert", ParamKind::Constant("WIN_ASSERTS")),
    ("filemode", ParamKind::Constant("FILE_MODES")),
    ("seek", ParamKind::Constant("FILE_SEEKS")),
    ("verbosity", ParamKind::Constant("T_VERBOSITIES")),
    ("binding", ParamKind::Constant("T_BINDINGS")),
    ("scope", ParamKind::Constant("T_SCOPES")),
    ("pvarclass", ParamKind::Constant("T_PVAR_CLASSES")),
    ("keyval", ParamKind::Keyval),
    ("count", ParamKind::Count),
    ("displ", ParamKind::Displ),
    ("extent", ParamKind::Extent),
    ("aint", ParamKind::Aint),
    ("bigcount", ParamKind::BigCount),
    ("offset", ParamKind::Offset),
    ("double", ParamKind::Double),
    ("choice", ParamKind::Choice),
    ("address", ParamKind::Address),
    ("state", ParamKind::State),
    ("attr", ParamKind::Attr),
    ("string", ParamKind::Text),
    ("range", ParamKind::Range),
    ("status", ParamKind::Status),
    ("comm", ParamKind::Object("MPI_Comm")),
    ("group", ParamKind::Object("MPI_Group")),
    ("datatype", ParamKind::Object("MPI_Datatype")),
    ("request", ParamKind::Object("MPI_Request")),
    ("op", ParamKind::Object("MPI_Op")),
    ("info", ParamKind::Object("MPI_Info")),
    ("errhandler", ParamKind::Object("MPI_Errhandler")),
    ("win", ParamKind::Object("MPI_Win")),
    ("file", ParamKind::Object("MPI_File")),
    ("session", ParamKind::Object("MPI_Session")),
    ("message", ParamKind::Object("MPI_Message")),
    ("t_enum", ParamKind::Object("MPI_T_enum")),
    ("t_cvar_handle", ParamKind::Object("MPI_T_cvar_handle")),
    ("t_pvar_handle", ParamKind::Object("MPI_T_pvar_handle")),
    ("t_pvar_session", ParamKind::Object("MPI_T_pvar_session")),
    ("t_event_registration", ParamKind::Object("MPI_T_event_registration")),
    ("t_event_instance", ParamKind::Object("MPI_T_event_instance")),
    ("t_cb_safety", ParamKind::Object("MPI_T_cb_safety")),
    ("t_source_order", ParamKind::Object("MPI_T_source_order")),
];

impl ParamKind {
    /// The kind that a word of the table stands for; callbacks are not among them.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        KINDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| kind.clone())
    }

    /// Returns true if objects of this kind have an error handler, or belong to one that has.
    pub fn has_error_handler(&self) -> bool {
        const CARRIERS: [&str; 6] =
            ["MPI_Comm", "MPI_Win", "MPI_File", "MPI_Session", "MPI_Request", "MPI_Message"];
        matches!(self, Self::Object(name) if CARRIERS.contains(name))
    }
}

impl Param {
    /// Returns true for a buffer of the program's that goes to C, or from there.
    pub fn is_buffer(&self) -> bool {
        self.kind == ParamKind::Choice || self.kind == ParamKind::Address && self.direction == Direction::In
    }
}

impl Function {
    /// The parameters of one of the two forms.
    pub fn params_of(&self, large: bool) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(move |param| large || !param.large_only)
    }

    /// Returns true for communication on a window.
    pub(crate) fn is_one_sided(&self) -> bool {
        self.params.iter().any(|param| param.kind == ParamKind::Object("MPI_Win"))
    }

    /// The names of the function's forms in C, each with whether it is the large one.
    pub fn forms(&self) -> impl Iterator<Item = (String, bool)> {
        let small = (format!("MPI_{}", self.name), false);
        let large = self.large.then(|| (format!("MPI_{}_c", self.name), true));
        [small].into_iter().chain(large)
    }
}
