! A program as gfortran compiles it with MPICH's module mpi_f08: buffers come with gfortran's own descriptor, since the subroutines
! are not bind(C), and error codes may be left out. The module here has a few of MPICH's subroutines.
module mpich_f08
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  integer, parameter :: WORLD = int(z'44000000'), INTEGERS = int(z'4c00041b'), ADDITION = int(z'58000003')
  integer, parameter :: COUNT_KIND = 8, ADDRESS_KIND = 8
  type, bind(C) :: Status
    integer :: count_low, count_high, source, tag, error
  end type
  integer, bind(C, name='MPIR_F08_MPI_IN_PLACE'), target :: IN_PLACE
  type(Status), bind(C, name='MPIR_F08_MPI_STATUS_IGNORE_OBJ'), target :: NO_STATUS
  type(Status), bind(C, name='MPIR_F08_MPI_STATUSES_IGNORE_OBJ'), target :: NO_STATUSES(1)
  interface
    subroutine MPI_Init_f08(ierror)
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Finalize_f08(ierror)
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Comm_rank_f08(comm, rank, ierror)
      integer :: comm, rank
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Comm_set_name_f08(comm, name, ierror)
      integer :: comm
      character(len=*) :: name
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Comm_get_name_f08(comm, name, length, ierror)
      integer :: comm, length
      character(len=*) :: name
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Isend_f08ts(buf, count, datatype, dest, tag, comm, request, ierror)
      type(*), dimension(..), asynchronous :: buf
      integer :: count, datatype, dest, tag, comm, request
      integer, optional :: ierror
    end subroutine
    subroutine PMPIR_Recv_f08ts(buf, count, datatype, source, tag, comm, state, ierror)
      import
      type(*), dimension(..) :: buf
      integer :: count, datatype, source, tag, comm
      type(Status) :: state
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Irecv_f08ts_large(buf, count, datatype, source, tag, comm, request, ierror)
      import
      type(*), dimension(..), asynchronous :: buf
      integer(COUNT_KIND) :: count
      integer :: datatype, source, tag, comm, request
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Waitall_f08(count, requests, states, ierror)
      import
      integer :: count, requests(count)
      type(Status) :: states(*)
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Allreduce_f08ts(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      type(*), dimension(..) :: sendbuf, recvbuf
      integer :: count, datatype, op, comm
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Buffer_attach_f08ts(buffer, size, ierror)
      type(*), dimension(..), asynchronous :: buffer
      integer :: size
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Buffer_detach_f08(buffer, size, ierror)
      import
      type(c_ptr) :: buffer
      integer :: size
      integer, optional :: ierror
    end subroutine
  end interface
end module

program f08
  use, intrinsic :: iso_c_binding, only: c_associated, c_loc
  use mpich_f08
  implicit none
  integer :: rank, other, i, code, length
  integer, asynchronous :: requests(2)
  integer, asynchronous :: line(20), plane(4, 6), cube(3, 4, 5)
  integer, target :: space(100)
  type(Status) :: state, states(2)
  type(c_ptr) :: detached
  character(len=12) :: name

  call MPI_Init_f08()
  call MPI_Comm_rank_f08(WORLD, rank)
  other = 1 - rank

  ! Sections with gaps, of one dimension and of more; rows, and the order reversed.
  line = [(100 * rank + i, i = 1, 20)]
  plane = -1
  call MPI_Isend_f08ts(line(19:1:-2), 6, INTEGERS, other, 1, WORLD, requests(1))
  call MPI_Irecv_f08ts_large(plane(2, :), 6_COUNT_KIND, INTEGERS, other, 1, WORLD, requests(2), code)
  call MPI_Waitall_f08(2, requests, states)
  call check(code == 0 .and. states(2)%source == other .and. states(2)%tag == 1, 'a status')
  call check(all(plane(2, :) == [(100 * other + i, i = 19, 9, -2)]) .and. count(plane == -1) == 18, 'a row')
  cube = reshape([(i, i = 1, 60)], [3, 4, 5]) + 1000 * rank
  plane = -1
  call MPI_Isend_f08ts(cube(2, 1:3:2, 2:4), 6, INTEGERS, other, 2, WORLD, requests(1))
  call PMPIR_Recv_f08ts(plane(1:3:2, 1:6:2), 6, INTEGERS, other, 2, WORLD, state)
  call MPI_Waitall_f08(1, requests, NO_STATUSES)
  call check(state%source == other, 'a status of one')
  call check(all(plane(1:3:2, 1:6:2) == 1000 * other + reshape([14, 20, 26, 32, 38, 44], [2, 3])), 'a plane in a cube')
  call check(count(plane == -1) == 18, 'and its gaps')
  ! Arrays without gaps, of more dimensions, and with an assumed size; a scalar.
  call whole(cube, plane)
  call MPI_Isend_f08ts(rank, 1, INTEGERS, other, 4, WORLD, requests(1))
  call PMPIR_Recv_f08ts(i, 1, INTEGERS, other, 4, WORLD, NO_STATUS)
  call MPI_Waitall_f08(1, requests, NO_STATUSES)
  call check(i == other, 'a scalar')

  ! The module of MPICH leaves copies of operands to the library.
  line = rank + 1
  call MPI_Allreduce_f08ts(IN_PLACE, line(1:20:3), 7, INTEGERS, ADDITION, WORLD)
  call check(all(line(1:20:3) == 3) .and. all(line(2:20:3) == rank + 1), 'MPI_IN_PLACE, and a section')
  call MPI_Allreduce_f08ts(line(2:20:3), plane(3, :), 6, INTEGERS, ADDITION, WORLD)
  call check(all(plane(3, :) == 3), 'two sections')

  call MPI_Comm_set_name_f08(WORLD, 'warp   ')
  name = repeat('x', 12)
  call MPI_Comm_get_name_f08(WORLD, name, length)
  call check(name == 'warp' .and. length == 4, 'a name')
  call MPI_Buffer_attach_f08ts(space, 400)
  call MPI_Buffer_detach_f08(detached, length)
  call check(length == 400 .and. c_associated(detached, c_loc(space)), 'a buffer that is detached')
  call MPI_Finalize_f08()
  if (rank == 0) print '(a)', 'ok'
contains
  subroutine whole(given, got)
    integer, asynchronous :: given(*)
    integer, asynchronous :: got(4, *)
    call MPI_Isend_f08ts(given, 24, INTEGERS, other, 3, WORLD, requests(1))
    call PMPIR_Recv_f08ts(got, 24, INTEGERS, other, 3, WORLD, NO_STATUS)
    call MPI_Waitall_f08(1, requests, NO_STATUSES)
    call check(all(got(:, 1:6) == 1000 * other + reshape([(i, i = 1, 24)], [4, 6])), 'arrays of assumed size')
  end subroutine
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    print '(2a)', 'wrong: ', what
    error stop 1
  end subroutine
end program
