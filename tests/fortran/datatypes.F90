! Constructors of datatypes: the elements of an array that each type selects, in their order.
program datatypes
#include "form.h"
  COUNT, parameter :: one = 1, two = 2, three = 3
  integer, parameter :: LENGTH = 24
  ! C's displacements in bytes are addresses, and in the large forms they are counts of the same size.
  integer(kind=MPI_ADDRESS_KIND), parameter :: INTEGER_SIZE = 4
  integer :: rank, ierror, i, values(LENGTH), matrix(4, 6)
  integer(kind=MPI_ADDRESS_KIND) :: lower, extent, bytes(2), stride
  COUNT :: lengths(2), places(2), sizes(2), parts(2), starts(2)
  DATATYPE :: type, inner, types(2)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  values = [(i, i = 1, LENGTH)]
  matrix = reshape(values, [4, 6])

  call MPI_Type_contiguous(three, MPI_INTEGER, type, ierror)
  call selects([1, 2, 3], 'MPI_Type_contiguous')
  call MPI_Type_vector(three, two, two + three, MPI_INTEGER, type, ierror)
  call selects([1, 2, 6, 7, 11, 12], 'MPI_Type_vector')
  stride = 6 * INTEGER_SIZE
  call MPI_Type_create_hvector(three, one, stride, MPI_INTEGER, type, ierror)
  call selects([1, 7, 13], 'MPI_Type_create_hvector')
  lengths = [3, 1]
  places = [10, 4]
  bytes = places * INTEGER_SIZE
  call MPI_Type_indexed(two, lengths, places, MPI_INTEGER, type, ierror)
  call selects([11, 12, 13, 5], 'MPI_Type_indexed')
  call MPI_Type_create_hindexed(two, lengths, bytes, MPI_INTEGER, type, ierror)
  call selects([11, 12, 13, 5], 'MPI_Type_create_hindexed')
  call MPI_Type_create_indexed_block(two, two, places, MPI_INTEGER, type, ierror)
  call selects([11, 12, 5, 6], 'MPI_Type_create_indexed_block')
  call MPI_Type_create_hindexed_block(two, three, bytes, MPI_INTEGER, type, ierror)
  call selects([11, 12, 13, 5, 6, 7], 'MPI_Type_create_hindexed_block')
  call MPI_Type_vector(two, one, three, MPI_INTEGER, inner, ierror)
  types(1) = inner
  types(2) = MPI_INTEGER
  lengths = [1, 2]
  bytes = [5, 0] * INTEGER_SIZE
  call MPI_Type_create_struct(two, lengths, bytes, types, type, ierror)
  call MPI_Type_free(inner, ierror)
  call selects([6, 9, 1, 2], 'MPI_Type_create_struct')

  ! Arrays of two dimensions, in the order of Fortran and in that of C.
  sizes = [4, 6]
  parts = [2, 3]
  starts = [1, 2]
  call MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierror)
  call selects(reshape(matrix(2:3, 3:5), [6]), 'MPI_Type_create_subarray')
  sizes = [6, 4]
  parts = [3, 2]
  starts = [2, 1]
  call MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INTEGER, type, ierror)
  call selects(reshape(matrix(2:3, 3:5), [6]), 'MPI_Type_create_subarray in the order of C')
  ! Four processes in two rows: each has a block of two rows of the matrix, and every second column.
  sizes = [4, 6]
  do i = 0, 3
    call MPI_Type_create_darray(4, i, 2, sizes, [MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC], &
      [MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG], [2, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierror)
    call MPI_Type_get_extent(type, lower, extent, ierror)
    call check(lower == 0 .and. extent == LENGTH * INTEGER_SIZE, 'the extent of MPI_Type_create_darray')
    call selects(reshape(matrix(2 * (i / 2) + 1:2 * (i / 2) + 2, 1 + mod(i, 2)::2), [6]), 'MPI_Type_create_darray')
  end do

  ! A row of the matrix as a type whose copies stand beside each other.
  lengths(1) = 6
  places(1) = 4
  call MPI_Type_vector(lengths(1), one, places(1), MPI_INTEGER, inner, ierror)
  lower = 0
  call MPI_Type_create_resized(inner, lower, INTEGER_SIZE, type, ierror)
  call MPI_Type_free(inner, ierror)
  call MPI_Type_get_extent(type, lower, extent, ierror)
  call check(lower == 0 .and. extent == INTEGER_SIZE, 'the extent of MPI_Type_create_resized')
  call MPI_Type_get_true_extent(type, lower, extent, ierror)
  call check(lower == 0 .and. extent == 21 * INTEGER_SIZE, 'MPI_Type_get_true_extent')
  inner = type
  call MPI_Type_contiguous(two, inner, type, ierror)
  call MPI_Type_free(inner, ierror)
  call selects([matrix(1, :), matrix(2, :)], 'MPI_Type_create_resized')
  call MPI_Type_dup(MPI_INTEGER, type, ierror)
  call selects([1], 'MPI_Type_dup')
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
  ! One element of the type is these values, both when it is sent and when it is received. Frees the type.
  subroutine selects(elements, what)
    integer, intent(in) :: elements(:)
    character(len=*), intent(in) :: what
    COUNT :: number, bytes_of_type
    integer :: got(LENGTH), k
    call MPI_Type_commit(type, ierror)
    call MPI_Type_size(type, bytes_of_type, ierror)
    number = size(elements)
    call check(bytes_of_type == 4 * number, what // ': the size')
    got = -1
    call MPI_Sendrecv(values, one, type, 0, 1, got, number, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    call check(all(got(:number) == elements) .and. all(got(number + 1:) == -1), what // ': sent')
    got = -1
    call MPI_Sendrecv(elements, number, MPI_INTEGER, 0, 2, got, one, type, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    call check(all([(got(k) == merge(k, -1, any(elements == k)), k = 1, LENGTH)]), what // ': received')
    call MPI_Type_free(type, ierror)
  end subroutine selects
end program datatypes
