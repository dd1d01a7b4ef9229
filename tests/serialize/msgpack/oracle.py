# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""oracle.py FOLDER N: networks 0 … N-1 in FOLDER, each X.json, X.imodel, and X.raw if there are parameters. Checks with
a stock reader that X.imodel has what the other two have. Writes X.other.imodel, the same network as another writer may
write it: keys in another order, every real in 64 bits, infinities as reals. Needs Debian's python3-msgpack; without it
the exit code is 77."""
import hashlib
import json
import random
import struct
import sys

try:
    import msgpack
except ImportError:
    sys.exit(77)

SPECIAL = {"inf": float("inf"), "-inf": float("-inf")}


def bits(number):
    return struct.pack(">d", number)


def same(packed, text, path):
    """The value of the MessagePack file against that of the JSON file: kinds, order of keys, bits of reals."""
    if isinstance(packed, float) and isinstance(text, str):
        right = packed != packed if text == "nan" else SPECIAL.get(text) == packed
    elif type(packed) is not type(text):
        right = False
    elif isinstance(text, dict):
        right = list(packed) == list(text)
        for key in text if right else ():
            same(packed[key], text[key], f"{path}/{key}")
    elif isinstance(text, list):
        right = len(packed) == len(text)
        for i in range(len(text)) if right else ():
            same(packed[i], text[i], f"{path}/{i}")
    elif isinstance(text, float):
        right = bits(packed) == bits(text)
    else:
        right = packed == text
    if not right:
        sys.exit(f"{path}: expected {str(text)[:200]}, found {str(packed)[:200]}")


def raw_of(params, table):
    """The raw file of these payloads."""
    at = 16 + 12 * len(params)
    offsets = {}
    for v_id, data in params:
        offsets[v_id] = at
        at += len(data)
    entries = b"".join(struct.pack("<iQ", v_id, offsets[v_id]) for v_id in table)
    head = b"\xa5ICRAFT_RAW\xa5" + struct.pack("<I", len(params))
    return head + entries + b"".join(data for _, data in params)


def take_params(network, path):
    """Removes the keys that JSON does not have, and returns the raw file that they describe; None without parameters."""
    keys = list(network)
    if "params" not in network:
        if "params_table" in network:
            sys.exit(f"{path}: params_table without params")
        return None
    after = keys[keys.index("params") + 1:]
    if keys[keys.index("params") - 1] != "ops" or after[:1] not in (["params_table"], ["params_bytes"]):
        sys.exit(f"{path}: params stands between {keys}")
    params = network.pop("params")
    table = network.pop("params_table", None)
    if table == [v_id for v_id, _ in params]:
        sys.exit(f"{path}: params_table is redundant")
    if not all(len(entry) == 2 and type(entry[0]) is int and type(entry[1]) is bytes for entry in params):
        sys.exit(f"{path}: params are not [v_id, bin]")
    return raw_of(params, table or [v_id for v_id, _ in params])


def shuffled(value):
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: shuffled(value[key]) for key in keys}
    if isinstance(value, list):
        return [shuffled(item) for item in value]
    return value


def check(path):
    with open(path + ".imodel", "rb") as file:
        data = file.read()
    with open(path + ".json", encoding="utf-8") as file:
        text = json.load(file)
    network = msgpack.unpackb(data, strict_map_key=True, raw=False)
    with open(path + ".other.imodel", "wb") as file:
        file.write(msgpack.packb(shuffled(network), use_bin_type=True))
    found = take_params(network, path)
    try:
        with open(path + ".raw", "rb") as file:
            raw = file.read()
    except FileNotFoundError:
        raw = None
    if found != raw:
        sys.exit(f"{path}: the parameters make another raw file")
    if raw is not None and hashlib.md5(raw).hexdigest() != network["params_md5"]:
        sys.exit(f"{path}: the MD5 differs")
    if raw is not None and len(raw) != network["params_bytes"]:
        sys.exit(f"{path}: the size differs")
    same(network, text, path)


random.seed(1)
for number in range(int(sys.argv[2])):
    check(f"{sys.argv[1]}/{number}")
