! Reductions on Fortran's types: pairs, truth values, complex numbers, integers and reals of all kinds, by name and by range.
program reductions
#include "form.h"
  integer, parameter :: SMALL = selected_int_kind(2), SHORT = selected_int_kind(4), LONG = selected_int_kind(18)
  integer, parameter :: DOUBLE = selected_real_kind(15, 307), EXTENDED = selected_real_kind(18)
  integer :: rank, size, ierror, greatest, least, sum_of_ranks, pair(2), pair_out(2)
  integer(SMALL) :: tiny_in, tiny_out
  integer(SHORT) :: short_in, short_out
  integer(LONG) :: long_in, long_out
  real :: reals(2), reals_out(2)
  double precision :: doubles(2), doubles_out(2)
  complex :: number, number_out
  complex(DOUBLE) :: double_number, double_number_out
  real(EXTENDED) :: extended_in, extended_out
  complex(EXTENDED) :: extended_number, extended_number_out
  logical :: flags(2), flags_out(2)
  DATATYPE :: type, again
#ifdef __GFORTRAN__
  integer, parameter :: QUAD = selected_real_kind(33)
  real(QUAD) :: quad_in, quad_out
  complex(QUAD) :: quad_number, quad_number_out
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  greatest = size - 1
  least = 0
  sum_of_ranks = size * (size - 1) / 2

  ! Pairs of a value and a place.
  reals = [real(mod(rank, 2)), real(10 * rank)]
  call MPI_Allreduce(reals, reals_out, 1, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
  call check(all(reals_out == [real(min(greatest, 1)), real(merge(10, 0, size > 1))]), 'MPI_2REAL')
  doubles = [dble(-rank), dble(rank)]
  call MPI_Allreduce(doubles, doubles_out, 1, MPI_2DOUBLE_PRECISION, MPI_MINLOC, MPI_COMM_WORLD, ierror)
  call check(all(doubles_out == [dble(-greatest), dble(greatest)]), 'MPI_2DOUBLE_PRECISION')
  pair = [5, rank]
  call MPI_Allreduce(pair, pair_out, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
  call check(all(pair_out == [5, 0]), 'MPI_2INTEGER')

  flags = [rank == 0, rank >= 0]
  call MPI_Allreduce(flags, flags_out, 2, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD, ierror)
  call check(flags_out(1) .and. (flags_out(2) .eqv. mod(size, 2) == 1), 'MPI_LXOR')
  number = cmplx(rank, 1)
  call MPI_Allreduce(number, number_out, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(number_out == cmplx(sum_of_ranks, size), 'MPI_COMPLEX')
  double_number = cmplx(0, 1, DOUBLE)
  call MPI_Allreduce(double_number, double_number_out, 1, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, ierror)
  call check(double_number_out == cmplx(0, 1, DOUBLE)**size, 'MPI_DOUBLE_COMPLEX')

  tiny_in = int(rank, SMALL)
  call MPI_Allreduce(tiny_in, tiny_out, 1, MPI_INTEGER1, MPI_MAX, MPI_COMM_WORLD, ierror)
  short_in = int(rank, SHORT)
  call MPI_Allreduce(short_in, short_out, 1, MPI_INTEGER2, MPI_SUM, MPI_COMM_WORLD, ierror)
  long_in = int(rank, LONG) * 2_LONG**40
  call MPI_Allreduce(long_in, long_out, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(tiny_out == greatest .and. short_out == sum_of_ranks .and. long_out == sum_of_ranks * 2_LONG**40, 'integers')

  ! By range.
  call MPI_Type_create_f90_integer(18, type, ierror)
  call MPI_Allreduce(long_in, long_out, 1, type, MPI_MAX, MPI_COMM_WORLD, ierror)
  call check(long_out == greatest * 2_LONG**40, 'MPI_Type_create_f90_integer')
  call MPI_Type_create_f90_integer(18, again, ierror)
  call check(type == again, 'the same handle')
  call MPI_Type_create_f90_real(15, 307, type, ierror)
  call MPI_Allreduce(doubles, doubles_out, 2, type, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(all(doubles_out == [dble(-sum_of_ranks), dble(sum_of_ranks)]), 'MPI_Type_create_f90_real')
#ifdef __GFORTRAN__
  quad_in = rank + 2.0_QUAD**(-100)
  call MPI_Allreduce(quad_in, quad_out, 1, MPI_REAL16, MPI_MAX, MPI_COMM_WORLD, ierror)
  call check(quad_out == greatest + 2.0_QUAD**(-100), 'MPI_REAL16')
#endif
  if (.not. on_intel()) then
    call MPI_Type_create_f90_real(18, MPI_UNDEFINED, type, ierror)
    extended_in = rank + 2.0_EXTENDED**(-60)
    call MPI_Allreduce(extended_in, extended_out, 1, type, MPI_MAX, MPI_COMM_WORLD, ierror)
    call check(extended_out == greatest + 2.0_EXTENDED**(-60), 'a real of 18 digits')
    call MPI_Type_create_f90_complex(18, MPI_UNDEFINED, type, ierror)
    extended_number = cmplx(rank, 1, EXTENDED)
    call MPI_Allreduce(extended_number, extended_number_out, 1, type, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check(extended_number_out == cmplx(sum_of_ranks, size, EXTENDED), 'a complex number of 18 digits')
#ifdef __GFORTRAN__
    call MPI_Type_create_f90_complex(33, 4931, type, ierror)
    quad_number = cmplx(rank, 1, QUAD)
    call MPI_Allreduce(quad_number, quad_number_out, 1, type, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check(quad_number_out == cmplx(sum_of_ranks, size, QUAD), 'a complex number of 33 digits')
#endif
  end if
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program reductions
