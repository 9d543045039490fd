! Questions about datatypes: how they were made, sizes and extents, names; and packing, also in the external format.
program types
#include "form.h"
  COUNT, parameter :: two = 2, three = 3
  integer :: rank, ierror, combiner, length, integers(8)
  integer(kind=MPI_ADDRESS_KIND) :: lower, extent, addresses(2), space_outside, position_outside
  integer(kind=MPI_COUNT_KIND) :: lower_x, extent_x, size_x
  COUNT :: number_of_integers, number_of_addresses, number_of_types
  COUNT :: lengths(2), places(2), space, position, bytes_of_type
  DATATYPE :: type, found(2)
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character :: packed(1000)
  integer :: numbers(3), got(3)
  double precision :: reals(2), got_reals(2)
#ifdef F08
  integer(kind=MPI_COUNT_KIND) :: number_of_counts, counts(8)
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)

  ! The envelope and the contents of a type. Their large form keeps counts and displacements as large ones.
  lengths = [2, 1]
  places = [5, 1]
  call MPI_Type_indexed(two, lengths, places, MPI_DOUBLE_PRECISION, type, ierror)
  combiner = -1
#ifdef LARGE
  call MPI_Type_get_envelope(type, number_of_integers, number_of_addresses, number_of_counts, number_of_types, combiner, ierror)
  call check(number_of_integers == 0 .and. number_of_counts == 5, 'MPI_Type_get_envelope of large counts')
  call MPI_Type_get_contents(type, 0_MPI_COUNT_KIND, 0_MPI_COUNT_KIND, 5_MPI_COUNT_KIND, 1_MPI_COUNT_KIND, integers, addresses, &
    counts, found, ierror)
  call check(all(counts(:5) == [2, 2, 1, 5, 1]), 'MPI_Type_get_contents of large counts')
#else
  call MPI_Type_get_envelope(type, number_of_integers, number_of_addresses, number_of_types, combiner, ierror)
  call check(number_of_integers == 5, 'MPI_Type_get_envelope')
  call MPI_Type_get_contents(type, 5, 0, 1, integers, addresses, found, ierror)
  call check(all(integers(:5) == [2, 2, 1, 5, 1]), 'MPI_Type_get_contents')
#endif
  call check(number_of_addresses == 0 .and. number_of_types == 1 .and. combiner == MPI_COMBINER_INDEXED, 'the combiner')
  call check(found(1) == MPI_DOUBLE_PRECISION, 'the type of the elements')

  ! Sizes and extents.
  call MPI_Type_size(type, bytes_of_type, ierror)
  call MPI_Type_size_x(type, size_x, ierror)
  call check(bytes_of_type == 24 .and. size_x == 24, 'MPI_Type_size, MPI_Type_size_x')
  call MPI_Type_get_extent(type, lower, extent, ierror)
  call check(lower == 8 .and. extent == 48, 'MPI_Type_get_extent')
  call MPI_Type_get_true_extent(type, lower, extent, ierror)
  call check(lower == 8 .and. extent == 48, 'MPI_Type_get_true_extent')
  call MPI_Type_get_extent_x(type, lower_x, extent_x, ierror)
  call check(lower_x == 8 .and. extent_x == 48, 'MPI_Type_get_extent_x')
  call MPI_Type_get_true_extent_x(type, lower_x, extent_x, ierror)
  call check(lower_x == 8 .and. extent_x == 48, 'MPI_Type_get_true_extent_x')

  ! Names.
  name = 'x'
  call MPI_Type_get_name(type, name, length, ierror)
  call check(length == 0 .and. name == ' ', 'a type without a name')
  call MPI_Type_set_name(type, ' two pieces  ', ierror)
  call MPI_Type_get_name(type, name, length, ierror)
  call check(length == 11 .and. name == ' two pieces', 'MPI_Type_get_name')
  call MPI_Type_get_name(MPI_DOUBLE_PRECISION, name, length, ierror)
  call check(name == 'MPI_DOUBLE_PRECISION', 'the name of a type of MPI')
  call MPI_Type_free(type, ierror)

  ! Types of a size, and of a value with its index.
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, type, ierror)
  call MPI_Type_size(type, bytes_of_type, ierror)
  call check(type /= MPI_DATATYPE_NULL .and. bytes_of_type == 8, 'MPI_Type_match_size')
  call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, type, ierror)
  call MPI_Type_size(type, bytes_of_type, ierror)
  call check(bytes_of_type == 2, 'MPI_Type_match_size of an integer')
  call MPI_Type_get_value_index(MPI_INTEGER, MPI_INTEGER, type, ierror)
  ! MPICH's library, built without Fortran, has no pairs of Fortran's types.
  if (.not. on_mpich()) call check(type == MPI_2INTEGER, 'MPI_Type_get_value_index')
  call MPI_Type_get_value_index(MPI_FLOAT, MPI_INT, type, ierror)
  call check(type == MPI_FLOAT_INT, 'MPI_Type_get_value_index of C')
  call MPI_Type_get_value_index(MPI_INTEGER, MPI_CHARACTER, type, ierror)
  call check(type == MPI_DATATYPE_NULL, 'MPI_Type_get_value_index of types without a pair')

  ! Packing.
  numbers = [7, 8, 9]
  reals = [0.5d0, -3d0]
  call MPI_Pack_size(three, MPI_INTEGER, MPI_COMM_SELF, space, ierror)
  call check(space >= 12, 'MPI_Pack_size')
  space = size(packed)
  position = 0
  call MPI_Pack(numbers, three, MPI_INTEGER, packed, space, position, MPI_COMM_SELF, ierror)
  call check(position >= 12, 'the position of MPI_Pack')
  call MPI_Pack(reals, two, MPI_DOUBLE_PRECISION, packed, space, position, MPI_COMM_SELF, ierror)
  position = 0
  call MPI_Unpack(packed, space, position, got, three, MPI_INTEGER, MPI_COMM_SELF, ierror)
  call MPI_Unpack(packed, space, position, got_reals, two, MPI_DOUBLE_PRECISION, MPI_COMM_SELF, ierror)
  call check(all(got == numbers) .and. all(got_reals == reals), 'MPI_Unpack')

  ! The external format has the bytes in the order of the network.
  call MPI_Pack_external_size('external32', three, MPI_INTEGER, space_outside, ierror)
  call check(space_outside == 12, 'MPI_Pack_external_size')
  space_outside = size(packed)
  position_outside = 0
  call MPI_Pack_external('external32', numbers, three, MPI_INTEGER, packed, space_outside, position_outside, ierror)
  call check(position_outside == 12 .and. all(ichar(packed(:12)) == [0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9]), 'MPI_Pack_external')
  call MPI_Pack_external('external32', reals, two, MPI_DOUBLE_PRECISION, packed, space_outside, position_outside, ierror)
  position_outside = 0
  got = 0
  got_reals = 0
  call MPI_Unpack_external('external32', packed, space_outside, position_outside, got, three, MPI_INTEGER, ierror)
  call MPI_Unpack_external('external32', packed, space_outside, position_outside, got_reals, two, MPI_DOUBLE_PRECISION, ierror)
  call check(position_outside == 28 .and. all(got == numbers) .and. all(got_reals == reals), 'MPI_Unpack_external')
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
#include "peer.h"
end program types
