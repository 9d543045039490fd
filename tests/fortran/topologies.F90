! Virtual topologies: grids, graphs, distributed graphs.
program topologies
#include "form.h"
  integer :: rank, size, ierror, i, found, left, right, number, edges
  integer :: dims(2), coords(2), sources(2), destinations(2), weights(2), more_weights(2)
  integer, allocatable :: ends(:), neighbors(:), read_ends(:), read_neighbors(:)
  logical :: weighted
  COMM :: grid, graph, line

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  call MPI_Topo_test(MPI_COMM_WORLD, found, ierror)
  call check(found == MPI_UNDEFINED, 'no topology')

  ! Grids.
  dims = 0
  call MPI_Dims_create(12, 2, dims, ierror)
  call check(all(dims == [4, 3]), 'MPI_Dims_create')
  dims = [0, 2]
  call MPI_Dims_create(12, 2, dims, ierror)
  call check(all(dims == [6, 2]), 'MPI_Dims_create with a number that is given')
  dims = 0
  call MPI_Dims_create(size, 2, dims, ierror)
  call check(product(dims) == size, 'MPI_Dims_create for all ranks')
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid, ierror)
  call MPI_Topo_test(grid, found, ierror)
  call check(found == MPI_CART, 'MPI_CART')
  call MPI_Cartdim_get(grid, found, ierror)
  call check(found == 2, 'MPI_Cartdim_get')
  call MPI_Cart_coords(grid, rank, 2, coords, ierror)
  call check(all(coords == [rank / dims(2), mod(rank, dims(2))]), 'MPI_Cart_coords')
  call MPI_Cart_rank(grid, coords, found, ierror)
  call check(found == rank, 'MPI_Cart_rank')
  call MPI_Cart_rank(grid, [coords(1) - dims(1), coords(2)], found, ierror)
  call check(found == rank, 'MPI_Cart_rank once around')
  call MPI_Cart_shift(grid, 1, 1, sources(1), destinations(1), ierror)
  call check(sources(1) == merge(MPI_PROC_NULL, rank - 1, coords(2) == 0), 'the source of MPI_Cart_shift')
  call check(destinations(1) == merge(MPI_PROC_NULL, rank + 1, coords(2) == dims(2) - 1), 'the destination of MPI_Cart_shift')
  call MPI_Cart_sub(grid, [.true., .false.], line, ierror)
  call MPI_Comm_size(line, number, ierror)
  call MPI_Comm_rank(line, found, ierror)
  call check(number == dims(1) .and. found == coords(1), 'MPI_Cart_sub')
  call MPI_Comm_free(line, ierror)
  call MPI_Comm_free(grid, ierror)
  call MPI_Cart_map(MPI_COMM_WORLD, 1, [1], [.false.], found, ierror)
  call check(found == MPI_UNDEFINED .or. found == 0, 'MPI_Cart_map')
  number = merge(1, 0, found == 0)
  call MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(number == 1, 'one rank in the grid of MPI_Cart_map')

  ! Graphs: every rank has an edge to the next one, and the first rank one more to itself.
  allocate (ends(size), neighbors(size + 1), read_ends(size), read_neighbors(size + 1))
  ends = [(i + 1, i = 1, size)]
  neighbors = [0, (mod(i, size), i = 1, size)]
  call MPI_Graph_create(MPI_COMM_WORLD, size, ends, neighbors, .false., graph, ierror)
  call MPI_Topo_test(graph, found, ierror)
  call check(found == MPI_GRAPH, 'MPI_GRAPH')
  call MPI_Graphdims_get(graph, number, edges, ierror)
  call check(number == size .and. edges == size + 1, 'MPI_Graphdims_get')
  call MPI_Graph_get(graph, size, size + 1, read_ends, read_neighbors, ierror)
  call check(all(read_ends == ends) .and. all(read_neighbors == neighbors), 'MPI_Graph_get')
  call MPI_Graph_neighbors_count(graph, rank, number, ierror)
  call check(number == merge(2, 1, rank == 0), 'MPI_Graph_neighbors_count')
  read_neighbors = -1
  call MPI_Graph_neighbors(graph, rank, number, read_neighbors, ierror)
  call check(read_neighbors(number) == right .and. (rank > 0 .or. read_neighbors(1) == 0), 'MPI_Graph_neighbors')
  call MPI_Comm_free(graph, ierror)
  call MPI_Graph_map(MPI_COMM_WORLD, size, ends, neighbors, found, ierror)
  call check(found >= 0 .and. found < size, 'MPI_Graph_map')
  number = 2**found
  call MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(number == 2**size - 1, 'every rank once in MPI_Graph_map')

  ! Distributed graphs: rank 0 gives all edges, from each rank to the next one, with the number of the source as weight.
  if (rank == 0) then
    call MPI_Dist_graph_create(MPI_COMM_WORLD, size, [(i, i = 0, size - 1)], [(1, i = 1, size)], [(mod(i, size), i = 1, size)], &
      [(i, i = 0, size - 1)], MPI_INFO_NULL, .false., graph, ierror)
  else
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 0, ends, ends, ends, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., graph, ierror)
  end if
  call MPI_Topo_test(graph, found, ierror)
  call check(found == MPI_DIST_GRAPH, 'MPI_DIST_GRAPH')
  call MPI_Dist_graph_neighbors_count(graph, number, edges, weighted, ierror)
  call check(number == 1 .and. edges == 1 .and. weighted, 'MPI_Dist_graph_neighbors_count')
  call MPI_Dist_graph_neighbors(graph, 1, sources, weights, 1, destinations, more_weights, ierror)
  call check(sources(1) == left .and. weights(1) == left, 'sources of MPI_Dist_graph_neighbors')
  call check(destinations(1) == right .and. more_weights(1) == rank, 'destinations of MPI_Dist_graph_neighbors')
  call MPI_Comm_free(graph, ierror)
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [2], [left, right], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierror)
  call MPI_Dist_graph_neighbors_count(graph, number, edges, weighted, ierror)
  call check(number == 2 .and. edges == 2 .and. .not. weighted, 'a graph without weights')
  call MPI_Dist_graph_neighbors(graph, 2, sources, MPI_UNWEIGHTED, 2, destinations, MPI_UNWEIGHTED, ierror)
  call check(sum(sources) == left + right .and. sum(destinations) == left + right, 'its neighbours')
  call MPI_Comm_free(graph, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program topologies
