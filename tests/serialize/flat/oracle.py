# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Compares networks in XIR's JSON with what flatc makes of XIR's FlatBuffers files.

    oracle.py SCHEMA XIR THEIRS [AGAIN]

SCHEMA is xir.fbs. For each THEIRS/N.json, which flatc printed, there are XIR/N.json and perhaps XIR/N.raw; AGAIN/N.json
is what XIR reads from the file that flatc made of its JSON. Ends with 1 and a line about the first difference.
"""
import json
import os
import re
import struct
import sys

BASE = {"_type_key", "op_id", "name", "inputs", "outputs", "compile_target", "tags"}
FLOATS = {"@fp(16)": (15, -14, 11, 16), "@fp(32)": (127, -126, 24, 32), "@fp(64)": (1023, -1022, 53, 64),
          "@bf(16)": (127, -126, 8, 16), "@tf(32)": (127, -126, 11, 19), "@fpe7m8": (63, -64, 9, 16),
          "@fpe6m9": (31, -32, 10, 16)}
WORDS = {"@hostt": "HostTarget", "@fpgat": "FPGATarget", "@customt": "CustomTarget", "@buyit": "BuyiTarget",
         "@wolongt": "WolongTarget", "@hostm": "HostMem", "@bool": "BoolType"}
EXPANDED_MOST = 1 << 20


class Different(Exception):
    pass


def check(condition, path, own, theirs):
    if not condition:
        raise Different("%s: own %.300r, theirs %.300r" % (path, own, theirs))


def same(a, b):
    """Equality that keeps 1, 1.0 and true apart."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def real(x):
    return float(x)   # "inf" and "nan" too


def near(a, b):
    """flatc prints six decimals."""
    a, b = real(a), real(b)
    return a == b or (a != a and b != b) or abs(a - b) <= 6e-7 + 1e-6 * abs(a)


def is_f32(x):
    x = real(x)
    if x != x or x in (float("inf"), float("-inf")):
        return True
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0] == x
    except OverflowError:
        return False


# ---- the schema --------------------------------------------------------------------------------------------------

def read_schema(path):
    tables, unions = {}, {}
    for kind, name, body in re.findall(r"(table|union) (\w+) \{(.*?)\}", open(path).read(), re.S):
        if kind == "table":
            tables[name] = re.findall(r"(\w+):\s*([^;]+);", body)
        else:
            unions[name] = re.findall(r"(\w+) = \d+", body)
    return tables, unions


# ---- one-string forms, as tables ---------------------------------------------------------------------------------

def runs(text, parse):
    items = []
    for item in filter(None, text.split(",")):
        count, star, one = item.partition("*")
        items.append((int(count), parse(one)) if star else (1, parse(item)))
    return items


def expand(items):
    return [x for n, x in items for _ in range(n)] if sum(n for n, _ in items) <= EXPANDED_MOST else None


def table_of_text(text):
    """The name of the table and its fields; None if it is written as text."""
    if text in WORDS:
        return WORDS[text], {}
    if text in FLOATS:
        return "FloatType", dict(zip(("emax", "emin", "precision", "fbits"), FLOATS[text]))
    name, _, rest = text.partition("(")
    inside = rest[:-1]
    if name == "@zhuget":
        return "ZhugeTarget", {"core": inside}
    if name in ("@ocm", "@etm"):
        return ("OnChipMem" if name == "@ocm" else "ExternalMem"), {"addr": int(inside)}
    if name == "@chunk":
        chunk, _, offset = inside.partition("@")
        return "ChunkMem", {"chunk_id": int(chunk), "offset": int(offset)}
    if name in ("@sint", "@uint"):
        return "IntegerType", {"sign": name == "@sint", "ibits": int(inside)}
    if name == "@layout":
        axes = re.findall(r"([A-Z*]|[a-z])(\d*)", inside)
        return "Layout", {
            "axis_names_type": ["AxisUnit" if unit else "AxisName" for _, unit in axes],
            "axis_names": [{"unit": int(unit), "name": letter} if unit else {"name": letter} for letter, unit in axes]}
    if name == "@merged_distr":
        dims, word, sections = re.fullmatch(r"\[(.*?)\](?:\^(\w+))?:\{(.*)\}", inside).groups()
        mask = bytearray()
        for kind, start, end in re.findall(r"([vu]):\[(\d+), (\d+)\)", sections):
            if int(end) > EXPANDED_MOST:
                return None
            mask += bytes([kind == "v"]) * (int(end) - int(start))
        fields = {"merged_axis": [int(x) for x in dims.split(",") if x], "valid_mask": list(mask)}
        if word:
            fields["uvalue"] = word
        return "MergedAxisDistr", fields
    axis, items = re.fullmatch(r"\[axis=(-?\d+)\](.*)", inside).groups()
    if name == "@exp_scales":
        def three(one):
            m, exp, scale = one.split("/")
            return int(m), int(exp), float(scale)
        all_ = expand(runs(items, three))
        if all_ is None:
            return None
        return "ExpQuantizedScaleArray", {"m": [x[0] for x in all_], "exp": [x[1] for x in all_], "axis": int(axis),
                                          "origin_scale": [x[2] for x in all_]}
    all_ = expand(runs(items, float))
    if all_ is None:
        return None
    if name == "@scales":
        return "QuantizedScaleArray", {"axis": int(axis), "origin_scale": all_}
    assert name == "@norm_ratios", text
    return "NormratioArray", {"axis": int(axis), "data": all_}


def short(key):
    return key[13:] if key.startswith("icraft::xir::") else None


class Oracle:
    def __init__(self, schema):
        self.tables, self.unions = read_schema(schema)

    # ---- one field -------------------------------------------------------------------------------------------------

    def table_for(self, own):
        """The table of an object in XIR's JSON, or None."""
        if isinstance(own, bool):
            return "Bool"
        if isinstance(own, int):
            return "IntImm"
        if isinstance(own, float) or own in ("inf", "-inf", "nan"):
            return "FloatImm"
        if isinstance(own, str):
            made = table_of_text(own)
            return made and made[0]
        name = short(own["_type_key"])
        return name if name in self.tables else None

    def fits(self, own, type_):
        """Returns true if a slot of this type can hold it."""
        if own is None:
            return True
        if type_ == "float":
            return is_f32(own)
        if type_ == "[float]":
            return all(is_f32(x) for x in own)
        if type_ == "[HardOp]":
            return all(op["_type_key"] == "icraft::xir::HardOp" for op in own)
        if type_ in ("[Params]", "Params", "string", "bool", "long", "ulong", "[long]", "[bool]", "[string]"):
            return not (type_ == "string" and isinstance(own, int))
        if type_.startswith("["):
            return all(x is not None and self.fits(x, type_[1:-1]) for x in own)
        if type_ == "CompileTarget_box":
            return True   # a target without a table is a CustomTarget
        table = self.table_for(own)
        return table is not None and (table in self.unions[type_] if type_ in self.unions else table == type_)

    def field(self, path, own, theirs, name, type_):
        """One field of flatc's table, which must hold `own`."""
        there = theirs.get(name)
        if type_ in ("bool", "long", "ulong"):
            check(int(own) == int(there or 0), path, own, there)
        elif type_ == "float":
            check(near(own, there or 0), path, own, there)
        elif type_ == "string":
            if isinstance(own, dict):
                check(same(own, json.loads(there)), path, own, there)
            else:
                check(own == there, path, own, there)
        elif own is None:
            check(there is None and theirs.get(name + "_type") in (None, "NONE"), path, own, there)
        elif type_ in ("[long]", "[bool]", "[string]", "[ubyte]"):
            plain = str if type_ == "[string]" else int
            check([plain(x) for x in own] == [plain(x) for x in there], path, own, there)
        elif type_ == "[float]":
            check(len(own) == len(there) and all(map(near, own, there)), path, own, there)
        elif type_.startswith("["):
            if isinstance(own, dict):   # old files write a list of one this way
                own = [own]
            tags = theirs.get(name + "_type", [type_[1:-1]] * len(own))
            check(len(own) == len(there) == len(tags), path, own, there)
            for i, (a, b, tag) in enumerate(zip(own, there, tags)):
                self.item("%s/%d" % (path, i), a, b, tag)
        else:
            self.item(path, own, there, theirs.get(name + "_type", type_))

    def item(self, path, own, theirs, table):
        check(theirs is not None, path, own, theirs)
        if table in ("Value", "Params"):
            self.value(path, own, theirs, table)
        elif table == "HardOp":
            self.op(path, own, theirs, table)
        else:
            self.object(path, own, theirs, table)

    # ---- tables ----------------------------------------------------------------------------------------------------

    def object(self, path, own, theirs, table):
        if table == "CustomTarget" and isinstance(own, dict):   # a class without a table
            check(self.table_for(own) is None, path, own, table)
            check(same(own, json.loads(theirs["extra"])), path + "/extra", own, theirs)
            return
        check(self.table_for(own) == table, path, own, table)
        if isinstance(own, dict):
            self.members(path, own, theirs, table, {"_type_key"})
        elif isinstance(own, str) and own.startswith("@"):
            for name, value in table_of_text(own)[1].items():
                types = dict(self.tables[table])
                if name == "axis_names_type":
                    continue
                if name == "axis_names":
                    check(value == [dict(axis) for axis in theirs.get(name, [])], path, value, theirs)
                    continue
                self.field(path + "/" + name, value, theirs, name, types[name])
            check("extra" not in theirs, path, own, theirs)
        else:
            extra = json.loads(theirs.get("extra", "{}"))
            if "value" in extra:
                check(same(extra["value"], own) and not is_f32(own), path, own, extra)
            else:
                self.field(path, own, theirs, "value", dict(self.tables[table])["value"])

    def members(self, path, own, theirs, table, base):
        """Rows and undeclared keys of a map against slots and `extra`."""
        extra = json.loads(theirs.get("extra", "{}"))
        check(extra != {} or "extra" not in theirs, path, own, theirs)
        expected = {}
        for name, type_ in self.tables[table]:
            if name in BASE and "op_id" in dict(self.tables[table]) or name in ("extra", "extra_params"):
                continue
            if name not in own:
                expected[name] = None
            elif self.fits(own[name], type_):
                self.field(path + "/" + name, own[name], theirs, name, type_)
            else:
                check(name not in theirs or type_ == "float", path, own[name], theirs)
                expected[name] = own[name]
        rows = dict(self.tables[table])
        for key in own:
            if key not in base and key not in rows:
                expected[key] = own[key]
        if "compile_target" in base and not self.fits(own.get("compile_target", "@hostt"), "CompileTarget_box"):
            expected["compile_target"] = own["compile_target"]
        check(same(expected, extra), path + "/extra", expected, extra)

    def value(self, path, own, theirs, table):
        check(own["_type_key"] == "icraft::xir::" + table, path, own, theirs)
        self.field(path + "/v_id", own["v_id"], theirs, "v_id", "long")
        self.field(path + "/name", own.get("name", ""), theirs, "name", "string")
        self.field(path + "/tags", own.get("tags", {}), theirs, "tags", "string")
        expected = {k: v for k, v in own.items()
                    if k not in ("_type_key", "_allow_no_data", "dtype", "mtype", "name", "tags", "v_id")}
        for name, type_, value in (("dtype", "DataType_box", own["dtype"]),
                                   ("mtype", "MemType_box", own.get("mtype", "@hostm"))):
            if self.fits(value, type_):
                self.field(path + "/" + name, value, theirs, name, type_)
            else:
                expected[name] = value
        check(same(expected, json.loads(theirs.get("extra", "{}"))), path + "/extra", expected, theirs.get("extra"))
        if table == "Params":
            check(bool(own.get("_allow_no_data")) == bool(theirs.get("_allow_no_data")), path, own, theirs)
            self.bytes(path, own["v_id"], theirs.get("_data"))

    def bytes(self, path, v_id, theirs):
        if self.raw is None:
            check(theirs is None, path + "/_data", None, theirs)
            return
        self.met.add(v_id)
        check(theirs is not None and self.raw[v_id] == bytes(theirs), path + "/_data", self.raw[v_id], theirs)

    def op(self, path, own, theirs, tag):
        name = short(own["_type_key"])
        known = name in self.unions["Operation_box"] and name != "Operation"
        check(tag == (name if known else "Unknown"), path, own["_type_key"], tag)
        self.field(path + "/op_id", own["op_id"], theirs, "op_id", "long")
        self.field(path + "/name", own.get("name", ""), theirs, "name", "string")
        self.field(path + "/tags", own.get("tags", {}), theirs, "tags", "string")
        inputs = list(own.get("inputs", []))
        while inputs and inputs[-1] is None:
            inputs.pop()
        self.field(path + "/inputs", inputs, theirs, "inputs", "[Value_box]")
        self.field(path + "/outputs", own.get("outputs", []), theirs, "outputs", "[Value_box]")
        target = own.get("compile_target", "@hostt")
        if self.fits(target, "CompileTarget_box"):
            self.field(path + "/compile_target", target, theirs, "compile_target", "CompileTarget_box")
        if known:
            self.members(path, own, theirs, tag, BASE)
        else:
            expected = {k: v for k, v in own.items() if k not in BASE or k == "_type_key"}
            if not self.fits(target, "CompileTarget_box"):
                expected["compile_target"] = target
            check(same(expected, json.loads(theirs["extra"])), path + "/extra", expected, theirs["extra"])
        for i, one in enumerate(theirs.get("extra_params", [])):
            spelled = find_params(own, one["v_id"] if "v_id" in one else 0)
            check(spelled is not None, path + "/extra_params", None, one)
            self.value("%s/extra_params/%d" % (path, i), spelled, one, "Params")

    def network(self, own, theirs, raw):
        self.raw = raw
        self.met = set()
        expected = {}
        for name, type_ in self.tables["Network"]:
            if name in ("extra", "params_table", "ops"):
                continue
            path = "/" + name
            if name == "params_bytes":
                if name in own:
                    self.field(path, own[name], theirs, name, type_)
                else:
                    expected[name] = None
            elif name == "ai_target" and name in own and (own[name] is None or not self.fits(own[name], type_)):
                expected[name] = own[name]
            elif name in own:
                self.field(path, own[name], theirs, name, type_)
            else:
                check(name not in theirs, path, None, theirs.get(name))
        fields = dict(self.tables["Network"])
        expected.update({k: v for k, v in own.items()
                         if k != "_type_key" and (k not in fields or k in ("extra", "params_table"))})
        check(same(expected, json.loads(theirs.get("extra", "{}"))), "/extra", expected, theirs.get("extra"))
        check(len(own["ops"]) == len(theirs["ops"]) == len(theirs["ops_type"]), "/ops",
              len(own["ops"]), len(theirs["ops"]))
        for i, (a, b, tag) in enumerate(zip(own["ops"], theirs["ops"], theirs["ops_type"])):
            self.op("/ops/%d" % i, a, b, tag)
        check(raw is None or self.met == set(raw), "/_data", set(raw or ()), self.met)


def find_params(any_, v_id):
    if isinstance(any_, dict):
        if any_.get("_type_key") == "icraft::xir::Params" and any_.get("v_id") == v_id:
            return any_
        any_ = list(any_.values())
    if isinstance(any_, list):
        for x in any_:
            found = find_params(x, v_id)
            if found is not None:
                return found
    return None


def alike(a, b):
    """Returns true if two networks are equal except for reals, which flatc prints with six decimals."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, float):
        return near(a, b)
    if isinstance(a, str) and a != b and a.startswith("@") and b.startswith("@"):
        return alike(list(table_of_text(a)), list(table_of_text(b)))
    return a == b


# ---- files -------------------------------------------------------------------------------------------------------

def read_theirs(path):
    """JSON of flatc, which writes inf and nan bare."""
    text = open(path, encoding="utf-8").read()
    text = re.sub(r'"(?:\\.|[^"\\])*"|-?\b(?:inf|nan)\b',
                  lambda m: m.group() if m.group()[0] == '"' else '"%s"' % m.group(), text)
    return json.loads(text)


def read_raw(path):
    if not os.path.exists(path):
        return None
    data = open(path, "rb").read()
    n, = struct.unpack_from("<I", data, 12)
    entries = [struct.unpack_from("<iQ", data, 16 + 12 * i) for i in range(n)]
    starts = sorted(offset for _, offset in entries) + [len(data)]
    raw = {}
    for v_id, offset in entries:
        end = min(s for s in starts if s > offset) if offset < len(data) else offset
        raw[v_id] = data[offset:end]
    return raw


def main(schema, own, theirs, again=None):
    oracle = Oracle(schema)
    n = 0
    for name in sorted(os.listdir(theirs)):
        if not name.endswith(".json"):
            continue
        mine = json.load(open(os.path.join(own, name), encoding="utf-8"))
        try:
            oracle.network(mine, read_theirs(os.path.join(theirs, name)),
                           read_raw(os.path.join(own, name[:-5] + ".raw")))
            if again:
                back = json.load(open(os.path.join(again, name), encoding="utf-8"))
                check(alike(mine, back), "/again", mine, back)
        except Different as e:
            sys.exit("%s%s" % (name, e))
        n += 1
    print("%d networks" % n)


main(*sys.argv[1:])
