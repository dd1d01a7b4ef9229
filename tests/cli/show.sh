# xir show: exactly what the writer writes.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .

run 0 show --compact small.json; quiet; same out small.json
run 0 show small.json; quiet; cp out indented.json
[ "$(sed -n 2p out)" = '    "_type_key": "icraft::xir::Network",' ] || bad "no indentation by four"
[ -n "$(tail -c 1 out)" ] || bad "a newline at the end"
run 0 show indented.json; same out indented.json
run 0 show --compact indented.json; same out small.json
run 0 convert small.json other.json --indent; same other.json indented.json
run 0 show --no-params small.json; same out indented.json
run 0 show --lazy --params small.raw small.json; same out indented.json
run 0 show --params small.raw small.json; same out indented.json
run 3 show --params missing.raw small.json
rm small.raw; run 0 show small.json; quiet; same out indented.json
has python3 && { python3 -c '
import json; d = json.load(open("small.json"))
json.dump(dict(reversed(list(d.items()))), open("turned.json", "w"), indent=1)'
run 0 show --compact turned.json; same out small.json; }
finish
