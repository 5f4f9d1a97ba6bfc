"""Slow steps, held interpreters and stops that are not heard, planted and found (with shorter limits)."""

import ctypes
import time

import pytest
from conforming import Means
from faults import caught

from plaidwork.core.checks import timing


class Slow(Means):
    def draw_mean(self, state, x, known, params, rng):
        time.sleep(0.1)
        super().draw_mean(state, x, known, params, rng)


class SlowToPrepare(Means):
    def prepare(self):
        time.sleep(0.06)


class Holding(Means):
    """Sleeps with the interpreter in its hand, as a kernel without nogil does."""

    def draw_mean(self, state, x, known, params, rng):
        ctypes.PyDLL(None).usleep(200_000)
        super().draw_mean(state, x, known, params, rng)


class Deaf(Means):
    def draw_mean(self, state, x, known, params, rng):
        time.sleep(0.8 if x.size > 10_000 else 0.0)
        super().draw_mean(state, x, known, params, rng)


@pytest.mark.long
def test_long_step(monkeypatch):
    monkeypatch.setattr(timing, "STEP_SECONDS", 0.08)
    caught(Slow, "short_steps", "step()", "a call took 0.1")


def test_prepare(monkeypatch):
    monkeypatch.setattr(timing, "PREPARE_SECONDS", 0.05)
    caught(SlowToPrepare, "prepare_twice", "again")


@pytest.mark.long
@pytest.mark.skipif(not hasattr(ctypes, "PyDLL"), reason="needs a C library")
def test_held_interpreter(monkeypatch):
    monkeypatch.setattr(timing, "TRIES", 1)
    caught(Holding, "releases_interpreter", "nogil", "no other thread could run for 2")


def test_gap_of_work_that_holds_nothing():
    assert timing.longest_gap(lambda: time.sleep(0.05)) < 0.1


@pytest.mark.long
def test_stop(monkeypatch):
    monkeypatch.setattr(timing, "STOP_SECONDS", 0.4)
    monkeypatch.setattr(timing, "TRIES", 1)
    caught(Deaf, "stops", "after the stop")
