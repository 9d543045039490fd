//! The constructor of a datatype and its arguments, for `MPI_Type_get_envelope` and `MPI_Type_get_contents`.

use heddle_spec::constants;

/// The constructor that made a datatype, with the value the ABI gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i32)]
pub enum Combiner {
    /// A predefined type.
    Named = constants::MPI_COMBINER_NAMED,
    /// `MPI_Type_dup`.
    Dup = constants::MPI_COMBINER_DUP,
    /// `MPI_Type_contiguous`.
    Contiguous = constants::MPI_COMBINER_CONTIGUOUS,
    /// `MPI_Type_vector`.
    Vector = constants::MPI_COMBINER_VECTOR,
    /// `MPI_Type_create_hvector`.
    Hvector = constants::MPI_COMBINER_HVECTOR,
    /// `MPI_Type_indexed`.
    Indexed = constants::MPI_COMBINER_INDEXED,
    /// `MPI_Type_create_hindexed`.
    Hindexed = constants::MPI_COMBINER_HINDEXED,
    /// `MPI_Type_create_indexed_block`.
    IndexedBlock = constants::MPI_COMBINER_INDEXED_BLOCK,
    /// `MPI_Type_create_hindexed_block`.
    HindexedBlock = constants::MPI_COMBINER_HINDEXED_BLOCK,
    /// `MPI_Type_create_struct`.
    Struct = constants::MPI_COMBINER_STRUCT,
    /// `MPI_Type_create_subarray`.
    Subarray = constants::MPI_COMBINER_SUBARRAY,
    /// `MPI_Type_create_darray`.
    Darray = constants::MPI_COMBINER_DARRAY,
    /// `MPI_Type_create_f90_real`.
    F90Real = constants::MPI_COMBINER_F90_REAL,
    /// `MPI_Type_create_f90_complex`.
    F90Complex = constants::MPI_COMBINER_F90_COMPLEX,
    /// `MPI_Type_create_f90_integer`.
    F90Integer = constants::MPI_COMBINER_F90_INTEGER,
    /// `MPI_Type_create_resized`.
    Resized = constants::MPI_COMBINER_RESIZED,
    /// `MPI_Type_get_value_index`.
    ValueIndex = constants::MPI_COMBINER_VALUE_INDEX,
}

/// The form of the constructor that was called; it decides in which arrays its arguments are returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// `MPI_Type_x`: counts are `int`, displacements in bytes are `MPI_Aint`.
    Small,
    /// `MPI_Type_x_c`: counts and displacements are `MPI_Count`.
    Large,
}

impl Combiner {
    /// Its value in the ABI.
    #[must_use]
    pub const fn value(self) -> i32 {
        self as i32
    }
}
