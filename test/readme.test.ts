// The README shows TypeScript that runs without a build step, and commands that exist. samples.test.ts runs every sample.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { repositoryPath } from './support/repository.js';
import { runOrThrow } from './support/runCommand.js';

const readme = readFileSync(repositoryPath('README.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'longpole-readme-'));
after(() => rmSync(folder, { recursive: true, force: true }));
symlinkSync(repositoryPath('node_modules'), join(folder, 'node_modules'));

/** Returns the code blocks of one language, in order. */
function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(
    (match) => match[1] ?? '',
  );
}

/** Writes a program in which `longpole` is the built package of this repository. Returns its path. */
function writeProgram(name: string, source: string): string {
  const text = source.replaceAll(/'longpole(\/\w+)?'/g, (_, path: string | undefined) => {
    const file = path === undefined ? 'index' : path.slice(1);
    return JSON.stringify(repositoryPath(`dist/bundle/${file}.js`));
  });
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

test('the graph in Dask form runs in TypeScript without a build step', async () => {
  const graph = blocks('ts').find((block) => block.includes('getThreaded'));
  assert.ok(graph !== undefined);
  const source = graph.replace(/^await (.*); \/\/ (\d+)$/m, 'console.log(await $1, $2);');
  const tsx = repositoryPath('node_modules/tsx/dist/cli.mjs');
  assert.equal(
    await runOrThrow(process.execPath, [tsx, writeProgram('graph.mts', source)], { cwd: folder }),
    '18 18\n',
  );
});

test('the commands of the README are scripts of the package', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync(repositoryPath('package.json'), 'utf8'),
  );
  assert.ok(readme.includes('\nnpm ci && npm run demo\n') && 'demo' in scripts);
  assert.ok(readme.includes('\nnpm ci && npm test\n') && 'test' in scripts);
});
