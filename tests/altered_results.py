"""What a session file tells besides states and draws, altered as a stranger might, one entry at a time.

``altered(path, out)`` gives every alteration of a file; ``tests/altered_window.py`` opens them in a window.
"""

import json
import shutil

import h5py
import numpy as np

TEXT = h5py.string_dtype("utf-8")
MARKUP = '<img src="file:///nowhere.png"><b>bold</b>'
LONG = "long " * 40_000
LEAVES = (None, -1, 10**12, 1e308, True, MARKUP, [], {}, [[1]])
"""What stands in the place of a value within JSON."""
ATTRIBUTES = (-1, 2**60, float("nan"), MARKUP, "")
PARTS = ("results", "analyses", "traces", "log", "notes", "scales")
"""Groups of a run that are looked at; its states and draws are those of ``altered.py``."""
RECORDS = (
    "declaration", "params", "schedule", "goal", "inputs", "environment", "view_settings", "item_names", "item_notes",
)  # fmt: skip


def unsealed(path, out):
    """A copy as a stranger may make it: no checksum and no seal. Returns ``out``."""
    shutil.copy(path, out)
    with h5py.File(out, "r+") as file:
        if "checksums" in file:
            del file["checksums"]
    return out


def _changed(array, number):
    made = array.copy()
    made.flat[0] = number
    return made


def of_numbers(array):
    """(name, altered) of an array of numbers."""
    for axis in range(array.ndim):
        if array.shape[axis]:
            last = np.take(array, [-1], axis)
            yield f"longer along {axis}", np.concatenate([array, last], axis)
            yield f"shorter along {axis}", np.take(array, range(array.shape[axis] - 1), axis)
    yield "empty", np.zeros((0,) * max(array.ndim, 1), array.dtype)
    yield "one axis more", array[None]
    if array.ndim > 1:
        yield "flat", array.ravel()
        if len(set(array.shape)) > 1:
            yield "turned", np.ascontiguousarray(array.T)
    yield "as texts", np.full(array.shape, "7", object)
    if not array.size:
        return
    if array.dtype.kind == "f":
        for name, number in (("nan", np.nan), ("infinite", np.inf), ("huge", 1e308), ("negative", -1e12)):
            yield name, _changed(array, number).astype(array.dtype)
        yield "all nan", np.full_like(array, np.nan)
        yield "whole", np.zeros(array.shape, np.int64)
    elif array.dtype.kind in "iu":
        top = np.iinfo(array.dtype)
        for name, number in (("huge", top.max), ("very negative", top.min), ("large", min(2**33, top.max)), ("minus one", -1)):
            if top.min <= number <= top.max:
                yield name, _changed(array, number)
        yield "as numbers", array.astype(float) + 0.5


def of_texts(array):
    """(name, altered) of an array of texts."""
    array = np.asarray(array, object)
    if array.ndim and array.shape[0]:
        yield "shorter", array[:-1]
        yield "longer", np.concatenate([array, array[-1:]])
    if array.ndim:
        yield "empty", array[:0]
        yield "all alike", np.full(array.shape, "same", object)
    yield "one axis more", array[None]
    yield "markup", np.full(array.shape, MARKUP, object)
    yield "long", np.full(array.shape, LONG, object)
    yield "nothing", np.full(array.shape, "", object)
    yield "numbers", np.zeros(array.shape)


def leaves(record, at=()):
    """Every place within JSON."""
    if isinstance(record, (dict, list)) and record:
        yield at
        for key in record if isinstance(record, dict) else range(len(record)):
            yield from leaves(record[key], (*at, key))
    else:
        yield at


def of_record(record):
    """(name, altered) of JSON: every value in turn is something else, or gone."""
    for at in leaves(record):
        for value in LEAVES:
            made = json.loads(json.dumps(record))
            if not at:
                made = value
            else:
                holder = made
                for key in at[:-1]:
                    holder = holder[key]
                holder[at[-1]] = value
            yield f"{'.'.join(map(str, at))} = {str(value)[:20]}", made
        if at and isinstance(at[-1], str):
            made = json.loads(json.dumps(record))
            holder = made
            for key in at[:-1]:
                holder = holder[key]
            del holder[at[-1]]
            yield f"{'.'.join(map(str, at))} gone", made


def _datasets(group):
    found = []
    group.visititems(lambda name, thing: found.append(thing) if isinstance(thing, h5py.Dataset) else None)
    return found


def _looked_at(file):
    for name in ("data", "views", "notes", "provenance"):
        yield from _datasets(file[name])
    for run in file["runs"].values():
        for name in (*PARTS, *RECORDS):
            if name in run:
                yield from [run[name]] if isinstance(run[name], h5py.Dataset) else _datasets(run[name])


def _record_in(dataset):
    """What JSON has in it; None where it is no JSON."""
    text = dataset.asstr()[()]
    try:
        return json.loads(text) if isinstance(text, str) and text.startswith(("{", "[")) else None
    except ValueError:
        return None


def _of(dataset):
    """(name, value to write) of one dataset."""
    if h5py.check_string_dtype(dataset.dtype) is None:
        yield from of_numbers(np.asarray(dataset[()]))
    elif (record := _record_in(dataset)) is not None:
        for name, made in of_record(record):
            yield name, np.asarray(json.dumps(made), object)
    else:
        yield from of_texts(dataset.asstr()[()])


def _of_attributes(thing):
    for key, value in thing.attrs.items():
        if key in ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "encoding-type", "encoding-version") or key.startswith(
            "_Netcdf"
        ):
            continue
        if isinstance(value, str) and value[:1] in "{[" and value:
            for name, made in of_record(json.loads(value)):
                yield key, name, json.dumps(made)
        else:
            for made in ATTRIBUTES:
                yield key, str(made)[:20], made
        yield key, "gone", None


def alterations(path):
    """(entry, name, change of an open file) of everything, in an order that is always the same."""
    found = []
    with h5py.File(path) as file:
        for dataset in _looked_at(file):
            for name, made in _of(dataset):
                found.append((dataset.name, name, _writing(dataset.name, made)))
        things = [run[name] for run in file["runs"].values() for name in ("results", "analyses") if name in run]
        within = []
        for group in things:
            group.visititems(lambda name, thing: within.append(thing))
        for thing in (*within, *file["runs"].values(), *file["data"].values()):
            for key, name, made in _of_attributes(thing):
                found.append((f"{thing.name}@{key}", name, _setting(thing.name, key, made)))
    return found


def _writing(name, value):
    def change(file):
        old = file[name]
        kept = {key: old.attrs[key] for key in old.attrs if key not in ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME")}
        del file[name]
        made = file.create_dataset(name, data=value, dtype=TEXT if np.asarray(value).dtype.kind == "O" else None)
        for key, kept_value in kept.items():
            made.attrs[key] = kept_value

    return change


def _setting(name, key, value):
    def change(file):
        if value is None:
            del file[name].attrs[key]
        else:
            file[name].attrs[key] = value

    return change


def write(base, change, out):
    """A copy of an unsealed file with one change. Returns ``out``."""
    shutil.copy(base, out)
    with h5py.File(out, "r+") as file:
        change(file)
    return out
