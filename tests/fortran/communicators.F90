! Communicators: copies with hints, splits, and intercommunicators.
program communicators
#include "form.h"
  integer :: rank, size, ierror, found, number, i, half, leader, got
  integer :: together(4)
  COMM :: comm, copy, inter, merged
  GROUP :: group
  INFO :: info
  REQUEST :: requests(2)
  character(len=MPI_MAX_INFO_VAL) :: value
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Comm_get_parent(comm, ierror)
  call check(comm == MPI_COMM_NULL, 'MPI_Comm_get_parent')

  ! Copies, and the hints that they take.
  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, 'mpi_assert_no_any_tag', 'true', ierror)
  call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, comm, ierror)
  call check_hint(comm, 'MPI_Comm_dup_with_info')
  call MPI_Comm_compare(comm, MPI_COMM_WORLD, found, ierror)
  call check(found == MPI_CONGRUENT, 'MPI_Comm_compare')
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_idup(MPI_COMM_WORLD, comm, requests(1), ierror)
  call MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, copy, requests(2), ierror)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  call MPI_Allreduce(rank, found, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
  call MPI_Allreduce(rank, number, 1, MPI_INTEGER, MPI_MAX, copy, ierror)
  call check(found == size * (size - 1) / 2 .and. number == size - 1, 'MPI_Comm_idup')
  call check_hint(copy, 'MPI_Comm_idup_with_info')
  call MPI_Comm_set_info(comm, info, ierror)
  call check_hint(comm, 'MPI_Comm_set_info')
  call MPI_Info_free(info, ierror)
  call MPI_Comm_disconnect(comm, ierror)
  call MPI_Comm_disconnect(copy, ierror)
  call check(comm == MPI_COMM_NULL .and. copy == MPI_COMM_NULL, 'MPI_Comm_disconnect')

  ! Splits. All ranks of this test share memory.
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, comm, ierror)
  call MPI_Comm_size(comm, number, ierror)
  call MPI_Comm_rank(comm, found, ierror)
  call check(number == (size + 1 - mod(rank, 2)) / 2 .and. found == number - 1 - rank / 2, 'MPI_Comm_split')
  call MPI_Comm_test_inter(comm, flag, ierror)
  call check(.not. flag, 'MPI_Comm_test_inter')
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm, ierror)
  call MPI_Comm_size(comm, number, ierror)
  call MPI_Comm_rank(comm, found, ierror)
  call check(number == size .and. found == rank, 'MPI_Comm_split_type')
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, comm, ierror)
  call check(comm == MPI_COMM_NULL, 'MPI_Comm_split_type without a type')

  ! An intercommunicator of the even ranks and the odd ones, whose leaders are 0 and 1.
  if (size > 1) then
    half = mod(rank, 2)
    leader = 1 - half
    call MPI_Comm_split(MPI_COMM_WORLD, half, rank, comm, ierror)
    call MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, leader, 8, inter, ierror)
    call MPI_Comm_test_inter(inter, flag, ierror)
    call check(flag, 'MPI_Comm_test_inter of an intercommunicator')
    call MPI_Comm_remote_size(inter, number, ierror)
    call check(number == (size + half) / 2, 'MPI_Comm_remote_size')
    call MPI_Comm_remote_group(inter, group, ierror)
    call MPI_Group_size(group, found, ierror)
    call check(found == number, 'MPI_Comm_remote_group')
    call MPI_Group_rank(group, found, ierror)
    call check(found == MPI_UNDEFINED, 'the rank in the group of the others')
    call MPI_Group_free(group, ierror)
    ! The leaders exchange their ranks; everybody has those of the others from MPI_Allgather.
    if (rank < 2) then
      call MPI_Sendrecv(rank, 1, MPI_INTEGER, 0, 5, got, 1, MPI_INTEGER, 0, 5, inter, MPI_STATUS_IGNORE, ierror)
      call check(got == 1 - rank, 'a message in an intercommunicator')
    end if
    together = -1
    call MPI_Allgather(rank, 1, MPI_INTEGER, together, 1, MPI_INTEGER, inter, ierror)
    call check(all(together(:number) == [(2 * (i - 1) + leader, i = 1, number)]), 'MPI_Allgather among two groups')
    got = -1
    if (half == 1) then
      call MPI_Bcast(got, 1, MPI_INTEGER, 0, inter, ierror)
      call check(got == 77, 'MPI_Bcast among two groups')
    else
      got = 77
      call MPI_Bcast(got, 1, MPI_INTEGER, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), inter, ierror)
    end if
    ! The odd ranks come first.
    call MPI_Intercomm_merge(inter, half == 0, merged, ierror)
    call MPI_Comm_rank(merged, found, ierror)
    call MPI_Comm_size(merged, number, ierror)
    call check(number == size .and. found == rank / 2 + merge(size / 2, 0, half == 0), 'MPI_Intercomm_merge')
    call MPI_Comm_free(merged, ierror)
    call MPI_Comm_free(inter, ierror)
    call MPI_Comm_free(comm, ierror)
  end if
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
  subroutine check_hint(of, what)
    COMM, intent(in) :: of
    character(len=*), intent(in) :: what
    INFO :: hints
    call MPI_Comm_get_info(of, hints, ierror)
    call MPI_Info_get(hints, 'mpi_assert_no_any_tag', MPI_MAX_INFO_VAL, value, flag, ierror)
    call check(flag .and. value == 'true', what)
    call MPI_Info_free(hints, ierror)
  end subroutine check_hint
end program communicators
