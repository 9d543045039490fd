! One-sided communication, with memory of the program's and of MPI's.
program windows
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
#include "form.h"
  integer, target :: own(4)
  integer :: rank, size, ierror, right, got
  WIN :: win
  GROUP :: group
  REQUEST :: request
  integer(kind=MPI_ADDRESS_KIND) :: bytes, address, value
  integer, pointer :: memory(:)
  type(c_ptr) :: pointer_to
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  right = mod(rank + 1, size)
  own = -1
  bytes = 16
  call MPI_Win_create(own, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call MPI_Put(rank, 1, MPI_INTEGER, right, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call check(own(3) == mod(rank + size - 1, size), 'MPI_Put')
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierror)
  call check(flag .and. value == 16, 'MPI_WIN_SIZE')
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierror)
  call check(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
  call MPI_Get_address(own, address, ierror)
  call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierror)
  call check(flag .and. value == address, 'MPI_WIN_BASE')
  call MPI_Win_get_group(win, group, ierror)
  call MPI_Group_free(group, ierror)
  call MPI_Win_free(win, ierror)
  call check(win == MPI_WIN_NULL, 'MPI_Win_free')

  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &
#ifdef F08
    pointer_to, win, ierror)
#else
    address, win, ierror)
  pointer_to = transfer(address, pointer_to)
#endif
  call c_f_pointer(pointer_to, memory, [4])
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win, ierror)
  memory = 10 * rank
  call MPI_Win_unlock(rank, win, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_lock_all(0, win, ierror)
  call MPI_Rget(got, 1, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call check(got == 10 * right, 'MPI_Rget')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Fetch_and_op(1, got, MPI_INTEGER, right, 3_MPI_ADDRESS_KIND, MPI_SUM, win, ierror)
  call MPI_Win_flush(right, win, ierror)
  call check(got == 10 * right, 'MPI_Fetch_and_op')
  call MPI_Win_unlock_all(win, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call check(memory(4) == 10 * rank + 1, 'its effect')
  call MPI_Win_free(win, ierror)

  call MPI_Alloc_mem(bytes, MPI_INFO_NULL, pointer_to, ierror)
  call c_f_pointer(pointer_to, memory, [4])
  memory = 1
  call MPI_Free_mem(memory, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program windows
