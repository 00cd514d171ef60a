# SPDX-License-Identifier: Apache-2.0
"""mx.profiler: counts, sums and orders of what was called while it ran."""

import json

import pytest

import mxc.mxnet as mx


@pytest.fixture
def profiler(tmp_path):
    mx.profiler.dumps(reset=True)
    mx.profiler.set_config(filename=str(tmp_path / "trace.json"), profile_all=True)
    mx.profiler.set_state("run")
    yield mx.profiler
    mx.profiler.set_state("stop")
    mx.profiler.dumps(reset=True)


def test_calls_are_counted_while_it_runs(profiler, tmp_path):
    a = mx.nd.ones((3, 3))
    a + a
    a + 1
    profiler.pause()
    mx.nd.relu(a)
    profiler.resume()
    mx.nd.tanh(a)
    domain = profiler.Domain("mine")
    with domain.new_task("part"):
        pass
    counter = domain.new_counter("steps", 2)
    counter += 3
    times = json.loads(profiler.dumps(format="json", sort_by="count"))["Time"]
    assert {name: row["Count"] for name, row in times["operator"].items()} == {
        "_ones": 1, "broadcast_add": 1, "_plus_scalar": 1, "tanh": 1}
    assert times["mine"]["part"]["Count"] == 1
    row = times["operator"]["broadcast_add"]
    assert 0 < row["Min"] <= row["Avg"] <= row["Max"] <= row["Total"]
    assert "broadcast_add" in profiler.dumps()
    profiler.dump()
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [e["args"]["steps"] for e in events if e["ph"] == "C"] == [2, 5]
    a + a  # dump() stops
    assert json.loads(profiler.dumps(format="json"))["Time"]["operator"][
        "broadcast_add"]["Count"] == 1


@mx.operator.register("profiled_double")
class Double(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        class Op(mx.operator.CustomOp):
            def forward(self, is_train, req, in_data, out_data, aux):
                self.assign(out_data[0], req[0], in_data[0] * 2)

            def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
                self.assign(in_grad[0], req[0], 2 - mx.nd.zeros(in_data[0].shape))
        return Op()


def test_operators_of_the_user_have_entries_of_their_own(profiler):
    x = mx.nd.array([1.0, 2.0])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Custom(x, op_type="profiled_double")
    y.backward()
    z = mx.sym.Custom(mx.sym.var("x"), op_type="profiled_double")
    z.bind(mx.cpu(), {"x": x}).forward()
    rows = json.loads(profiler.dumps(format="json"))["Time"]["Custom Operator"]
    assert {name: row["Count"] for name, row in rows.items()
            if name.endswith(("_scalar", "python", "_zeros"))} == {
        "profiled_double::pure_python": 2, "profiled_double::_mul_scalar": 2,
        "_backward_profiled_double::pure_python": 1,
        "_backward_profiled_double::_rminus_scalar": 1,
        "_backward_profiled_double::_zeros": 1}
    assert x.grad.asnumpy().tolist() == [2, 2]


def test_wrong_settings(profiler):
    with pytest.raises(TypeError, match="nothing"):
        profiler.set_config(nothing=1)
    with pytest.raises(ValueError):
        profiler.set_state("fast")
    with pytest.raises(ValueError):
        profiler.dumps(sort_by="name")
