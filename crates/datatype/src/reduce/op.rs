//! The predefined operators.

use heddle_spec::constants;

/// A predefined reduction operator, with the value of its handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Op {
    /// `MPI_SUM`
    Sum = constants::MPI_SUM,
    /// `MPI_MIN`
    Min = constants::MPI_MIN,
    /// `MPI_MAX`
    Max = constants::MPI_MAX,
    /// `MPI_PROD`
    Prod = constants::MPI_PROD,
    /// `MPI_BAND`
    Band = constants::MPI_BAND,
    /// `MPI_BOR`
    Bor = constants::MPI_BOR,
    /// `MPI_BXOR`
    Bxor = constants::MPI_BXOR,
    /// `MPI_LAND`
    Land = constants::MPI_LAND,
    /// `MPI_LOR`
    Lor = constants::MPI_LOR,
    /// `MPI_LXOR`
    Lxor = constants::MPI_LXOR,
    /// `MPI_MINLOC`
    Minloc = constants::MPI_MINLOC,
    /// `MPI_MAXLOC`
    Maxloc = constants::MPI_MAXLOC,
    /// `MPI_REPLACE`
    Replace = constants::MPI_REPLACE,
    /// `MPI_NO_OP`
    NoOp = constants::MPI_NO_OP,
}

impl Op {
    /// All predefined operators, in the order of their handles.
    pub const ALL: [Self; 14] = [
        Self::Sum,
        Self::Min,
        Self::Max,
        Self::Prod,
        Self::Band,
        Self::Bor,
        Self::Bxor,
        Self::Land,
        Self::Lor,
        Self::Lxor,
        Self::Minloc,
        Self::Maxloc,
        Self::Replace,
        Self::NoOp,
    ];

    /// The predefined operator with this handle value, if there is one.
    #[must_use]
    pub fn from_handle(handle: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.handle() == handle)
    }

    /// The value of its handle in the ABI.
    #[must_use]
    pub const fn handle(self) -> usize {
        self as usize
    }

    /// The standard's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "MPI_SUM",
            Self::Min => "MPI_MIN",
            Self::Max => "MPI_MAX",
            Self::Prod => "MPI_PROD",
            Self::Band => "MPI_BAND",
            Self::Bor => "MPI_BOR",
            Self::Bxor => "MPI_BXOR",
            Self::Land => "MPI_LAND",
            Self::Lor => "MPI_LOR",
            Self::Lxor => "MPI_LXOR",
            Self::Minloc => "MPI_MINLOC",
            Self::Maxloc => "MPI_MAXLOC",
            Self::Replace => "MPI_REPLACE",
            Self::NoOp => "MPI_NO_OP",
        }
    }

    /// Returns true if the order of the operands does not matter.
    #[must_use]
    pub const fn is_commutative(self) -> bool {
        !matches!(self, Self::Replace | Self::NoOp)
    }

    /// Returns true if the operator is for reductions; `MPI_REPLACE` and `MPI_NO_OP`
    /// are for accumulates only.
    #[must_use]
    pub const fn is_reduction(self) -> bool {
        !matches!(self, Self::Replace | Self::NoOp)
    }
}
