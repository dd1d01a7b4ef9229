# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""schema.py SCHEMA CASES N [FILE...]: validates networks with a JSON Schema. See schema.c for the form of a case; files must be valid."""
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    sys.exit(77)


def pointer_of(error):
    return "".join("/" + str(part) for part in error.absolute_path) or "/"


def check(validator, name, where, part, text):
    errors = [(pointer_of(e), e.message[:300]) for e in validator.iter_errors(json.loads(text))]
    if not where:
        right = not errors
    elif where == "*":
        right = bool(errors)
    else:
        right = any(found == where and part in message for found, message in errors)
    if not right:
        print(f"{name}: expected {part!r} at {where}, found:" if where else f"{name}: expected no fault, found:")
        for found, message in errors[:5]:
            print(f"    {found}: {message}")
    return right


def main(schema_path, cases_path, n, *files):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    right = True
    checked = 0
    with open(cases_path, encoding="utf-8", newline="\n") as file:
        for line in file:
            right &= check(validator, *line.rstrip("\n").split("\t"))
            checked += 1
    for path in files:
        with open(path, encoding="utf-8") as file:
            right &= check(validator, path, "", "", file.read())
    print(f"{checked} cases and {len(files)} files checked")
    return 0 if right and checked == int(n) else 1


sys.exit(main(*sys.argv[1:]))
