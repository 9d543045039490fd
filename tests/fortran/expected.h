  ! Results of collective operations in which rank r gives the numbers 100 r + 1, 100 r + 2, ...

  ! The sum over the first `number` ranks.
  function reduced(number)
    integer, intent(in) :: number
    integer :: reduced(2 * size), k
    reduced = [(50 * number * (number - 1) + number * k, k = 1, 2 * size)]
  end function reduced
  ! The block of two numbers that each rank has for this one.
  function exchanged()
    integer :: exchanged(2 * size), k
    exchanged = [(100 * ((k - 1) / 2) + 2 * rank + 1 + mod(k - 1, 2), k = 1, 2 * size)]
  end function exchanged
  ! Every rank r appears r + 1 times: 0 1 1 2 2 2 ...
  function ranks_repeated()
    integer :: ranks_repeated(size * (size + 1) / 2), k, filled
    filled = 0
    do k = 0, size - 1
      ranks_repeated(filled + 1:filled + k + 1) = k
      filled = filled + k + 1
    end do
  end function ranks_repeated
