/* Checks a search tree by the specification's rules (section "Validation"), exactly: every
 * vertex and every input edge is looked at. */
#ifndef GRAPH500_VALIDATE_H
#define GRAPH500_VALIDATE_H

#include "bfs.h"

#include <stdbool.h>

/* Collective; true on all processes if the tree that bfs_run() left is right. Rank 0 tells on
 * stderr which rules are broken, how often, and where for example. */
bool validate_tree(const struct bfs *bfs, uint64_t root);

/* Kinds of damage to a tree, to see that validate_tree() notices. */
#define CORRUPTIONS "parent, level, cycle, lost, extra, root"

/* NULL-safe test whether `kind` is one of them. */
bool corruption_known(const char *kind);

/* Spoils the tree of the last search; collective. False if the graph has no vertex that `kind`
 * needs (for example no vertex outside the component for "extra"). */
bool corrupt_tree(struct bfs *bfs, uint64_t root, const char *kind);

#endif
