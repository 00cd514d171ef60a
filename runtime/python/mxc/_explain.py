# SPDX-License-Identifier: Apache-2.0
"""What became of loops over arrays (mxc.mxnet): which lines are one program."""
import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """Calls that came again in the same order.

    `calls`: (line of the user's program, what it calls). `outcome`: "program", or why
    they are none and run one by one. `runs`: how often the program ran.
    """

    calls: list[tuple[str, str]]
    outcome: str
    runs: int

    def __str__(self) -> str:
        if self.outcome == "program":
            first = f"one program, which ran {self.runs} times:"
        else:
            first = f"no program: {self.outcome}"
        return "\n".join([first, *(f"  {line:24} {call}" for line, call in self.calls)])


def explain() -> list[Explanation]:
    """Loops of this process over arrays, the last used first.

        for loop in mxc.explain():
            print(loop)
    """
    from ._ndarray import explain_json  # loads the compiler, as mxc.mxnet does
    return [Explanation([(call["line"], call["call"]) for call in loop["calls"]],
                        loop["outcome"], loop["runs"])
            for loop in json.loads(explain_json())]
