# SPDX-License-Identifier: Apache-2.0
"""Trainer.fit: what it learns, tells, keeps and refuses."""
import gc
import json
import warnings
import weakref

import numpy as np
import pytest

import mxc
from pictures import write_colours

CLASSES = {"mxc": 1, "name": "three", "inputs": {"data": ["N", 2]},
           "nodes": [{"op": "FullyConnected", "name": "fc", "num_hidden": 3},
                     {"op": "SoftmaxOutput", "name": "softmax"}]}
CENTRES = np.array([[2, 0], [-1, 2], [-1, -2]], np.float32)


@pytest.fixture(scope="module")
def model():
    return mxc.compile(CLASSES, init="xavier", seed=3, batch=32,
                       entries=["train", "score"], threads=1)


@pytest.fixture
def points():
    """300 points around three centres, and which."""
    labels = np.arange(300) % 3
    noise = np.random.default_rng(5).normal(0, 0.4, (300, 2))
    return (CENTRES[labels] + noise).astype(np.float32), labels


def logits(trainer, x):
    parameters = trainer.parameters()
    return x @ parameters["fc_weight"].T + parameters["fc_bias"]


def cross_entropy(trainer, x, y):
    z = logits(trainer, x).astype(np.float64)
    z -= z.max(axis=1, keepdims=True)
    return float(np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y]))


def told(call):
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert all(w.filename == __file__ for w in caught), caught
    return [str(w.message) for w in caught]


def test_a_network_for_any_number_of_samples_trains_with_32():
    assert mxc.compile(CLASSES, init="xavier",
                       entries=["train", "score"]).trainer().batch == 32
    stated = json.loads(json.dumps(CLASSES).replace('"N"', "5"))
    assert mxc.compile(stated, init="xavier",
                       entries=["train", "score"]).trainer().batch == 5


def test_a_network_gets_as_many_classes_as_it_is_told():
    other = {"fc_weight": np.ones((3, 2), np.float32),
             "fc_bias": np.zeros(3, np.float32)}
    five = mxc.compile(CLASSES, params=other, init="one", num_classes=5,
                       entries=["train", "score"])
    assert five.class_labels[0].classes == 5
    assert five.trainer().parameters()["fc_weight"].shape == (5, 2)
    with pytest.raises(mxc.CompileError, match="expected 2 or more"):
        mxc.compile(CLASSES, init="xavier", num_classes=-1)


def test_history_validation_and_metrics(model, points):
    trainer = model.trainer()
    history = trainer.fit(*points, epochs=6, lr=0.5, validation=0.2,
                          metrics="accuracy,top_k_accuracy:top_k=2")
    assert set(history) == {"loss", "accuracy", "top_k_accuracy_2", "val_loss",
                            "val_accuracy", "val_top_k_accuracy_2", "lr",
                            "seconds"}
    assert all(len(values) == 6 for values in history.values())
    assert history["loss"][-1] < 0.3 < history["loss"][0]
    assert history["val_accuracy"][-1] > 0.9
    assert history["lr"] == [0.5] * 6
    assert "val_loss" in str(history)


@pytest.mark.parametrize("count", [1, 5, 31, 32, 33, 50, 64, 299])
def test_each_sample_counts_once(model, points, count):
    trainer = model.trainer()
    trainer.fit(*points, epochs=1, lr=0.1)
    x, y = points[0][:count], points[1][:count]
    found = trainer.evaluate(x, y)
    assert found["loss"] == pytest.approx(cross_entropy(trainer, x, y),
                                          rel=1e-4)
    right = logits(trainer, x).argmax(axis=1) == y
    assert found["accuracy"] == pytest.approx(right.mean())
    assert trainer.accuracy(x, y) == found["accuracy"]
    assert trainer.predict(x).shape == (count, 3)
    assert np.array_equal(trainer.predict(x).argmax(axis=1),
                          logits(trainer, x).argmax(axis=1))


def test_which_classes_are_taken_for_which(model, points):
    trainer = model.trainer()
    trainer.fit(*points, epochs=1, lr=0.1)
    x, y = points[0][:50], points[1][:50]
    predicted = logits(trainer, x).argmax(axis=1)
    found = trainer.confusion(x, y)
    assert found.tolist() == [[int(np.sum((y == i) & (predicted == j)))
                               for j in range(3)] for i in range(3)]
    with pytest.warns(UserWarning, match="none of the classes"):
        assert trainer.confusion(x, y + 1).sum() == np.sum(y < 2)
    line = {**CLASSES, "nodes": [{"op": "FullyConnected", "num_hidden": 1},
                                 {"op": "LinearRegressionOutput"}]}
    values = mxc.compile(line, init="xavier", batch=32,
                         entries=["train", "score"]).trainer()
    with pytest.raises(TypeError, match="other than one label"):
        values.confusion(x, y)


def test_metrics_of_ones_own(model, points):
    def share_of_first(labels, outputs):
        return (outputs.argmax(axis=1) == 0).mean()
    trainer = model.trainer()
    history = trainer.fit(*points, epochs=3, lr=0.5,
                          metrics=["accuracy", share_of_first])
    found = trainer.evaluate(*points, metrics=[share_of_first])
    assert list(history)[1:3] == ["accuracy", "share_of_first"]
    assert found["share_of_first"] == pytest.approx(
        (logits(trainer, points[0]).argmax(axis=1) == 0).mean())
    with pytest.raises(ValueError, match="'acuracy' is unknown"):
        trainer.fit(*points, metrics="acuracy")


def test_the_same_seed_learns_the_same_bytes(model, points):
    def learned(**options):
        trainer = model.trainer()
        trainer.fit(*points, epochs=2, lr=0.1, **options)
        return trainer.parameters()["fc_weight"]
    assert np.array_equal(learned(seed=4), learned(seed=4))
    assert not np.array_equal(learned(seed=4), learned(seed=5))
    assert np.array_equal(learned(shuffle=False, seed=4),
                          learned(shuffle=False, seed=5))


def test_labels_may_have_ones_and_other_types(model, points):
    x, y = points
    one, other = model.trainer(), model.trainer()
    one.fit(x, y, lr=0.1)
    other.fit(x.astype(np.float64), y.astype(np.int8).reshape(-1, 1), lr=0.1)
    assert np.array_equal(one.parameters()["fc_weight"],
                          other.parameters()["fc_weight"])


def test_schedules(model, points):
    def rates(lr):
        return model.trainer().fit(*points, epochs=3, lr=lr)["lr"]
    # 10 steps an epoch; MXNet's factor scheduler halves behind each 10 steps.
    assert rates("factor:step=10:factor=0.5:base_lr=0.4") == [0.4, 0.2, 0.1]
    # The second epoch begins with the first one's last batch.
    assert rates(lambda step: 1 / step) == [1 / 10, 1 / 19, 1 / 29]
    with pytest.raises(ValueError, match="'cosin' is unknown"):
        rates("cosin:max_update=30")


def test_callbacks_see_epochs_and_stop(model, points):
    seen = []

    def stop_at_two(epoch):
        seen.append((epoch.epoch, epoch.epochs, epoch.steps))
        if epoch.epoch == 2:
            raise mxc.StopTraining
    history = model.trainer().fit(*points, epochs=9, lr=0.1,
                                  callbacks=[stop_at_two])
    assert seen == [(1, 9, 10), (2, 9, 19)]
    assert len(history["loss"]) == 2


def test_early_stopping_goes_back_to_the_best(model, points):
    trainer = model.trainer()
    best = {}

    def spoil(epoch):
        if epoch.epoch == 2:
            best.update(trainer.states())
        if epoch.epoch >= 2:  # from now on nothing gets better
            trainer.load_parameters(
                {name: 5 * array[::-1] for name, array in
                 trainer.parameters().items()})
    early = mxc.EarlyStopping("loss", patience=2)
    history = trainer.fit(*points, epochs=50, lr=1e-3,
                          callbacks=[early, spoil])
    assert early.best_epoch == 2 and len(history["loss"]) == 4
    for name, array in trainer.states().items():
        assert np.array_equal(array, best[name])
    with pytest.raises(ValueError, match="no 'val_loss' to monitor"):
        trainer.fit(*points, callbacks=[mxc.EarlyStopping()])


def test_samples_that_are_not_finite_are_named(model, points):
    x, y = points
    x[17, 1] = np.nan
    trainer = model.trainer()
    before = trainer.parameters()["fc_weight"]
    found = told(lambda: trainer.fit(x, y, epochs=2, lr=0.5, shuffle=False))
    assert found[0] == "skipped arrays: sample 17: 'data' holds nan at (1)"
    assert "damaged records were skipped 2 times" in found[-1]
    assert np.isfinite(trainer.parameters()["fc_weight"]).all()
    with pytest.raises(mxc.Error, match="sample 17: 'data' holds nan"):
        trainer.fit(x, y, on_bad_record="stop")


def test_a_loss_that_is_not_finite_ends_training(model, points):
    x, y = points
    trainer = model.trainer()
    trainer.load_parameters({"fc_weight": np.full((3, 2), np.nan),
                             "fc_bias": np.ones(3)})
    found = told(lambda: trainer.fit(x, y, epochs=5, lr=0.1))
    assert len(found) == 1
    assert "the loss is nan at step 1 of epoch 1 (learning rate 0.1)" in found[0]
    assert "'fc_weight' holds nan" in found[0]
    assert found[0].endswith("; training has stopped")
    assert np.array_equal(trainer.parameters()["fc_bias"], np.ones(3))


@pytest.mark.parametrize("wrong, says", [
    (lambda y: y + 1, "label 3 is none of the classes 0 to 2"),
    (lambda y: y + 1000, "is none of the classes 0 to 2"),
    (lambda y: y - 1, "label -1 is none"), (lambda y: y + 0.5, "label 0.5 is")])
def test_labels_that_are_no_class_are_named(model, points, wrong, says):
    x, y = points
    trainer = model.trainer()
    found = told(lambda: trainer.fit(x, wrong(y), epochs=1, lr=0.01,
                                     shuffle=False))
    assert says in found[0]
    assert "nothing is learned" in found[0] or "it is cut to" in found[0]
    assert "sample " in found[0]
    assert any("labels are no class in this epoch" in text for text in found)
    assert says in told(lambda: trainer.evaluate(x, wrong(y)))[0]


def test_labels_that_are_no_probabilities_are_named():
    network = {"mxc": 1, "inputs": {"data": [4, 2]},
               "nodes": [{"op": "FullyConnected", "num_hidden": 1},
                         {"op": "LogisticRegressionOutput"}]}
    trainer = mxc.compile(network, init="xavier",
                          entries=["train", "score"]).trainer()
    x, y = np.ones((8, 2)), np.arange(8)
    found = told(lambda: trainer.fit(x, y, lr=0.01, shuffle=False))
    assert "sample 2: label 2 is not between 0 and 1" in found[0]
    assert found[1] == "6 labels are not between 0 and 1 in this epoch"
    assert told(lambda: trainer.fit(x, y / 7, lr=0.01)) == []


def test_metrics_that_the_network_cannot_answer_are_refused(model, points):
    trainer = model.trainer()
    for metric in ("f1", "mcc", "mse"):
        with pytest.raises(ValueError, match=metric):
            trainer.fit(*points, metrics=metric)
    assert set(trainer.evaluate(*points)) == {"loss", "accuracy"}


def test_training_that_learns_nothing_is_told(model, points):
    x, y = np.random.default_rng(0).random((96, 2)), np.repeat([0, 1, 2], 32)
    found = told(lambda: model.trainer().fit(x, y, epochs=3, lr=1e6))
    assert len(found) == 1 and "epoch 3 ended no better than guessing" in found[0]
    assert told(lambda: model.trainer().fit(*points, epochs=3, lr=0.5)) == []


def test_a_batch_that_is_larger_than_the_samples_is_told(model, points):
    x, y = points
    found = told(lambda: model.trainer().fit(x[:9], y[:9], lr=0.1))
    assert found[0] == ("a batch of 32 is more than the 9 samples that there "
                        "are: every step repeats some")


@pytest.mark.parametrize("change, error, says", [
    (lambda x, y: (x[:200], y), ValueError,
     "'softmax_label' has 300 samples, but 'data' 200"),
    (lambda x, y: (x, y[:200]), ValueError, "has 200 samples, but 'data' 300"),
    (lambda x, y: (x[:0], y[:0]), ValueError, "'data' has no samples"),
    (lambda x, y: (x[:, :1], y), ValueError,
     r"'data' has samples of shape \(2,\), not \(1,\)"),
    (lambda x, y: (x,), TypeError, "the entry is fed data, softmax_label"),
    (lambda x, y: (x.astype(complex), y), TypeError, "not complex128"),
    (lambda x, y: (x, y.astype(str)), TypeError, "takes numbers"),
    (lambda x, y: (np.ma.array(x), y), TypeError, "is a masked array"),
    (lambda x, y: (x, np.eye(3)[y]), ValueError, "'softmax_label' has samples"),
])
def test_samples_that_do_not_fit_are_refused(model, points, change, error, says):
    with pytest.raises(error, match=says):
        model.trainer().fit(*change(*points))


@pytest.mark.parametrize("options, error, says", [
    ({"lr": float("nan")}, ValueError, "the learning rate of step 1 is nan"),
    ({"lr": lambda step: 1 / (2 - step) if step < 2 else float("inf")},
     ValueError, "the learning rate of step 2 is inf"),
    ({"epochs": -1}, ValueError, "epochs is -1"),
    ({"validation": 1}, ValueError, "expected a share between 0 and 1"),
    ({"metrics": [3]}, TypeError, "metric 3 is neither a name nor a function"),
    ({"metrics": "f1"}, ValueError, "two classes"),
])
def test_options_that_mean_nothing_are_refused(model, points, options, error,
                                               says):
    with pytest.raises(error, match=says):
        model.trainer().fit(*points, **options)


@pytest.mark.parametrize("wrong, error", [
    (np.ones((3, 2), complex), TypeError), (np.ma.ones((3, 2)), TypeError),
    ([["a", "b"]] * 3, TypeError), (np.ones((2, 3)), ValueError)])
def test_parameters_that_are_no_numbers_change_nothing(model, wrong, error):
    trainer = model.trainer()
    before = trainer.parameters()
    with pytest.raises(error, match="'fc_weight'"):
        trainer.load_parameters({"fc_bias": np.ones(3), "fc_weight": wrong})
    for name, array in trainer.parameters().items():
        assert np.array_equal(array, before[name])


def test_a_batch_size_that_was_not_compiled_is_refused(model, points):
    model.trainer().fit(*points, batch_size=32, lr=0.1)
    with pytest.raises(ValueError, match=r"mxc.compile\(…, batch=64\)"):
        model.trainer().fit(*points, batch_size=64)


def test_checkpoints_are_gone_on_from(model, points, tmp_path):
    prefix = tmp_path / "run" / "net"
    schedule = "cosine:max_update=40:base_lr=0.5"
    whole = model.trainer()
    whole.fit(*points, epochs=4, lr=schedule)
    model.trainer().fit(*points, epochs=2, lr=schedule, checkpoint=prefix)
    resumed = model.trainer()
    history = resumed.fit(*points, epochs=4, lr=schedule, checkpoint=prefix,
                          resume=True)
    assert len(history["loss"]) == 2
    for name, array in whole.states().items():
        assert np.array_equal(resumed.states()[name], array), name
    # What the files hold is what mxc.compile and MXNet take.
    learned = mxc.compile(f"{prefix}-symbol.json", shapes={"data": (1, 2)},
                          params=f"{prefix}-0004.params")
    x = points[0][:1]
    assert np.allclose(learned(x), whole.predict(x), atol=1e-6)


def test_the_best_epoch_is_kept(model, points, tmp_path):
    """Whatever comes after it, and in a run that is resumed, too."""
    x, y = points
    worse = x, (y + 1) % 3  # the more is learned
    first, prefix = model.trainer(), tmp_path / "net"
    first.fit(x, y, lr=0.1, checkpoint=prefix, validation=worse)
    history = model.trainer().fit(x, y, epochs=3, lr=0.1, resume=True,
                                  checkpoint=prefix, validation=worse)
    assert min(history["val_loss"]) > first.evaluate(*worse)["loss"]
    best = model.trainer()
    best.load_parameters(f"{prefix}-best.params")
    for name, array in first.parameters().items():
        assert np.array_equal(best.parameters()[name], array), name


@pytest.mark.parametrize("wrong, error, why", [
    ({"epochs": 1.5}, TypeError, "epochs is 1.5, expected a whole number"),
    ({"accumulate": 1.0}, TypeError, "accumulate is 1.0, expected a whole"),
    ({"callbacks": [3]}, TypeError, r"callbacks\[0\] is 3"),
    ({"lr": -1}, ValueError, "the learning rate of step 1 is -1.0, expected 0"),
    ({"mixup": -1}, ValueError, "mixup is -1, expected a number from 0"),
    ({"mixup": 0.2}, ValueError, "compiled for labels that are numbers"),
    ({"cutmix": -1}, ValueError, "cutmix is -1, expected a number from 0"),
    ({"cutmix": 1}, ValueError, "cutmix makes labels .* that are numbers")])
def test_arguments_that_make_no_sense(model, points, wrong, error, why):
    with pytest.raises(error, match=why):
        model.trainer().fit(*points, **wrong)


def test_rare_classes_are_drawn_as_often(model):
    """Arrays and sources alike."""
    x = np.zeros((120, 2), np.float32)
    y = np.repeat([0, 1, 2], [100, 15, 5])
    seen = []

    def count(labels, outputs):
        seen.extend(labels.reshape(-1).astype(int))
        return 0.0

    for shuffle in (True, False):
        seen.clear()
        model.trainer().fit(x, y, lr=0, shuffle=shuffle, class_balanced=True,
                            metrics=[count])
        counts = np.bincount(seen)  # 4 batches of 32
        assert counts.sum() == 128 and np.ptp(counts) <= 4
    plain = model.trainer().fit(x, y, lr=0)["accuracy"]
    assert plain != model.trainer().fit(x, y, lr=0,
                                        class_balanced=True)["accuracy"]


def test_arrays_that_are_mixed(points):
    network = {"mxc": 1, "inputs": {"data": ["N", 2]},
               "nodes": [{"op": "FullyConnected", "num_hidden": 3},
                         {"op": "SoftmaxOutput", "name": "softmax"}]}
    model = mxc.compile(network, init="xavier", entries=["train", "score"],
                        shapes={"data": (32, 2), "softmax_label": (32, 3)})
    x, y = points
    labels = []

    def keep(found, outputs):
        labels.append(found.copy())
        return 0.0

    trainer = model.trainer()
    trainer.fit(x, y, epochs=20, lr=0.5, mixup=1, metrics=[keep])
    found = np.concatenate(labels)
    assert np.allclose(found.sum(axis=1), 1) and ((found > 0) & (found < 1)).any()
    assert trainer.accuracy(x, y) > 0.8  # of samples as they are
    with pytest.raises(ValueError, match="none of the classes 0 to 2"):
        trainer.evaluate(x, y + 1)


def test_nothing_is_overwritten_that_was_not_read(model, points, tmp_path):
    prefix = tmp_path / "net"
    model.trainer().fit(*points, lr=0.1, checkpoint=prefix)
    with pytest.raises(FileExistsError, match="resume=True"):
        model.trainer().fit(*points, lr=0.1, checkpoint=prefix)
    (tmp_path / "other-symbol.json").write_text("{}")
    with pytest.raises(FileExistsError, match="holds another network"):
        model.trainer().fit(*points, checkpoint=tmp_path / "other")
    assert (tmp_path / "other-symbol.json").read_text() == "{}"
    for name in ("mine-0003.mxc", "his-0003.params"):
        (tmp_path / name).write_bytes(b"")
        for resume in (False, True):
            with pytest.raises(FileExistsError, match=name):
                model.trainer().fit(*points, resume=resume,
                                    checkpoint=tmp_path / name.split("-")[0])
    with pytest.raises(ValueError, match="checkpoint=, which is not given"):
        model.trainer().fit(*points, resume=True)
    damaged = bytearray((tmp_path / "net-0001.params").read_bytes())
    damaged[100] ^= 0xFF
    (tmp_path / "net-0001.params").write_bytes(damaged)
    with pytest.raises(FileExistsError, match="net-0001.params is damaged"):
        model.trainer().fit(*points, epochs=2, checkpoint=prefix, resume=True)
    assert not (tmp_path / "net-0002.params").exists()
    model.trainer().fit(*points, epochs=2, lr=0.1, checkpoint=prefix,
                        overwrite=True)
    assert (tmp_path / "net-0002.params").exists()


def test_damaged_states_are_refused(model, points, tmp_path):
    trainer = model.trainer()
    trainer.fit(*points, lr=0.1)
    trainer.save(tmp_path / "good.npz")
    good = (tmp_path / "good.npz").read_bytes()
    before, path = trainer.states(), tmp_path / "bad.npz"
    draw = np.random.default_rng(8)
    np.save(tmp_path / "array.npy", np.ones(3))
    damaged = [b"", good[:-1], b"PK" + bytes(99), good[:len(good) // 2],
               (tmp_path / "array.npy").read_bytes()]
    for _ in range(150):
        copy = bytearray(good)
        copy[draw.integers(len(good))] ^= 1 << draw.integers(8)
        damaged.append(bytes(copy))
    for bytes_ in damaged:
        path.write_bytes(bytes_)
        try:
            trainer.restore(path)  # bits that nobody reads
        except (mxc.Error, ValueError) as error:
            assert "damaged" in str(error) or "no value for" in str(error)
        for name, array in trainer.states().items():
            assert np.array_equal(array, before[name])


def test_parameters_are_saved_as_mxnets(model, points, tmp_path):
    trainer, other = model.trainer(), model.trainer()
    trainer.fit(*points, epochs=1, lr=0.3)
    trainer.save(tmp_path / "net.params")
    other.restore(tmp_path / "net.params")
    assert np.array_equal(other.predict(points[0]), trainer.predict(points[0]))
    with pytest.raises(ValueError, match="no value for 'fc_bias'"):
        other.load_parameters({"fc_weight": np.zeros((3, 2), np.float32)})
    with pytest.raises(ValueError, match=r"shape \(3, 2\), not \(2, 3\)"):
        other.load_parameters({"fc_weight": np.zeros((2, 3)),
                               "fc_bias": np.zeros(3)})


def test_progress_is_a_line_an_epoch_and_quiet_in_a_pipe(model, points, capsys):
    model.trainer().fit(*points, epochs=2, lr=0.5)
    assert capsys.readouterr() == ("", "")
    model.trainer().fit(*points, epochs=2, lr=0.5, progress=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("epoch 1/2  loss ") and "accuracy" in lines[0]


def test_training_from_a_source_of_data():
    network = {"mxc": 1, "inputs": {"data": ["N", 1, 28, 28]},
               "nodes": [{"op": "FullyConnected", "num_hidden": 10},
                         {"op": "SoftmaxOutput", "name": "softmax"}]}
    model = mxc.compile(network, init="xavier", entries=["train", "score"])
    trainer = model.trainer()
    digits = mxc.data("digits", options={"size": 640})
    history = trainer.fit(digits, epochs=4, lr=0.1,
                          validation=digits.held_out())
    assert history["val_accuracy"][-1] > 0.3  # of 10 classes
    assert trainer.predict(digits).shape[1] == 10
    x, y = next(iter(mxc.data("digits", 5)))
    assert x.shape == (5, 1, 28, 28) and y.shape == (5,)
    with pytest.raises(ValueError, match="is no source of data"):
        len(mxc.data("digit"))


def test_samples_to_validate_on_are_not_varied(tmp_path):
    write_colours(tmp_path, 4)
    data = mxc.data(f"folder:{tmp_path}", 12, shape=(3, 8, 8),
                    options={"max_random_illumination": 50, "mean_r": 7})
    learned, kept = data.split(0.5)
    assert kept.preprocessing == learned.preprocessing  # the mean of red
    for data, differ in ((kept, False), (learned, True)):
        (first, _), = data
        (second, _), = data  # another epoch
        assert np.array_equal(first, second) != differ


def test_samples_that_are_mixed():
    data = mxc.data("digits", 8, options={"mixup": 1, "size": 640})
    x, y = next(iter(data))
    assert y.shape == (8, 10) and np.allclose(y.sum(axis=1), 1)
    assert ((y > 0) & (y < 1)).any()
    assert np.allclose(y[:4] + y[4:], np.round(y[:4] + y[4:]))  # two by two
    network = {"mxc": 1, "inputs": {"data": ["N", 1, 28, 28]},
               "nodes": [{"op": "FullyConnected", "num_hidden": 10},
                         {"op": "SoftmaxOutput", "name": "softmax"}]}
    whole = mxc.compile(network, init="xavier", batch=8,
                        entries=["train", "score"])
    with pytest.raises(ValueError, match="compiled for labels that are numbers"):
        whole.trainer().fit(data, lr=0.1)
    shares = mxc.compile(network, init="xavier", entries=["train", "score"],
                         shapes={"data": (8, 1, 28, 28),
                                 "softmax_label": (8, 10)})
    history = shares.trainer().fit(data, epochs=6, lr=0.1,
                                   validation=data.held_out())
    assert history["val_accuracy"][-1] > 0.3  # of 10 classes


@pytest.mark.parametrize("kind, labels", [("f4", (96,)), ("f8", (96, 1)),
                                          ("i8", (96,))])
def test_files_of_other_types_and_shapes(model, tmp_path, kind, labels):
    x = np.random.default_rng(6).integers(0, 9, (96, 2)).astype(kind)
    y = (x[:, 0] > x[:, 1]).astype(kind)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y.reshape(labels))
    files, arrays = model.trainer(), model.trainer()
    source = mxc.data(f"npy:{tmp_path}/x.npy,{tmp_path}/y.npy")
    files.fit(source, lr=0.1, epochs=2, shuffle=False)
    arrays.fit(x, y, lr=0.1, epochs=2, shuffle=False)
    for name, array in arrays.states().items():
        assert np.array_equal(files.states()[name], array)
    unlabelled = mxc.data(f"npy:{tmp_path}/x.npy")
    assert np.array_equal(files.predict(unlabelled), files.predict(x))
    with pytest.raises(ValueError, match="label arrays of the data: 0"):
        files.fit(unlabelled)


def test_from_a_folder_of_pictures_to_their_names(tmp_path):
    photos = tmp_path / "photos"
    write_colours(photos)
    network = {"mxc": 1, "inputs": {"data": ["N", 3, 8, 8]},
               "nodes": [{"op": "FullyConnected", "num_hidden": 3},
                         {"op": "SoftmaxOutput", "name": "softmax"}]}
    model = mxc.compile(network, init="xavier", batch=8,
                        entries=["train", "score"])
    trainer = model.trainer()
    data = mxc.data(f"folder:{photos}", shape=(3, 8, 8), shuffle=True,
                    options={"scale": 1 / 255})
    assert data.classes == ["blue", "green", "red"] and len(data) == 72
    trainer.fit(data, epochs=10, lr=0.1)
    assert trainer.accuracy(data) == 1
    learned = mxc.compile(network, params=trainer.parameters(), batch=4,
                          classes=data.classes,
                          preprocessing=data.preprocessing)
    assert learned.classes == data.classes
    files = [photos / name / "5.png" for name in data.classes]
    found = learned(files)
    assert list(found.argmax(axis=1)) == [0, 1, 2]
    # The same numbers as the source of data gives.
    x, y = next(iter(mxc.data(f"folder:{photos}", 72, shape=(3, 8, 8),
                              options={"scale": 1 / 255})))
    assert any(np.allclose(learned(x[i:i + 1]), found[:1], atol=1e-6)
               for i in range(72))
    assert np.array_equal(learned(str(files[1])), found[1:2])
    assert np.array_equal(learned(files[2].read_bytes()), found[2:])
    bad = mxc.data(f"npy:{tmp_path}/x.npy,{tmp_path}/y.npy", 8)
    np.save(tmp_path / "x.npy", x[:16])
    np.save(tmp_path / "y.npy", np.where(np.arange(16) == 5, 7, y[:16]))
    found = told(lambda: trainer.evaluate(bad))
    assert "y.npy" in found[0] and "label 7 is none of the classes" in found[0]
    (tmp_path / "no.png").write_bytes(b"\x89PNG but no more")
    with pytest.raises((ValueError, mxc.Error), match="no.png"):
        learned(tmp_path / "no.png")
    with pytest.raises(FileNotFoundError):
        learned("nowhere.png")


def test_what_has_trained_is_freed(model, points):
    """Neither a trainer nor what it called stays behind."""
    class Callback:
        def __call__(self, epoch):
            self.seen = True

    callback = Callback()
    gone = weakref.ref(callback)
    trainer = model.trainer()
    trainer.fit(*points, lr=0.1, callbacks=[callback])
    assert callback.seen
    alive = weakref.ref(trainer)
    del callback, trainer
    gc.collect()
    assert gone() is None and alive() is None
