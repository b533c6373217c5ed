// The examples and the command line, run as programs with small inputs.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { longpoleIn } from './support/longpoleCommands.js';
import { repositoryPath } from './support/repository.js';
import { type CommandResult, runCommand } from './support/runCommand.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-examples-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (program: string, args: readonly string[]): Promise<CommandResult> =>
  runCommand(process.execPath, [repositoryPath(program), ...args], { cwd: folder });
const demo = (...args: string[]): Promise<CommandResult> => run('dist/bundle/main.js', ['demo', ...args]);
const runLongpole = longpoleIn(folder);
const longpole = (...args: string[]): Promise<CommandResult> => runLongpole(args);

function assertPage(name: string): void {
  const html = readFileSync(join(folder, name), 'utf8');
  assert.match(html, /^<!doctype html>/i);
  // The page is self-contained, so no element refers to another file.
  assert.doesNotMatch(html, /<(script|link|img)[^>]+(src|href)="(?!data:)/i);
}

describe('longpole demo', () => {
  const sources = join(folder, 'sources');
  before(() => {
    mkdirSync(join(sources, 'deep/er'), { recursive: true });
    const twins = Array.from(
      { length: 5 },
      (_, i) => `export function f${i}(a, b) { return [a + b, a * b, a - b, a / b, ${i}]; }`,
    );
    writeFileSync(join(sources, 'a.mjs'), twins.join('\n'));
    writeFileSync(join(sources, 'deep/b.cjs'), 'if (x) return;\nmodule.exports = [[[[[1]]]]];\n');
    writeFileSync(join(sources, 'deep/er/c.js'), 'const = 1;\n');
    writeFileSync(join(sources, 'deep/er/d.txt'), 'not a source file');
  });

  it('summarises a folder, counts files that do not parse, and writes the page', async () => {
    const { code, stdout, stderr } = await demo('--dir', sources, '--page', 'demo.html', '--workers', '2');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Parsing 3 files of /);
    assert.match(stdout, /\[#{40}\] \| 100% Completed/);
    assert.match(stdout, /\b1 {2}file did not parse\n +deep\/er\/c\.js: Unexpected token/);
    assert.match(stdout, /\b5 {2}times \d+ nodes, first at a\.mjs:1\n/);
    assert.ok(stdout.includes(join(folder, 'demo.html')));
    assertPage('demo.html');
  });

  it('prints only the result on stdout with --json', async () => {
    const { code, stdout, stderr } = await demo('--dir', sources, '--page', 'json.html', '--json');
    assert.equal(code, 0, stderr);
    const result: { files: number; lines: number; deepest: { place: string }; failures: { file: string }[] } =
      JSON.parse(stdout);
    assert.deepEqual([result.files, result.lines], [3, 8]);
    assert.equal(result.deepest.place, 'deep/b.cjs:2');
    assert.deepEqual(
      result.failures.map(({ file }) => file),
      ['deep/er/c.js'],
    );
    assert.match(stderr, /100% Completed/);
  });

  it('prints the same result with any number of workers', async () => {
    const outputs: string[] = [];
    for (const workers of ['1', '3']) {
      const { code, stdout } = await demo(
        '--dir',
        sources,
        '--json',
        '--page',
        'same.html',
        '--workers',
        workers,
      );
      assert.equal(code, 0);
      outputs.push(stdout);
    }
    assert.equal(outputs[0], outputs[1]);
  });

  for (const [what, args] of [
    ['an unknown option', ['--nonsense']],
    ['a missing folder', ['--dir', '/no/such/folder']],
    ['a folder without sources', ['--dir', join(folder, 'sources/deep/er/none')]],
    ['an invalid number of workers', ['--workers', 'many']],
    ['an option without its value', ['--page']],
    ['a page with another ending', ['--page', '-']],
  ] as const) {
    it(`exits with 2 and the usage for ${what}`, async () => {
      const { code, stdout, stderr } = await demo(...args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /Usage: longpole demo/);
    });
  }

  it('prints the usage with --help', async () => {
    const { code, stdout } = await demo('--help');
    assert.equal(code, 0);
    assert.match(stdout, /^Usage: longpole demo/);
  });
});

describe('longpole', () => {
  it('prints its version and its commands', async () => {
    const { version }: { version: string } = JSON.parse(readFileSync(repositoryPath('package.json'), 'utf8'));
    assert.deepEqual(await longpole('--version'), { code: 0, stdout: `${version}\n`, stderr: '' });
    const help = await longpole('--help');
    assert.equal(help.code, 0);
    assert.match(help.stdout, /^ {2}demo /m);
  });

  it('exits with 2 for an unknown command, names the commands, and exits with 2 without a command', async () => {
    const unknown = await longpole('summary');
    assert.equal(unknown.code, 2);
    assert.match(
      unknown.stderr,
      /^longpole: unknown command 'summary'\nThe commands are run, view, analyze, .*: see longpole --help\./,
    );
    assert.match((await longpole('analyse')).stderr, /Did you mean analyze\?/);
    assert.equal((await longpole()).code, 2);
  });
});

describe('tsqr', () => {
  const tsqr = (...args: string[]): Promise<CommandResult> => run('dist/examples/tsqr/main.js', args);

  it('factorises a small matrix, prints the error, and writes the page', async () => {
    const { code, stdout, stderr } = await tsqr(
      '--rows',
      '600',
      '--columns',
      '40',
      '--blocks',
      '10',
      '--page',
      'tsqr.html',
    );
    assert.equal(code, 0, stderr);
    const error = /\|q\.r - a\| \/ \|a\| = (\S+)/.exec(stdout)?.[1];
    assert.ok(Number(error) < 1e-13, `relative error ${error}`);
    assertPage('tsqr.html');
  });

  it('exits with 2 if a block has more columns than rows', async () => {
    const { code, stderr } = await tsqr('--rows', '100', '--columns', '40', '--blocks', '10');
    assert.equal(code, 2);
    assert.match(stderr, /rows >= columns \* blocks/);
  });
});

describe('pipeline', () => {
  const pipeline = (...args: string[]): Promise<CommandResult> => run('dist/examples/pipeline/main.js', args);
  const small = ['--samples', '6000', '--chunk', '1000', '--epochs', '10', '--workers', '2'];

  for (const kind of ['threads', 'processes']) {
    it(`clusters samples, records a trace and prints its analysis on ${kind}`, async () => {
      const more = kind === 'processes' ? ['--processes'] : [];
      const { code, stdout, stderr } = await pipeline(...small, '--name', kind, '--output', 'out', ...more);
      assert.equal(code, 0, stderr);
      const index = /k-means: adjusted Rand index (\S+)/.exec(stdout)?.[1];
      assert.ok(Number(index) >= 0.9, `adjusted Rand index ${index}`);
      assert.match(stdout, /Pipeline run successfully/);
      assert.match(stdout, /\bclusterSums\b.*\n/);
      for (const plugin of ['TracePlugin', 'ResourceMonitor'])
        assert.ok(stdout.includes(join(folder, 'out', `${kind}-${plugin}-${hostname()}.msgpack`)));
      assert.match(readFileSync(join(folder, 'out', `${kind}.svg`), 'utf8'), />KMeans.fitPredict<\/text>/);
    });
  }

  it('exits with 2 for an unknown option', async () => {
    const { code, stderr } = await pipeline('--nonsense');
    assert.equal(code, 2);
    assert.match(stderr, /Usage: pipeline/);
  });
});

describe('word-count', () => {
  const texts = join(folder, 'texts');
  before(() => {
    mkdirSync(texts);
    for (let i = 0; i < 20; i++)
      writeFileSync(join(texts, `${i}.txt`), `The pole, the long pole ${'and the task '.repeat(i)}\n`);
  });

  for (const kind of [[], ['--processes']])
    it(`counts words on a cluster of ${kind.length > 0 ? 'processes' : 'threads'}`, async () => {
      const { code, stdout, stderr } = await run('dist/examples/word-count/main.js', [
        texts,
        '--extension',
        '.txt',
        ...kind,
      ]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^20 files\n {3}190 task\n {4}40 pole\n {4}20 long\nworkers: worker-0/);
    });
});
