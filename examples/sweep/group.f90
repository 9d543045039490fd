! The sweep of one energy group through the whole domain: a thread receives faces, computes, and sends faces on.
module group
  use mpi_f08
  use decomposition, only: part
  use parameters, only: run_parameters
  use transport, only: angles, sweep_chunk, total
  implicit none
  private
  public :: sweep_group

contains

  ! Computes the flux of group g of a source, with messages on `comm`. `leakage` is what leaves the domain through this
  ! process's boundaries, `seconds` the time in MPI.
  subroutine sweep_group(run, own, comm, octant, g, source, flux, leakage, seconds)
    type(run_parameters), intent(in) :: run
    type(part), intent(in) :: own
    type(MPI_Comm), intent(in) :: comm
    type(angles), intent(in) :: octant
    integer, intent(in) :: g
    double precision, intent(in) :: source(:, :, :)
    double precision, intent(out) :: flux(:, :, :), leakage, seconds
    double precision :: face_x(run%nang, own%ny, own%nz)
    double precision :: face_y(run%nang, run%ichunk, own%nz), face_z(run%nang, run%ichunk, own%ny)
    double precision :: width(3)
    integer :: o, chunk, step(3), first, from(2), to(2)

    width = [run%lx / run%nx, run%ly / run%ny, run%lz / run%nz]
    flux = 0
    leakage = 0
    seconds = 0
    do o = 0, 7
      step = [merge(1, -1, btest(o, 0)), merge(1, -1, btest(o, 1)), merge(1, -1, btest(o, 2))]
      from = merge(own%below, own%above, step(2:) > 0)
      to = merge(own%above, own%below, step(2:) > 0)
      face_x = 0
      do chunk = 0, run%nx / run%ichunk - 1
        first = merge(1 + chunk * run%ichunk, run%nx - chunk * run%ichunk, step(1) > 0)
        call receive(face_y, from(1), 2 * g)
        call receive(face_z, from(2), 2 * g + 1)
        call sweep_chunk(octant, step, width, first, run%ichunk, total(g), source, flux, face_x, face_y, face_z)
        call send(face_y, to(1), 2 * g, octant%eta, width(1) * width(3))
        call send(face_z, to(2), 2 * g + 1, octant%xi, width(1) * width(2))
      end do
      leakage = leakage + outflow(face_x, octant%mu, width(2) * width(3))
    end do

  contains

    ! Nothing enters the domain.
    subroutine receive(face, source_rank, tag)
      double precision, intent(out) :: face(:, :, :)
      integer, intent(in) :: source_rank, tag
      double precision :: begin
      if (source_rank == MPI_PROC_NULL) then
        face = 0
      else
        begin = MPI_Wtime()
        call MPI_Recv(face, size(face), MPI_DOUBLE_PRECISION, source_rank, tag, comm, MPI_STATUS_IGNORE)
        seconds = seconds + (MPI_Wtime() - begin)
      end if
    end subroutine receive

    subroutine send(face, target_rank, tag, cosine, area)
      double precision, intent(in) :: face(:, :, :), cosine(:), area
      integer, intent(in) :: target_rank, tag
      double precision :: begin
      if (target_rank == MPI_PROC_NULL) then
        leakage = leakage + outflow(face, cosine, area)
      else
        begin = MPI_Wtime()
        call MPI_Send(face, size(face), MPI_DOUBLE_PRECISION, target_rank, tag, comm)
        seconds = seconds + (MPI_Wtime() - begin)
      end if
    end subroutine send

    ! What leaves the domain through a face whose cells have that area.
    pure double precision function outflow(face, cosine, area)
      double precision, intent(in) :: face(:, :, :), cosine(:), area
      integer :: a
      outflow = 0
      do a = 1, size(cosine)
        outflow = outflow + octant%weight(a) * cosine(a) * area * sum(face(a, :, :))
      end do
    end function outflow

  end subroutine sweep_group

end module group
