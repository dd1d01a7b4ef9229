# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Random edits of a network next to a model in plain Python: a list of ops with names, alphas and inputs.
XIR_PYTHON_EXAMPLES networks get up to XIR_PYTHON_STEPS edits each."""

import contextlib
import os

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import xir
from xir import F, P

ALPHAS = st.sampled_from([0.0, 0.25, 0.5, 1.0])
PLACE = st.integers(0, 1000)
EXAMPLES = int(os.environ.get("XIR_PYTHON_EXAMPLES", 350))
STEPS = int(os.environ.get("XIR_PYTHON_STEPS", 50))


class Stop(Exception):
    pass


class Edits(RuleBasedStateMachine):
    done = 0

    def __init__(self):
        super().__init__()
        self.net = xir.Network("machine")
        self.x = self.net.input("x", "fp32 NC [1,4]")
        self.names = []             # the ops in their order, without Input
        self.alphas, self.inputs = {}, {}
        self.erased = []
        self.count = 0

    def pick(self, place):
        return self.names[place % len(self.names)] if self.names else None

    def users(self, name):
        return [other for other in self.names if self.inputs[other] == name]

    @rule(place=PLACE, alpha=ALPHAS)
    def add(self, place, alpha):
        source, name = self.pick(place), f"op{self.count}"
        self.count += 1
        made = F.ReLU(self.net[source] if source else self.x, alpha=alpha, name=name)
        assert made.op == self.net[name]
        self.names.append(name)
        self.alphas[name], self.inputs[name] = alpha, source

    @rule(place=PLACE, alpha=ALPHAS)
    def insert(self, place, alpha):
        source = self.pick(place)
        if not source:
            return
        name = f"op{self.count}"
        self.count += 1
        with self.net.at(after=self.net[source]):
            self.net[source].output.insert(lambda x: F.ReLU(x, alpha=alpha, name=name))
        for user in self.users(source):
            self.inputs[user] = name
        self.names.insert(self.names.index(source) + 1, name)
        self.alphas[name], self.inputs[name] = alpha, source

    @rule(place=PLACE, alpha=ALPHAS)
    def set(self, place, alpha):
        name = self.pick(place)
        if name:
            self.net[name].alpha = alpha
            self.alphas[name] = alpha

    @rule(place=PLACE)
    def erase(self, place):
        name = self.pick(place)
        if not name:
            return
        op = self.net[name]
        if self.users(name):
            with pytest.raises(xir.InUseError):
                op.erase()
            return
        self.erased += [op, op.output]
        op.erase()
        self.names.remove(name)

    @rule(place=PLACE)
    def bypass(self, place):
        name = self.pick(place)
        if name:
            op = self.net[name]
            self.erased += [op, op.output]
            self.net.bypass(op)
            for user in self.users(name):
                self.inputs[user] = self.inputs[name]
            self.names.remove(name)

    @rule(place=PLACE)
    def rename(self, place):
        name = self.pick(place)
        if name:
            now = f"op{self.count}"
            self.count += 1
            self.net[name].name = now
            for user in self.users(name):
                self.inputs[user] = now
            self.names[self.names.index(name)] = now
            self.alphas[now], self.inputs[now] = self.alphas[name], self.inputs[name]

    @rule(place=PLACE)
    def rename_all(self, place):
        now = {name: f"op{self.count + i}" for i, name in enumerate(self.names) if (place + i) % 3}
        self.count += len(self.names)
        assert self.net.rename(now, values=False) == len(now)
        moved = {now.get(name, name): (self.alphas[name], now.get(self.inputs[name], self.inputs[name]))
                 for name in self.names}
        self.names = list(moved)
        for name, (alpha, source) in moved.items():
            self.alphas[name], self.inputs[name] = alpha, source

    @rule()
    def run_a_pass(self):
        xir.Pipeline("infer,identity").run(self.net)

    @rule(alpha=ALPHAS)
    def rewrite(self, alpha):
        gone = [name for name in self.names if self.alphas[name] == alpha]
        self.erased += [self.net[name] for name in gone]
        assert self.net.rewrite(P.op("ReLU", P.any("x"), alpha=alpha), lambda m: m["x"]) == len(gone)
        for name in gone:
            for user in self.users(name):
                self.inputs[user] = self.inputs[name]
            self.names.remove(name)

    @rule(place=PLACE, alpha=ALPHAS, fails=st.booleans())
    def transaction(self, place, alpha, fails):
        """Edits that are kept, or put back: then what was erased exists again, and what was made is stale."""
        known = [self.net[name] for name in self.names]
        model = list(self.names), dict(self.alphas), dict(self.inputs), list(self.erased)
        made = []
        with contextlib.suppress(Stop), self.net.transaction():
            for edit in (self.add, self.set, self.insert):
                edit(place, alpha)
            made = [self.net[name] for name in self.names if name not in model[0]]
            for edit in (self.bypass, self.rename, self.rename_all, self.erase):
                edit(place)
            if fails:
                raise Stop
        if fails:
            self.names, self.alphas, self.inputs, self.erased = model
            assert known == [self.net[name] for name in self.names]
            assert [hash(op) for op in known] == [hash(self.net[name]) for name in self.names]
            self.erased += made

    @rule()
    def through_a_file(self):
        again = xir.read(self.net.write("fb", check=False))
        assert again.equal(self.net) and self.net.clone().equal(again)

    @invariant()
    def same(self):
        Edits.done += 1
        ops = list(self.net)[1:]
        assert [op.name for op in ops] == self.names
        for op in ops:
            source = self.inputs[op.name]
            assert op.alpha == self.alphas[op.name]
            assert op.input == (self.net[source].output if source else self.x)
        for thing in self.erased[-6:]:
            with pytest.raises(xir.StaleError):
                thing.name


Edits.TestCase.settings = settings(max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, database=None,
                                   derandomize=True, suppress_health_check=list(HealthCheck))
TestEdits = Edits.TestCase


def test_there_were_enough_edits():
    if EXAMPLES < 350:
        pytest.skip("fewer edits were asked for")
    assert Edits.done >= EXAMPLES / 350 * 10_000
