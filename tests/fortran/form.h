! The form of the binding that a program is compiled for, and what differs between the forms.
#ifdef F08
      use mpi_f08
      implicit none
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define ERRHANDLER type(MPI_Errhandler)
#define FILE type(MPI_File)
#define GROUP type(MPI_Group)
#define INFO type(MPI_Info)
#define MESSAGE type(MPI_Message)
#define OP type(MPI_Op)
#define REQUEST type(MPI_Request)
#define SESSION type(MPI_Session)
#define WIN type(MPI_Win)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, number) type(MPI_Status) :: name(number)
#define SOURCE(status) status%MPI_SOURCE
#define TAG(status) status%MPI_TAG
#define TAG_AT(statuses, position) statuses(position)%MPI_TAG
#else
#ifdef MPIF
      implicit none
      include 'mpif.h'
#else
      use mpi
      implicit none
#endif
#define COMM integer
#define DATATYPE integer
#define ERRHANDLER integer
#define FILE integer
#define GROUP integer
#define INFO integer
#define MESSAGE integer
#define OP integer
#define REQUEST integer
#define SESSION integer
#define WIN integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, number) integer :: name(MPI_STATUS_SIZE, number)
#define SOURCE(status) status(MPI_SOURCE)
#define TAG(status) status(MPI_TAG)
#define TAG_AT(statuses, position) statuses(MPI_TAG, position)
#endif
! With LARGE the counts and displacements of mpi_f08 are large ones, so that the same calls reach the subroutines of the large forms.
#ifdef LARGE
#define COUNT integer(kind=MPI_COUNT_KIND)
#define DISPLACEMENT integer(kind=MPI_ADDRESS_KIND)
#else
#define COUNT integer
#define DISPLACEMENT integer
#endif
! The part K of a two-dimensional array, or its declaration. In mpi_f08 its elements have gaps between them, so that it makes
! a difference if the binding takes it for a contiguous array. GAPLESS is for a binding whose MPI_SUBARRAYS_SUPPORTED is false.
#if defined(F08) && !defined(LARGE) && !defined(GAPLESS)
#define PART(array, range, k) array(k, range)
#else
#define PART(array, range, k) array(range, k)
#endif
