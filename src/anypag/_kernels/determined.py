"""Finds discrete columns that other columns determine, by loops over the rows; for the audit."""

import math

import numpy as np

from anypag._kernels.patience import njit, patient

MOST, COLUMNS = 20_000, 20  # up to so many rows and columns it runs as Python (0.2 s at most); else it is compiled


@njit(cache=True)
def is_determined(codes, levels, a, b, c):
    """The number of cells (-1 if columns a and b do not determine column c), the number of rows, and the log
    probability that each cell has only one level of c by chance. Cells are the combinations of levels of a and b that
    occur, or the levels of a if a == b. Rows with a gap in a, b or c do not count. `codes` (p, n) are levels from 0, or
    -1 for a gap.
    """
    n_cells = levels[a] * (levels[b] if a != b else 1)
    seen, size, margin = np.full(n_cells, -1, np.int64), np.zeros(n_cells, np.int64), np.zeros(levels[c])
    count, rows = 0, 0
    for row in range(codes.shape[1]):
        if codes[a, row] < 0 or codes[b, row] < 0 or codes[c, row] < 0:
            continue
        cell = codes[a, row] * levels[b] + codes[b, row] if a != b else codes[a, row]
        if seen[cell] < 0:
            seen[cell] = codes[c, row]
            count += 1
        elif seen[cell] != codes[c, row]:
            return -1, rows, 0.0
        size[cell] += 1
        margin[codes[c, row]] += 1.0
        rows += 1
    chance = 0.0
    for cell in range(n_cells):
        if size[cell] > 1:
            alike = 0.0
            for level in range(levels[c]):
                alike += math.pow(margin[level] / rows, float(size[cell]))
            chance += math.log(alike) if alike > 0.0 else -math.inf
    return count, rows, chance


@patient(MOST, COLUMNS)
def determined_by_two(codes, levels, c, rows_per_cell, most_cells, least_rows, chance):
    """(a, a) if a column a with more levels than c determines c; else (a, b) if a and b only together determine c; else
    (-1, -1). At least `least_rows` rows must have no gap in these columns. The combinations of levels that occur must
    have at least `rows_per_cell` of these rows on average; a and b have at most `most_cells` possible combinations.
    The log probability that this happens by chance somewhere in the table must be below `chance`: that of these columns
    plus the log of the number of pairs (a, c), or of triples (a, b, c).
    """
    p = codes.shape[0]
    pairs, triples = math.log(max(p * (p - 1), 1)), math.log(max(p * (p - 1) * (p - 2) // 2, 1))
    for a in range(p):
        if a != c and levels[a] > levels[c]:
            cells, rows, by_chance = is_determined(codes, levels, a, a, c)
            if cells > 0 and cells * rows_per_cell <= rows and rows >= least_rows and by_chance + pairs < chance:
                return a, a
    for a in range(p):
        for b in range(a + 1, p):
            if c == a or c == b or levels[a] * levels[b] > most_cells:
                continue
            cells, rows, by_chance = is_determined(codes, levels, a, b, c)
            if cells <= levels[c] or cells * rows_per_cell > rows or rows < least_rows:
                continue
            if by_chance + triples >= chance:
                continue
            if is_determined(codes, levels, a, a, c)[0] < 0 and is_determined(codes, levels, b, b, c)[0] < 0:
                return a, b
    return -1, -1


@patient(MOST, COLUMNS)
def tell_each_other(codes, levels, least, least_rows):
    """A list of (a, b, share): columns a < b that nearly determine each other. Each column is guessed from the other;
    `share` is the share of rows in which the worse of the two guesses is right. In both directions, knowing one column
    removes at least the share `least` of errors in guessing the other (Goodman and Kruskal's lambda). In at least one
    direction errors remain. A pair has at least `least_rows` rows without gaps.
    """
    p, n = codes.shape
    most = levels.max()
    table = np.zeros((most, most), np.int64)
    found = []
    for a in range(p):
        for b in range(a + 1, p):
            counts = table[: levels[a], : levels[b]]
            counts[:] = 0
            rows = 0
            for row in range(n):
                if codes[a, row] >= 0 and codes[b, row] >= 0:
                    counts[codes[a, row], codes[b, row]] += 1
                    rows += 1
            # rows in which the best guess is right, with and without knowing the other column
            of_b, of_a, most_a, most_b = 0, 0, 0, 0
            for i in range(levels[a]):
                of_b += counts[i].max()
                most_a = max(most_a, counts[i].sum())
            for j in range(levels[b]):
                of_a += counts[:, j].max()
                most_b = max(most_b, counts[:, j].sum())
            errors_b, errors_a = rows - most_b, rows - most_a
            if rows < least_rows or errors_a == 0 or errors_b == 0 or (of_a == rows and of_b == rows):
                continue
            if rows - of_b <= (1.0 - least) * errors_b and rows - of_a <= (1.0 - least) * errors_a:
                found.append((a, b, min(of_a, of_b) / rows))
    return found
