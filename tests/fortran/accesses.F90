! Accesses to windows: reading, writing, accumulating, exchanging, and the same with requests.
program accesses
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
#include "form.h"
  COUNT, parameter :: none = 0, one = 1, two = 2, three = 3
  integer, parameter :: LENGTH = 6
  integer :: rank, size, left, right, ierror, PART(numbers, 3, 2), before, compared
  COUNT :: unit_size
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place
  integer, pointer :: memory(:)
  type(c_ptr) :: base
  WIN :: win
  REQUEST :: request
  STATUS(status)
#ifdef F08
  asynchronous :: numbers
#else
  integer(kind=MPI_ADDRESS_KIND) :: address
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  bytes = 4 * LENGTH
  unit_size = 4
  call MPI_Win_allocate(bytes, unit_size, MPI_INFO_NULL, MPI_COMM_WORLD, &
#ifdef F08
    base, win, ierror)
#else
    address, win, ierror)
  base = transfer(address, base)
#endif
  call c_f_pointer(base, memory, [LENGTH])
  call MPI_Win_lock_all(0, win, ierror)

  ! Each access is of the right one's memory, which only this rank accesses.
  call begin
  PART(numbers, :, 1) = 10 * rank + [1, 2, 3]
  place = 1
  call MPI_Put(PART(numbers, :, 1), three, MPI_INTEGER, right, place, three, MPI_INTEGER, win, ierror)
  call end_all([0, 1, 2, 3, 0, 0] + 10 * left * [0, 1, 1, 1, 0, 0], 'MPI_Put')
  PART(numbers, :, 2) = -1
  place = 2
  call MPI_Get(PART(numbers, :, 2), two, MPI_INTEGER, right, place, two, MPI_INTEGER, win, ierror)
  call MPI_Win_flush(right, win, ierror)
  call check(all(PART(numbers, :, 2) == [10 * rank + 2, 10 * rank + 3, -1]), 'MPI_Get')
  call begin
  place = 3
  PART(numbers, :, 1) = 5
  call MPI_Accumulate(PART(numbers, :, 1), two, MPI_INTEGER, right, place, two, MPI_INTEGER, MPI_SUM, win, ierror)
  call MPI_Accumulate(PART(numbers, :, 1), one, MPI_INTEGER, right, place, one, MPI_INTEGER, MPI_PROD, win, ierror)
  call end_all([0, 0, 0, 25, 5, 0], 'MPI_Accumulate')
  PART(numbers, :, 2) = -1
  PART(numbers, :, 1) = 7
  call MPI_Get_accumulate(PART(numbers, :, 1), two, MPI_INTEGER, PART(numbers, :, 2), two, MPI_INTEGER, right, place, two, &
    MPI_INTEGER, MPI_SUM, win, ierror)
  call end_all([0, 0, 0, 32, 12, 0], 'MPI_Get_accumulate')
  call check(all(PART(numbers, :, 2) == [25, 5, -1]), 'the result of MPI_Get_accumulate')
  ! With MPI_NO_OP it only reads.
  call MPI_Get_accumulate(PART(numbers, :, 1), none, MPI_INTEGER, PART(numbers, :, 2), two, MPI_INTEGER, right, place, two, &
    MPI_INTEGER, MPI_NO_OP, win, ierror)
  call end_all([0, 0, 0, 32, 12, 0], 'MPI_NO_OP')
  call check(all(PART(numbers, :, 2) == [32, 12, -1]), 'the result of MPI_NO_OP')
  before = -1
  PART(numbers, :, 1) = 100
  call MPI_Fetch_and_op(PART(numbers, :, 1), before, MPI_INTEGER, right, place, MPI_REPLACE, win, ierror)
  call end_all([0, 0, 0, 100, 12, 0], 'MPI_Fetch_and_op')
  call check(before == 32, 'the result of MPI_Fetch_and_op')
  compared = 99
  PART(numbers, 1, 1) = 55
  call MPI_Compare_and_swap(PART(numbers, :, 1), compared, before, MPI_INTEGER, right, place, win, ierror)
  call end_all([0, 0, 0, 100, 12, 0], 'MPI_Compare_and_swap of another value')
  call check(before == 100, 'its result')
  compared = 100
  call MPI_Compare_and_swap(PART(numbers, :, 1), compared, before, MPI_INTEGER, right, place, win, ierror)
  call end_all([0, 0, 0, 55, 12, 0], 'MPI_Compare_and_swap')
  call check(before == 100, 'the result of MPI_Compare_and_swap')

  ! The same with requests.
  call begin
  place = 1
  PART(numbers, :, 1) = [1, 2, 3]
  call MPI_Rput(PART(numbers, :, 1), three, MPI_INTEGER, right, place, three, MPI_INTEGER, win, request, ierror)
  call MPI_Wait(request, status, ierror)
  call check(request == MPI_REQUEST_NULL, 'the request of MPI_Rput')
  call end_all([0, 1, 2, 3, 0, 0], 'MPI_Rput')
  PART(numbers, :, 2) = -1
  call MPI_Rget(PART(numbers, :, 2), two, MPI_INTEGER, right, place, two, MPI_INTEGER, win, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call check(all(PART(numbers, :, 2) == [1, 2, -1]), 'MPI_Rget')
  call MPI_Raccumulate(PART(numbers, :, 1), three, MPI_INTEGER, right, place, three, MPI_INTEGER, MPI_SUM, win, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call end_all([0, 2, 4, 6, 0, 0], 'MPI_Raccumulate')
  PART(numbers, :, 2) = -1
  call MPI_Rget_accumulate(PART(numbers, :, 1), two, MPI_INTEGER, PART(numbers, :, 2), two, MPI_INTEGER, right, place, two, &
    MPI_INTEGER, MPI_MAX, win, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call check(all(PART(numbers, :, 2) == [2, 4, -1]), 'the result of MPI_Rget_accumulate')
  call end_all([0, 2, 4, 6, 0, 0], 'MPI_Rget_accumulate')
  call MPI_Win_unlock_all(win, ierror)

  ! All ranks add to one number.
  call MPI_Win_fence(0, win, ierror)
  memory = 0
  call MPI_Win_fence(0, win, ierror)
  place = 0
  PART(numbers, :, 1) = rank + 1
  call MPI_Accumulate(PART(numbers, :, 1), one, MPI_INTEGER, 0, place, one, MPI_INTEGER, MPI_SUM, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  if (rank == 0) call check(memory(1) == size * (size + 1) / 2, 'MPI_Accumulate of all ranks')
  call MPI_Win_free(win, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
  ! All ranks have zeros in their memory.
  subroutine begin
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    memory = 0
    call MPI_Win_sync(win, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine begin
  ! All ranks have these numbers in their memory when the accesses are done.
  subroutine end_all(expected, what)
    integer, intent(in) :: expected(LENGTH)
    character(len=*), intent(in) :: what
    call MPI_Win_flush(right, win, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Win_sync(win, ierror)
    call check(all(memory == expected), what)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine end_all
end program accesses
