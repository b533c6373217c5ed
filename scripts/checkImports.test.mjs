import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { checkImports, toDot } from './checkImports.mjs';

const README = `
| folder | holds | may import |
|---|---|---|
| \`base/\` | small pieces | nothing |
| \`engine/\` | \`pool/\` and more | base |
| \`api/\` | joins the rest | base, engine |

\`base\` are *pure*: no \`node:\` import.
`;
const GOOD = {
  'README.md': README,
  'base/a.ts': 'export const a = 1;',
  'base/a.test.ts': "import { test } from 'node:test'; import { a } from './a.js'; test(String(a));",
  'engine/b.ts':
    "import { readFileSync } from 'node:fs';\nimport { a } from '../base/a.js';\nexport const b = [a, readFileSync];",
  'api/c.tsx': "export { b } from '../engine/b.js'; export type A = typeof import('../base/a.js');",
};

const folders = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Writes a small source tree and checks it. */
function check(files) {
  const root = mkdtempSync(join(tmpdir(), 'imports-'));
  folders.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return checkImports(root);
}

test('a tree that keeps the rules has no problems', () => {
  const result = check(GOOD);
  assert.deepEqual(result.problems, []);
  assert.equal(result.imports.length, 6);
});

const VIOLATIONS = [
  [
    'an import against the direction',
    {
      'base/a.ts': "\nimport { b } from '../engine/b2.js'; export const a = b;",
      'engine/b2.ts': 'export const b = 1;',
    },
    'src/base/a.ts:2 imports ../engine/b2.js: base/ may not import engine/',
  ],
  [
    'a type import against the direction',
    {
      'base/a.ts': "export type B = import('../engine/b2.js').B; export const a = 1;",
      'engine/b2.ts': 'export type B = 1;',
    },
    'src/base/a.ts:1 imports ../engine/b2.js: base/ may not import engine/',
  ],
  [
    'a dynamic import against the direction',
    { 'engine/d.ts': "export const c = () => import('../api/c.js');" },
    'src/engine/d.ts:1 imports ../api/c.js: engine/ may not import api/',
  ],
  [
    'a test that imports against the direction',
    { 'base/b.test.ts': "import '../engine/b.js';" },
    'src/base/b.test.ts:1 imports ../engine/b.js: base/ may not import engine/',
  ],
  [
    'the package by its own name',
    { 'engine/d.ts': "import 'longpole/local';" },
    'src/engine/d.ts:1 imports longpole/local: engine/ may not import api/',
  ],
  [
    'Node in a pure folder',
    { 'base/n.ts': "import 'node:fs';" },
    'src/base/n.ts:1 imports node:fs: base/ is pure and may not use Node',
  ],
  [
    'a cycle between files of one folder',
    { 'base/x.ts': "import './y.js';", 'base/y.ts': "export * from './x.js';" },
    'src/base/x.ts: import cycle: base/x.ts -> base/y.ts -> base/x.ts',
  ],
  [
    'a folder without a rule',
    { 'extra/e.ts': 'export {};' },
    'src/extra/: the folder is not in the table of src/README.md',
  ],
  [
    'a file without a folder',
    { 'e.ts': 'export {};' },
    'src/e.ts: a source file belongs into a folder of the table',
  ],
  [
    'an import that leads out of src/',
    { 'base/o.ts': "import '../../x.js';" },
    'src/base/o.ts:1 imports ../../x.js: it lies outside src/',
  ],
  [
    'an import of nothing',
    { 'base/o.ts': "import './none.js';" },
    'src/base/o.ts:1 imports ./none.js: there is no such file',
  ],
  [
    'a rule that matches no file',
    { 'README.md': README.replace('| `api/`', '| `ghost/` | nothing yet | base |\n| `api/`') },
    'src/README.md: the rule for ghost/ matches no file',
  ],
  [
    'a rule that allows an unknown folder',
    { 'README.md': README.replace('| base |', '| base, gone |') },
    'src/README.md: engine/ may import gone, which is not in the table',
  ],
  [
    'a pure folder that is unknown',
    { 'README.md': README.replace('`base` are', '`base gone` are') },
    'src/README.md: gone is called pure, and is not in the table',
  ],
];
for (const [name, files, expected] of VIOLATIONS) {
  test(`finds ${name}`, () => {
    assert.deepEqual(check({ ...GOOD, ...files }).problems, [expected]);
  });
}

test('accepts both spellings of emphasis', () => {
  assert.deepEqual(check({ ...GOOD, 'README.md': README.replace('*pure*', '_pure_') }).problems, []);
});

test('a README without the table is a problem', () => {
  const { problems } = check({ ...GOOD, 'README.md': '# Nothing' });
  assert.ok(problems.includes('src/README.md: the table of folders was not found'));
  assert.ok(problems.includes('src/README.md: the line "`…` are *pure*" was not found'));
});

test('draws the folders and the imports between them', () => {
  assert.equal(
    toDot(check(GOOD)),
    [
      'digraph src {',
      '  "base" [shape=box, style=filled];',
      '  "engine" [shape=box];',
      '  "api" [shape=box];',
      '  "api" -> "base" [label="1"];',
      '  "api" -> "engine" [label="1"];',
      '  "engine" -> "base" [label="1"];',
      '}',
    ].join('\n'),
  );
});
