! Info objects, which keep texts under keys; blanks around keys and values do not count.
program infos
#include "form.h"
  integer :: rank, ierror, i, length, number
  INFO :: info, copy
  character(len=MPI_MAX_INFO_KEY) :: key
  character(len=MPI_MAX_INFO_VAL) :: value
  character(len=3) :: short
  logical :: flag, seen(3)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Info_create(info, ierror)
  call MPI_Info_get_nkeys(info, number, ierror)
  call check(number == 0, 'a new info object')
  call MPI_Info_set(info, 'warp', 'linen', ierror)
  call MPI_Info_set(info, ' weft  ', ' wool and silk ', ierror)
  call MPI_Info_set(info, 'reed', '12', ierror)
  call MPI_Info_set(info, 'reed', '14', ierror)
  call MPI_Info_get_nkeys(info, number, ierror)
  call check(number == 3, 'MPI_Info_get_nkeys')
  seen = .false.
  do i = 0, number - 1
    key = repeat('x', MPI_MAX_INFO_KEY)
    call MPI_Info_get_nthkey(info, i, key, ierror)
    seen = seen .or. [key == 'warp', key == 'weft', key == 'reed']
  end do
  call check(all(seen), 'MPI_Info_get_nthkey')
  call MPI_Info_get_valuelen(info, 'weft', length, flag, ierror)
  call check(flag .and. length == 13, 'MPI_Info_get_valuelen')
  length = -5
  call MPI_Info_get_valuelen(info, 'heddle', length, flag, ierror)
  call check(.not. flag .and. length == -5, 'MPI_Info_get_valuelen without the key')
  value = repeat('x', MPI_MAX_INFO_VAL)
  call MPI_Info_get(info, ' reed', MPI_MAX_INFO_VAL, value, flag, ierror)
  call check(flag .and. value == '14', 'MPI_Info_get')
  ! MPICH takes a value that is longer than the text for an error.
  if (.not. on_mpich()) then
    short = 'xyz'
    call MPI_Info_get(info, 'weft', 2, short, flag, ierror)
    call check(flag .and. short == 'wo', 'MPI_Info_get cuts a value off')
  end if
  length = MPI_MAX_INFO_VAL
  call MPI_Info_get_string(info, 'warp', length, value, flag, ierror)
  call check(flag .and. value == 'linen', 'MPI_Info_get_string')

  ! A copy has values of its own.
  call MPI_Info_dup(info, copy, ierror)
  call MPI_Info_delete(info, ' warp ', ierror)
  call MPI_Info_set(info, 'reed', '16', ierror)
  call MPI_Info_get(info, 'warp', MPI_MAX_INFO_VAL, value, flag, ierror)
  call check(.not. flag, 'MPI_Info_delete')
  call MPI_Info_get(copy, 'warp', MPI_MAX_INFO_VAL, value, flag, ierror)
  call check(flag .and. value == 'linen', 'MPI_Info_dup')
  call MPI_Info_get(copy, 'reed', MPI_MAX_INFO_VAL, value, flag, ierror)
  call check(flag .and. value == '14', 'a value of MPI_Info_dup')
  call MPI_Info_get_nkeys(copy, number, ierror)
  call check(number == 3, 'the keys of MPI_Info_dup')
  call MPI_Info_free(info, ierror)
  call MPI_Info_free(copy, ierror)
  call check(info == MPI_INFO_NULL .and. copy == MPI_INFO_NULL, 'MPI_Info_free')

  ! The longest key and the longest value.
  call MPI_Info_create(info, ierror)
  key = repeat('k', MPI_MAX_INFO_KEY)
  value = repeat('v', MPI_MAX_INFO_VAL)
  call MPI_Info_set(info, key, value, ierror)
  value = ' '
  call MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, flag, ierror)
  call check(flag .and. value == repeat('v', MPI_MAX_INFO_VAL), 'the longest value')
  call MPI_Info_free(info, ierror)
  call MPI_Info_create_env(info, ierror)
  call MPI_Info_get(info, 'thread_level', MPI_MAX_INFO_VAL, value, flag, ierror)
  call check(.not. flag .or. index(value, 'MPI_THREAD_') == 1, 'MPI_Info_create_env')
  call MPI_Info_free(info, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
#include "peer.h"
end program infos
