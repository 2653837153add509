"""Hidden causes with a few levels: EM over what they could have been, and draws of it.

All functions read the arrays of a `Layout` (`scores.latent`). `place[c, r] + offset[c, s]` is the cell of child c's
table that row r and joint state s of the hidden causes point to; a table has `groups[c]` groups (levels of its parents
and hidden causes) of `many[c]` cells side by side, one for each of its own levels. `level[s, h]` is the level of cause
h in state s, and `sizes[h]` how many levels it has.
"""

import math

import numpy as np
from numba import njit

LEAST = 1e-12  # no level is impossible


@njit(cache=True, nogil=True)
def _priors(shares, level, prior):
    """How likely each joint state is before a row is seen."""
    for s in range(len(prior)):
        prior[s] = 1.0
        for h in range(level.shape[1]):
            prior[s] *= shares[h, level[s, h]]


@njit(cache=True, nogil=True)
def _expected(place, offset, weight, level, tables, shares, counts, hidden_counts):
    """The log-likelihood of the rows, and the counts expected if the hidden causes were seen."""
    states, children = len(level), len(place)
    prior, joint = np.empty(states), np.empty(states)
    _priors(shares, level, prior)
    counts[:] = 0.0
    hidden_counts[:] = 0.0
    total = 0.0
    for r in range(len(weight)):
        whole = 0.0
        for s in range(states):
            product = prior[s]
            for c in range(children):
                product *= tables[c, place[c, r] + offset[c, s]]
            joint[s] = product
            whole += product
        total += weight[r] * math.log(whole)
        for s in range(states):
            part = weight[r] * joint[s] / whole
            for c in range(children):
                counts[c, place[c, r] + offset[c, s]] += part
            for h in range(level.shape[1]):
                hidden_counts[h, level[s, h]] += part
    return total


@njit(cache=True, nogil=True)
def _refit(counts, hidden_counts, groups, many, sizes, ess, tables, shares):
    """The tables and shares that fit expected counts best, with the prior rows of BDeu."""
    for c in range(len(groups)):
        prior = ess / (groups[c] * many[c])
        for g in range(groups[c]):
            first = g * many[c]
            whole = prior * many[c]
            for x in range(many[c]):
                whole += counts[c, first + x]
            for x in range(many[c]):
                tables[c, first + x] = max((counts[c, first + x] + prior) / whole, LEAST)
    for h in range(len(sizes)):
        whole = float(sizes[h])
        for x in range(sizes[h]):
            whole += hidden_counts[h, x]
        for x in range(sizes[h]):
            shares[h, x] = (hidden_counts[h, x] + 1.0) / whole


@njit(cache=True, nogil=True)
def _completed(counts, fitted, groups, many, prior):
    """Log marginal likelihood of a table of counts, less its log-likelihood as fitted."""
    value = 0.0
    for g in range(groups):
        whole = 0.0
        for x in range(g * many, (g + 1) * many):
            if counts[x] > 0:
                whole += counts[x]
                value += math.lgamma(prior + counts[x]) - math.lgamma(prior) - counts[x] * math.log(fitted[x])
        if whole > 0:
            value += math.lgamma(prior * many) - math.lgamma(prior * many + whole)
    return value


@njit(cache=True, nogil=True)
def fit(layout, weight, ess, sweeps, tables, shares):
    """Improve tables and shares by EM; return the score of Cheeseman & Stutz (1996).

    It is the marginal likelihood of the rows completed by what is expected of the hidden causes, corrected by how much
    likelier the rows are than their completion. EM ends after so many sweeps, or when one gains less than a half.
    """
    place, offset, level, groups, many, sizes = layout
    counts, hidden_counts = np.zeros_like(tables), np.zeros_like(shares)
    last = -np.inf
    for sweep in range(sweeps):
        total = _expected(place, offset, weight, level, tables, shares, counts, hidden_counts)
        if sweep == sweeps - 1 or total - last < 0.5:
            break
        last = total
        _refit(counts, hidden_counts, groups, many, sizes, ess, tables, shares)
    score = total
    for c in range(len(groups)):
        score += _completed(counts[c], tables[c], groups[c], many[c], ess / (groups[c] * many[c]))
    for h in range(len(sizes)):
        score += _completed(hidden_counts[h], shares[h], 1, sizes[h], 1.0)
    return score


@njit(cache=True, nogil=True)
def draw(layout, tables, shares, uniform, drawn):
    """For every row a joint state of the hidden causes, as probable as it is given the row, into `drawn` (h, rows)."""
    place, offset, level = layout.place, layout.offset, layout.level
    states, children = len(level), len(place)
    prior, upto = np.empty(states), np.empty(states)
    _priors(shares, level, prior)
    for r in range(place.shape[1]):
        whole = 0.0
        for s in range(states):
            product = prior[s]
            for c in range(children):
                product *= tables[c, place[c, r] + offset[c, s]]
            whole += product
            upto[s] = whole
        chosen = 0
        while chosen < states - 1 and upto[chosen] < uniform[r] * whole:
            chosen += 1
        for h in range(level.shape[1]):
            drawn[h, r] = level[chosen, h]
