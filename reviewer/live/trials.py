"""The evidence of a finished sample on trial: the same policy continues it from edited spectra, while pages watch.

One thread per trial. Its events have their own log, because the log of the run is over by then.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from contextvars import copy_context

from agent.conversation import Policy, PolicyError, Stop
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Trajectory
from agent.trial.report import Trial
from reviewer.errors import message
from reviewer.live.events import Log
from reviewer.trials import result_json


class LiveTrial:
    """One trial and its state. ``id`` cannot be guessed.

    :param texts: raw assistant turns of the trajectory; None where they are not known
    """

    def __init__(
        self,
        trajectory: Trajectory,
        texts: Sequence[str] | None,
        spectrum: Spectrum,
        task: Task,
        policy: Policy,
    ) -> None:
        self.id = secrets.token_urlsafe(12)
        self.trajectory = trajectory
        self.spectrum = spectrum
        self.task = task
        self.stop = Stop()
        self.log = Log()
        self.result: Trial | None = None
        self._texts = texts
        self._policy = policy

    def start(self) -> None:
        """Start the thread; it does not keep the program from ending."""
        threading.Thread(target=copy_context().run, args=(self._run,), name=f"trial {self.id}", daemon=True).start()

    @property
    def is_running(self) -> bool:
        return not self.log.is_over

    def _run(self) -> None:
        state, detail, result = "done", "", None
        from agent.trial.run import TrialStopped, trial  # not at the start of the app

        try:
            self.result = trial(
                self.trajectory,
                self._texts,
                self.spectrum,
                self.task,
                self._policy,
                stop=self.stop,
                on_call=self._on_call,
            )
            result = result_json(self.result.to_json())
        except TrialStopped:
            state = "stopped"
        except PolicyError as error:
            state, detail = "failed", error.sentence
        except Exception as fault:
            state, detail = "failed", message(fault)
        self.log.add({"kind": "over", "state": state, "detail": detail, "result": result})

    def _on_call(self, done: int, of: int) -> None:
        self.log.add({"kind": "progress", "done": done, "of": of})
