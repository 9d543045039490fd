! The memory of windows: memory that all ranks of a node share, and memory that joins a window later.
program memories
  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_ptr
#include "form.h"
  integer :: rank, size, left, right, ierror, flavor
  COUNT :: unit_size
  integer(kind=MPI_ADDRESS_KIND) :: bytes, found, place, kind_of_window
  integer(kind=MPI_ADDRESS_KIND), allocatable :: places(:)
  integer, pointer :: mine(:), theirs(:)
  integer, target :: first(4), second(4)
  type(c_ptr) :: base
  WIN :: win
  integer :: given, got
  logical :: flag
#ifndef F08
  integer(kind=MPI_ADDRESS_KIND) :: address
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)

  ! Rank r has r + 1 integers of the shared memory.
  bytes = 4 * (rank + 1)
  unit_size = 4
  call MPI_Win_allocate_shared(bytes, unit_size, MPI_INFO_NULL, MPI_COMM_WORLD, &
#ifdef F08
    base, win, ierror)
#else
    address, win, ierror)
  base = transfer(address, base)
#endif
  call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, kind_of_window, flag, ierror)
  flavor = int(kind_of_window)
  call check(flag .and. flavor == MPI_WIN_FLAVOR_SHARED, 'MPI_WIN_CREATE_FLAVOR')
  call c_f_pointer(base, mine, [rank + 1])
  call MPI_Win_fence(0, win, ierror)
  mine = 100 + rank
  call MPI_Win_fence(0, win, ierror)
  found = -1
  unit_size = -1
#ifdef F08
  call MPI_Win_shared_query(win, right, found, unit_size, base, ierror)
#else
  call MPI_Win_shared_query(win, right, found, unit_size, address, ierror)
  base = transfer(address, base)
#endif
  call check(found == 4 * (right + 1) .and. unit_size == 4, 'MPI_Win_shared_query')
  call c_f_pointer(base, theirs, [right + 1])
  call check(all(theirs == 100 + right), 'loads from the memory of another rank')
  call MPI_Win_fence(0, win, ierror)
  theirs(right + 1) = 200 + rank
  call MPI_Win_fence(0, win, ierror)
  call check(mine(rank + 1) == 200 + left, 'stores to the memory of another rank')
  ! MPI_PROC_NULL stands for the first rank with memory, which is rank 0.
#ifdef F08
  call MPI_Win_shared_query(win, MPI_PROC_NULL, found, unit_size, base, ierror)
#else
  call MPI_Win_shared_query(win, MPI_PROC_NULL, found, unit_size, address, ierror)
  base = transfer(address, base)
#endif
  call c_f_pointer(base, theirs, [1])
  call check(found == 4 .and. theirs(1) == 200 + size - 1, 'MPI_Win_shared_query of MPI_PROC_NULL')
  call MPI_Win_fence(0, win, ierror)
  call MPI_Win_free(win, ierror)

  ! A dynamic window has two arrays, whose addresses the ranks tell each other.
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, kind_of_window, flag, ierror)
  flavor = int(kind_of_window)
  call check(flag .and. flavor == MPI_WIN_FLAVOR_DYNAMIC, 'the flavor of a dynamic window')
  first = 10 * rank
  second = -1
  bytes = 16
  call MPI_Win_attach(win, first, bytes, ierror)
  call MPI_Win_attach(win, second, bytes, ierror)
  allocate (places(2 * size))
  call MPI_Get_address(first, places(2 * rank + 1), ierror)
  call MPI_Get_address(second, places(2 * rank + 2), ierror)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, places, 2, MPI_AINT, MPI_COMM_WORLD, ierror)
  call MPI_Win_lock_all(0, win, ierror)
  bytes = 8
  place = MPI_Aint_add(places(2 * right + 2), bytes)
  given = 1000 + rank
  call MPI_Put(given, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, ierror)
  place = MPI_Aint_add(places(2 * right + 1), bytes)
  call MPI_Get(got, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_flush_all(win, ierror)
  call check(got == 10 * right, 'MPI_Get from a dynamic window')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_sync(win, ierror)
  call MPI_F_sync_reg(second)
  call check(all(second == [-1, -1, 1000 + left, -1]), 'MPI_Put to a dynamic window')
  call MPI_Win_unlock_all(win, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_detach(win, first, ierror)
  call check(ierror == MPI_SUCCESS, 'MPI_Win_detach')
  call MPI_Win_detach(win, second, ierror)
  call MPI_Win_free(win, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program memories
