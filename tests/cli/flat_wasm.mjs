// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// flat_wasm.mjs PACKAGE SCHEMA FOLDER: the newest flatc prints FOLDER/fb/*.fb as FOLDER/theirs/*.json, with our schema as it is,
// and makes FOLDER/back/*.fb of that.
import { readdirSync, readFileSync, writeFileSync } from 'fs';

const [flatcPackage, schema, folder] = process.argv.slice(2);
const { FlatcRunner } = await import(`${flatcPackage}/src/index.mjs`);
const flatc = await FlatcRunner.init();

function run(...words) {
    const ran = flatc.runCommand(words);
    if (ran.code !== 0) throw new Error(`flatc ${words.join(' ')}: ${ran.stderr.split('\n').slice(-3).join(' ')}`);
}

console.log(flatc.version());
flatc.mountFile('/xir.fbs', readFileSync(schema));
for (const file of readdirSync(`${folder}/fb`)) {
    const name = file.replace(/\.fb$/, '');
    flatc.mountFile(`/${file}`, readFileSync(`${folder}/fb/${file}`));
    run('--json', '--raw-binary', '--strict-json', '-o', '/out', '/xir.fbs', '--', `/${file}`);
    const text = flatc.readFile(`/out/${name}.json`);
    writeFileSync(`${folder}/theirs/${name}.json`, text);
    flatc.mountFile(`/${name}.json`, text);
    run('-b', '-o', '/out', '/xir.fbs', `/${name}.json`);
    writeFileSync(`${folder}/back/${name}.fb`, flatc.readFile(`/out/${name}.bin`));
}
