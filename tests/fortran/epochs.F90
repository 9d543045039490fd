! Synchronization of windows: fences, post and start, locks, flushes; and the names and hints of windows.
program epochs
#include "form.h"
  integer :: rank, size, left, right, ierror, i, length, found, got
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place
  integer :: memory(8)
  WIN :: win
  GROUP :: world, sources, targets
  INFO :: info
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_INFO_VAL) :: value
  logical :: flag
#ifdef F08
  asynchronous :: memory, got
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  bytes = 32
  memory = -1
  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, 'no_locks', 'false', ierror)
  call MPI_Win_create(memory, bytes, 4, info, MPI_COMM_WORLD, win, ierror)
  call MPI_Win_set_info(win, info, ierror)
  call MPI_Info_free(info, ierror)
  call MPI_Win_get_info(win, info, ierror)
  call MPI_Info_get(info, 'no_locks', MPI_MAX_INFO_VAL, value, flag, ierror)
  call check(flag .and. value == 'false', 'MPI_Win_get_info')
  call MPI_Info_free(info, ierror)
  call MPI_Win_get_name(win, name, length, ierror)
  call check(length == 0 .and. name == ' ', 'a window without a name')
  call MPI_Win_set_name(win, 'selvage ', ierror)
  call MPI_Win_get_name(win, name, length, ierror)
  call check(length == 7 .and. name == 'selvage', 'MPI_Win_get_name')

  call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierror)
  place = 1
  call MPI_Put(rank, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierror)
  call check(memory(2) == left, 'MPI_Win_fence')

  ! The left one writes here, and this one writes to the right one.
  call MPI_Win_get_group(win, world, ierror)
  call MPI_Group_incl(world, 1, [left], sources, ierror)
  call MPI_Group_incl(world, 1, [right], targets, ierror)
  do i = 1, 2
    place = 1 + i
    call MPI_Win_post(sources, 0, win, ierror)
    call MPI_Win_start(targets, 0, win, ierror)
    got = 10 * i + rank
    call MPI_Put(got, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_complete(win, ierror)
    if (i == 1) then
      call MPI_Win_wait(win, ierror)
    else
      flag = .false.
      do while (.not. flag)
        call MPI_Win_test(win, flag, ierror)
      end do
    end if
    call check(memory(2 + i) == 10 * i + left, 'MPI_Win_complete')
  end do
  ! Without a MPI_Win_complete of the left one the epoch goes on.
  call MPI_Win_post(sources, 0, win, ierror)
  call MPI_Win_test(win, flag, ierror)
  call check(.not. flag, 'MPI_Win_test before MPI_Win_complete')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_start(targets, 0, win, ierror)
  call MPI_Win_complete(win, ierror)
  call MPI_Win_wait(win, ierror)
  call MPI_Group_free(sources, ierror)
  call MPI_Group_free(targets, ierror)
  call MPI_Group_free(world, ierror)

  ! Locks of one target. Every rank adds to a counter of rank 0, under a lock that excludes all others.
  memory(8) = 0
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  place = 7
  do i = 1, 10
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win, ierror)
    call MPI_Get(got, 1, MPI_INTEGER, 0, place, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_flush(0, win, ierror)
    got = got + 1
    call MPI_Put(got, 1, MPI_INTEGER, 0, place, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_unlock(0, win, ierror)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierror)
  call MPI_Get(found, 1, MPI_INTEGER, 0, place, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_unlock(0, win, ierror)
  call check(found == 10 * size, 'MPI_Win_lock')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)

  ! Locks of all targets, with each kind of flush.
  call MPI_Win_lock_all(MPI_MODE_NOCHECK, win, ierror)
  place = 4
  got = 100 + rank
  call MPI_Put(got, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_flush_local(right, win, ierror)
  got = 200 + rank
  place = 5
  call MPI_Put(got, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_flush_local_all(win, ierror)
  got = 300 + rank
  place = 6
  call MPI_Put(got, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_flush_all(win, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_sync(win, ierror)
  call check(all(memory(5:7) == [100, 200, 300] + left), 'MPI_Win_flush_all')
  call MPI_Win_unlock_all(win, ierror)
  call MPI_Win_free(win, ierror)
  call check(win == MPI_WIN_NULL, 'MPI_Win_free')
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program epochs
