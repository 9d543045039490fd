! One energy group: sources, and the sweep of a chunk of cells along all angles of an octant.
module transport
  implicit none
  private
  public :: angles, make_angles, total, scattering, fixed_source, sweep_chunk

  ! The directions of an octant, and their weights; those of all eight add up to 1.
  type :: angles
    double precision, allocatable :: mu(:), eta(:), xi(:), weight(:)
  end type angles

contains

  subroutine make_angles(nang, octant)
    integer, intent(in) :: nang
    type(angles), intent(out) :: octant
    double precision :: length
    integer :: a
    allocate (octant%mu(nang), octant%eta(nang), octant%xi(nang), octant%weight(nang))
    do a = 1, nang
      octant%mu(a) = (a - 0.5d0) / nang
      octant%eta(a) = 1 - (a - 0.5d0) / nang
      octant%xi(a) = 0.5d0 + 0.25d0 * mod(a, 3)
      length = sqrt(octant%mu(a)**2 + octant%eta(a)**2 + octant%xi(a)**2)
      octant%mu(a) = octant%mu(a) / length
      octant%eta(a) = octant%eta(a) / length
      octant%xi(a) = octant%xi(a) / length
    end do
    octant%weight = 0.125d0 / nang
  end subroutine make_angles

  ! Cross sections of a group, and of scattering from one to another: within itself, and from the next higher energy.
  pure double precision function total(g)
    integer, intent(in) :: g
    total = 1 + 0.01d0 * g
  end function total

  pure double precision function scattering(from, to)
    integer, intent(in) :: from, to
    scattering = merge(0.5d0 * total(from), merge(0.2d0 * total(from), 0d0, to == from + 1), from == to)
  end function scattering

  ! The source that does not depend on the flux, in the middle half of the domain.
  pure double precision function fixed_source(g, x, y, z)
    integer, intent(in) :: g
    double precision, intent(in) :: x, y, z
    fixed_source = merge(1d0 / g, 0d0, all(abs([x, y, z] - 0.5d0) < 0.25d0))
  end function fixed_source

  ! Diamond differences through the cells `first`, `first + dx`, ... of the chunk, and all along y and z in the directions
  ! dy and dz. The faces hold the flux that enters, and then the one that leaves.
  subroutine sweep_chunk(octant, step, width, first, chunk, sigma, source, flux, face_x, face_y, face_z)
    type(angles), intent(in) :: octant
    integer, intent(in) :: step(3), first, chunk
    double precision, intent(in) :: width(3), sigma, source(:, :, :)
    double precision, intent(inout) :: flux(:, :, :), face_x(:, :, :), face_y(:, :, :), face_z(:, :, :)
    double precision, dimension(size(octant%mu)) :: cx, cy, cz, denominator, psi
    integer :: i, j, k, n, ny, nz, jj, kk
    ny = size(flux, 2)
    nz = size(flux, 3)
    cx = 2 * octant%mu / width(1)
    cy = 2 * octant%eta / width(2)
    cz = 2 * octant%xi / width(3)
    denominator = 1 / (sigma + cx + cy + cz)
    do kk = 1, nz
      k = merge(kk, nz + 1 - kk, step(3) > 0)
      do jj = 1, ny
        j = merge(jj, ny + 1 - jj, step(2) > 0)
        do n = 1, chunk
          i = first + (n - 1) * step(1)
          psi = (source(i, j, k) + cx * face_x(:, j, k) + cy * face_y(:, n, k) + cz * face_z(:, n, j)) * denominator
          face_x(:, j, k) = 2 * psi - face_x(:, j, k)
          face_y(:, n, k) = 2 * psi - face_y(:, n, k)
          face_z(:, n, j) = 2 * psi - face_z(:, n, j)
          flux(i, j, k) = flux(i, j, k) + dot_product(octant%weight, psi)
        end do
      end do
    end do
  end subroutine sweep_chunk

end module transport
