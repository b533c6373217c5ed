import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { commonJsAdvice } from './commonJs.js';

test('a failed TypeScript program with a top-level await gets the advice to become an ES module', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-commonjs-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const advice = (settings: string, name: string, text: string): string | undefined => {
    const inner = join(folder, 'src');
    mkdirSync(inner, { recursive: true });
    writeFileSync(join(folder, 'package.json'), settings);
    writeFileSync(join(inner, name), text);
    return commonJsAdvice(join(inner, name));
  };
  const awaits = 'const a = 1;\nconst total: number = await add(a).compute();\n';
  assert.equal(
    advice('{}', 'sum.ts', awaits),
    'sum.ts is a CommonJS module, which has no top-level await:\n' +
      'name it sum.mts, or write "type": "module" into package.json.',
  );
  assert.match(advice('{}', 'sum.tsx', 'await main();') ?? '', /:\nwrite "type"/);
  assert.match(advice('{}', 'log.ts', 'console.log(await add(1).compute());') ?? '', /log\.mts/);
  assert.equal(advice('{}', 'inside.ts', 'async function main() {\n  await add(1);\n}\nmain();'), undefined);
  assert.equal(advice('{ "type": "module" }', 'sum.ts', awaits), undefined);
  for (const name of ['sum.mts', 'sum.mjs', 'sum.js']) assert.equal(advice('{}', name, awaits), undefined);
});
