"""schema.py SCHEMA CASES N [FILE...]: judges networks by a JSON Schema. See schema.c for what a case is; files are right."""
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    sys.exit(77)


def pointer_of(error):
    return "".join("/" + str(part) for part in error.absolute_path) or "/"


def judge(validator, name, where, part, text):
    errors = [(pointer_of(e), e.message[:300]) for e in validator.iter_errors(json.loads(text))]
    if not where:
        right = not errors
    elif where == "*":
        right = bool(errors)
    else:
        right = any(found == where and part in message for found, message in errors)
    if not right:
        print(f"{name}: {part!r} at {where} was expected, found:" if where else f"{name}: no fault was expected, found:")
        for found, message in errors[:5]:
            print(f"    {found}: {message}")
    return right


def main(schema_path, cases_path, n, *files):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    right = True
    judged = 0
    with open(cases_path, encoding="utf-8", newline="\n") as file:
        for line in file:
            right &= judge(validator, *line.rstrip("\n").split("\t"))
            judged += 1
    for path in files:
        with open(path, encoding="utf-8") as file:
            right &= judge(validator, path, "", "", file.read())
    print(f"{judged} cases and {len(files)} files judged")
    return 0 if right and judged == int(n) else 1


sys.exit(main(*sys.argv[1:]))
