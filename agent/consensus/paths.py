"""How the traces of several samples go: a tree that branches where they look at, or say, different things."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agent.measure import Window
from agent.steps import Answer, Verdict, Zoom
from agent.trajectory import Trajectory

What = Literal["look", "answer", "nothing"]

SAME = 0.5
"""Two looks are one branch if more than this part of the stretch that both span together is in both."""


@dataclass(frozen=True)
class Node:
    """What some samples did alike in one turn.

    ``samples`` are their numbers from 0; ``window`` is the stretch that their looks span together, in
    observed Å in the spectrum's medium, None where they asked for none that can be read; ``label`` the most
    frequent one. A trace that ends without an answer has a last node "nothing".
    """

    turn: int
    samples: tuple[int, ...]
    what: What
    window: Window | None = None
    label: str = ""
    verdict: Verdict | None = None
    next: tuple[Node, ...] = ()


@dataclass(frozen=True)
class _Act:
    what: What
    window: Window | None = None
    label: str = ""
    verdict: Verdict | None = None

    def likeness(self, other: _Act) -> float:
        """How much of two acts is the same, 0 to 1."""
        if self.what != other.what or self.verdict != other.verdict:
            return 0.0
        if self.window is None or other.window is None:
            return 1.0 if self.window == other.window else 0.0
        both = min(self.window[1], other.window[1]) - max(self.window[0], other.window[0])
        lo, hi = _union([self.window, other.window])
        return max(both, 0.0) / (hi - lo)


def paths(trajectories: Sequence[Trajectory]) -> tuple[Node, ...]:
    """The tree, as its first turn's nodes, those with most samples first.

    A look belongs to the branch whose first sample's window is most like its own; so a branch does not wander
    as samples are added.
    """
    acts = [_acts(trajectory) for trajectory in trajectories]
    return _nodes(acts, tuple(range(len(acts))), 0)


def parts_at(nodes: tuple[Node, ...]) -> int | None:
    """The first turn (from 1) in which the samples do not all do the same, None if there is none."""
    while len(nodes) == 1:
        nodes = nodes[0].next
    return nodes[0].turn if nodes else None


def node_to_json(node: Node) -> dict[str, Any]:
    """The JSON form of a node and of all after it."""
    return {
        "turn": node.turn,
        "samples": list(node.samples),
        "what": node.what,
        "window": None if node.window is None else list(node.window),
        "label": node.label,
        "verdict": node.verdict,
        "next": [node_to_json(after) for after in node.next],
    }


def _acts(trajectory: Trajectory) -> list[_Act]:
    """What a sample did, one a turn; the last is an answer or nothing."""
    found: list[_Act] = []
    for turn in trajectory.turns():
        match turn[-1]:
            case Zoom() as zoom:
                found.append(_Act("look", _increasing(zoom.window_observed), zoom.label))
            case Answer(verdict=verdict):
                return [*found, _Act("answer", verdict=verdict)]
    return [*found, _Act("nothing")]


def _increasing(window: Window | None) -> Window | None:
    return window if window is not None and -math.inf < window[0] < window[1] < math.inf else None


def _nodes(acts: Sequence[Sequence[_Act]], samples: tuple[int, ...], turn: int) -> tuple[Node, ...]:
    branches: list[list[int]] = []
    for sample in samples:
        if turn >= len(acts[sample]):
            continue
        likeness = [acts[sample][turn].likeness(acts[branch[0]][turn]) for branch in branches]
        best = max(likeness, default=0.0)
        if best > SAME:
            branches[likeness.index(best)].append(sample)
        else:
            branches.append([sample])
    ordered = sorted(branches, key=lambda branch: (-len(branch), branch[0]))
    return tuple(_node(acts, tuple(branch), turn) for branch in ordered)


def _node(acts: Sequence[Sequence[_Act]], samples: tuple[int, ...], turn: int) -> Node:
    here = [acts[sample][turn] for sample in samples]
    windows = [act.window for act in here if act.window is not None]
    return Node(
        turn=turn + 1,
        samples=samples,
        what=here[0].what,
        window=_union(windows) if windows else None,
        label=Counter(act.label for act in here).most_common(1)[0][0],
        verdict=here[0].verdict,
        next=_nodes(acts, samples, turn + 1),
    )


def _union(windows: Sequence[Window]) -> Window:
    return min(window[0] for window in windows), max(window[1] for window in windows)
