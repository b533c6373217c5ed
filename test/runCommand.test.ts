// `longpole run` as a process: it passes on input, output, signals and the exit code of the program, and prints the summary
// on stderr.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { writeReport } from 'longpole/diagnostics';
import { openTrace } from 'longpole/trace';
import { longpoleIn } from './support/longpoleCommands.js';
import { packageUrl } from './support/programs.js';
import { repositoryPath } from './support/repository.js';
import { type CommandResult, runCommand } from './support/runCommand.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-run-test-'));
after(() => rmSync(folder, { recursive: true }));
const COMMAND = repositoryPath('dist/bundle/main.js');

const run = (...args: string[]): Promise<CommandResult> =>
  runCommand(process.execPath, [COMMAND, 'run', ...args], { cwd: folder });
/** Runs a command that starts no program. */
const longpole = longpoleIn(folder);

/** Writes a program in which `longpole` is the built package of this repository. Returns its name. */
function program(name: string, source: string): string {
  const text = source.replaceAll(/'longpole(?:\/(local|diagnostics))?'/g, (_, path: 'local' | undefined) =>
    JSON.stringify(packageUrl(path ?? 'index')),
  );
  writeFileSync(join(folder, name), text);
  return name;
}

interface SummaryJson {
  readonly script: string;
  readonly args: readonly string[];
  readonly exitCode: number;
  readonly signal: string | null;
  readonly tasks: Record<'memory' | 'erred' | 'cancelled' | 'lost', number>;
  readonly computations: number;
  readonly makespan: number;
  readonly outside: { readonly before: number; readonly starting: number };
  readonly workers: readonly { name: string; tasks: number; busy: number }[];
  readonly prefixes: readonly { prefix: string; tasks: number; erred: number }[];
  readonly longPole: { floor: number; byKind: readonly { kind: string; seconds: number }[] };
  readonly findings: readonly object[];
}

function readJson(file: string): SummaryJson {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}

const SQUARES = `
import { connect } from 'longpole';
const client = await connect();
const squares = client.map((x) => x * x, [1, 2, 3, 4, 5]);
console.log((await client.gather(squares)).join(' '), process.argv.slice(2).join(' '), client.cluster.size);
await client.close();
`;

describe('longpole run', () => {
  it('ends with 2 and one message if the folder for temporary files cannot be written', async () => {
    const { code, stdout, stderr } = await runCommand(
      process.execPath,
      [COMMAND, 'run', program('squares.mjs', SQUARES)],
      { cwd: folder, env: { ...process.env, TMPDIR: join(folder, 'missing') } },
    );
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(
      stderr,
      /^longpole: the run cannot be recorded in .*missing: .* Set TMPDIR to .* \(ERR_LONGPOLE_LOCAL_DIRECTORY\)\n$/,
    );
  });

  it('passes arguments and output on, and prints the summary on stderr', async () => {
    const script = program('squares.mjs', SQUARES);
    const { code, stdout, stderr } = await run(
      '--workers',
      '3',
      script,
      'x',
      '--json',
      'squares.json',
      '--depth=2',
    );
    assert.deepEqual([code, stdout], [0, '1 4 9 16 25 x --depth=2 3\n'], stderr);
    assert.match(stderr, /^longpole: squares\.mjs took .*, exit code 0\ntasks {6}5 done in 1 computation; /m);
    for (const label of ['workers', 'prefixes', 'long pole', 'findings'])
      assert.match(stderr, new RegExp(`^${label} `, 'm'));
    for (const line of stderr.split('\n')) assert.ok(line.length <= 80, line);
    const summary = readJson('squares.json');
    assert.deepEqual(summary.tasks, { memory: 5, erred: 0, cancelled: 0, lost: 0, retried: 0, skipped: 0 });
    assert.deepEqual([summary.script, summary.args], [join(folder, script), ['x', '--depth=2']]);
    assert.deepEqual([summary.exitCode, summary.signal], [0, null]);
    const { before, starting } = summary.outside;
    assert.ok(0 < starting && starting < before, 'the cluster starts before its first computation');
    assert.ok(summary.workers.every(({ busy }) => busy >= 0 && busy <= 1));
    const onPath = summary.longPole.byKind.reduce((sum, { seconds }) => sum + seconds, 0);
    assert.ok(
      Math.abs(onPath - summary.makespan) < 1e-6,
      'the kinds of the long pole add up to the makespan',
    );
  });

  it('passes all options after -- to the program, even its own options', async () => {
    const { stdout } = await run('--workers', '2', program('squares.mjs', SQUARES), '--', '--workers', '7');
    assert.equal(stdout, '1 4 9 16 25 --workers 7 2\n');
  });

  it('runs TypeScript with worker processes and a memory limit, without changing the environment', async () => {
    const script = program(
      'typed.mts',
      `import { config, connect, tasks } from 'longpole';
      const { twice } = tasks(import.meta.url, { twice: (x: number): number => 2 * x });
      await using client = await connect();
      const [worker] = Object.values(client.schedulerInfo().workers);
      console.log(await client.submit(twice, 21).result(), config.get('processes'), worker?.memoryLimit);
      console.log(worker?.pid !== process.pid, process.env['LONGPOLE_RUN'], process.execArgv.join().includes('preload'));`,
    );
    const { code, stdout, stderr } = await run(
      '--processes',
      '--memory-limit',
      '300MB',
      '--workers',
      '1',
      script,
    );
    assert.deepEqual([code, stdout], [0, '42 true 300000000\ntrue undefined false\n'], stderr);
    assert.match(stderr, /1 done in 1 computation/);
  });

  const LOCAL = `import { compute, delayed } from 'longpole';
    import { getSync, getThreaded } from 'longpole/local';
    import { ProgressBar } from 'longpole/diagnostics';
    const inc = (x) => x + 1;
    const graph = { 'inc-1': [inc, 1], 'inc-2': [inc, 'inc-1'] };
    console.log(getSync(graph, 'inc-2'), await getThreaded(graph, 'inc-2'));
    const later = delayed(inc, { name: 'later' });
    console.log(await compute(later(1), later(2)));
    console.log(await later(3).compute({ callbacks: [new ProgressBar({ minimum: 60 })] }));`;

  for (const [where, options, counts] of [
    ['observes local computations without moving them to a cluster', [], ['main 2', 'threads-0 5']],
    [
      'moves compute() to a cluster with --cluster, even with a progress bar',
      ['--cluster'],
      ['main 2', 'threads-0 2', 'worker-0 3'],
    ],
  ] as const)
    it(where, async () => {
      const script = program('local.mjs', LOCAL);
      const { code, stdout, stderr } = await run(
        ...options,
        '--json',
        'local.json',
        '--workers',
        '1',
        script,
      );
      assert.deepEqual([code, stdout], [0, '3 3\n[ 2, 3 ]\n4\n'], stderr);
      const { tasks, prefixes, workers, computations } = readJson('local.json');
      assert.deepEqual([tasks.memory, computations], [7, 4]);
      assert.deepEqual(
        new Set(prefixes.map(({ prefix, tasks: count }) => `${prefix} ${count}`)),
        new Set(['inc 4', 'later 3']),
      );
      assert.deepEqual(workers.map(({ name, tasks: count }) => `${name} ${count}`).sort(), counts);
    });

  it('refuses --overwrite without --trace, and a port without a dashboard', async () => {
    const script = program('squares.mjs', SQUARES);
    for (const [options, text] of [
      [['--overwrite'], /--overwrite replaces the trace of --trace <directory>, which is missing/],
      [
        ['--port', '8790', '--no-dashboard'],
        /'-p, --port <number>' cannot be used with option '--no-dashboard'/,
      ],
    ] as const) {
      const { code, stdout, stderr } = await longpole(['run', ...options, script]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, text);
    }
  });

  it('warns that --memory-limit and --node had no effect on local schedulers, and --node on a cluster', async () => {
    const given = ['--memory-limit', '2GB', '--node', 'node', '--no-dashboard'];
    const local = await run(...given, program('local.mjs', LOCAL));
    assert.equal(local.code, 0, local.stderr);
    assert.match(local.stderr, /warning: --memory-limit had no effect: .*--cluster/);
    assert.match(local.stderr, /warning: --node had no effect: .*--dask/);
    const cluster = await run(...given, program('squares.mjs', SQUARES));
    assert.doesNotMatch(cluster.stderr, /--memory-limit had no effect/);
    assert.match(cluster.stderr, /warning: --node had no effect: /);
  });

  it('keeps the trace with --trace, and overwrites a trace only with --overwrite', async () => {
    const script = program('squares.mjs', SQUARES);
    const first = await run('--trace', 'squares.trace', script);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stderr, /^trace {6}squares\.trace$/m);
    const { tasks, workers, damage } = openTrace(join(folder, 'squares.trace'));
    assert.deepEqual([tasks.length, damage], [5, undefined]);
    assert.ok(workers.length >= 1);
    const second = await run('--trace', 'squares.trace', script);
    assert.deepEqual([second.code, second.stdout], [2, '']);
    assert.match(second.stderr, /holds a trace already.*--overwrite.*ERR_LONGPOLE_TRACE_FILE/);
    const third = await run('--trace', 'squares.trace', '--overwrite', script);
    assert.deepEqual([third.code, third.stdout], [0, first.stdout], third.stderr);
    assert.equal(openTrace(join(folder, 'squares.trace')).tasks.length, 5);
  });

  it('keeps the program and its exit code in the trace, so that later pages of the trace have them', async () => {
    const script = program('coded.mjs', `${SQUARES}process.exitCode = 3;`);
    const { code, stderr } = await run('--trace', 'coded.trace', '--report', 'coded.html', script, 'x');
    assert.equal(code, 3, stderr);
    for (const name of ['coded.trace', 'coded.html']) {
      const { about } = openTrace(join(folder, name));
      assert.equal(about?.title, 'coded.mjs x');
      assert.deepEqual([about.facts['Program'], about.facts['Exit code']], ['coded.mjs x', '3']);
      assert.match(about.facts['Host'] ?? '', /, \d+ cores$/);
    }
    const later = writeReport(openTrace(join(folder, 'coded.trace')), join(folder, 'later.html'));
    assert.deepEqual(openTrace(later).about, openTrace(join(folder, 'coded.html')).about);
    assert.match(readFileSync(later, 'utf8'), /<title>coded\.mjs x<\/title>/);
  });

  it('names the workers of two clusters differently', async () => {
    const script = program(
      'twice.mjs',
      `${SQUARES}${SQUARES.replace(/import.*\n/, '').replaceAll(/client|squares/g, '$&2')}`,
    );
    const { code, stdout, stderr } = await run('--workers', '1', '--json', 'twice.json', script);
    assert.deepEqual([code, stdout], [0, '1 4 9 16 25  1\n1 4 9 16 25  1\n'], stderr);
    const { tasks, workers } = readJson('twice.json');
    assert.equal(tasks.memory, 10);
    assert.deepEqual(workers.map(({ name }) => name).sort(), ['worker-0', 'worker-0 (cluster 2)']);
  });

  it('serves the dashboard, and writes the report with --report', async () => {
    const script = program('squares.mjs', SQUARES);
    const shown = await run('--port', '0', '--report', 'squares.html', script, 'x');
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(
      shown.stderr,
      /^longpole: dashboard at http:\/\/127\.0\.0\.1:\d+\/( \(port 8787 is not free\))?$/m,
    );
    assert.match(shown.stderr, /^report {5}squares\.html$/m);
    assert.match(readFileSync(join(folder, 'squares.html'), 'utf8'), /<title>squares\.mjs x<\/title>/);
    assert.equal(openTrace(join(folder, 'squares.html')).tasks.length, 5);
  });

  it('prints JSON as the last line with --json -, and serves no dashboard with --no-dashboard', async () => {
    const script = program('squares.mjs', SQUARES);
    const { stdout, stderr } = await run('--no-dashboard', '--json', '-', script);
    assert.doesNotMatch(stderr, /dashboard/);
    const lines = stdout.trimEnd().split('\n');
    assert.match(lines[0] ?? '', /^1 4 9 16 25 /);
    const summary: SummaryJson = JSON.parse(lines[1] ?? '');
    assert.equal(summary.tasks.memory, 5);
    assert.equal(lines.length, 2);
  });
});

describe('longpole run, if the program does not end normally,', () => {
  it('prints the error and the summary, and ends with 1', async () => {
    const script = program(
      'throws.mjs',
      `import { delayed } from 'longpole';
      await delayed(() => { throw new Error('out of cheese'); }, { name: 'fails' })().compute();`,
    );
    const { code, stdout, stderr } = await run('--json', 'throws.json', script);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(
      stderr,
      /out of cheese(.|\n)*longpole: throws\.mjs took .*, exit code 1\ntasks +0 done, 1 failed in/,
    );
    assert.deepEqual(readJson('throws.json').tasks.erred, 1);
  });

  it('says that the recording is incomplete if it could not be written to its end', async () => {
    const script = program(
      'full.mjs',
      `import { mkdirSync } from 'node:fs';
      import { delayed } from 'longpole';
      await delayed((x) => x + 1, { name: 'one' })(1).compute();
      mkdirSync(new URL('full.trace/meta.json.new', import.meta.url));`,
    );
    const { code, stderr } = await run('--trace', 'full.trace', script);
    assert.equal(code, 0);
    assert.match(
      stderr,
      /full\.mjs took .*, exit code 0\nlongpole: warning: the recording is incomplete: .*meta\.json cannot be written.*\ntasks +1 done/,
    );
  });

  it('ends with the code of process.exit(), and summarises the tasks that have run', async () => {
    const script = program(
      'exits.mjs',
      `import { delayed } from 'longpole';
      process.stdout.write(String(await delayed((x) => x + 1, { name: 'one' })(1).compute()));
      process.exit(7);`,
    );
    const { code, stdout, stderr } = await run(script);
    assert.deepEqual([code, stdout], [7, '2']);
    assert.match(stderr, /exit code 7\ntasks {6}1 done in 1 computation/);
  });

  it('says which tasks had not ended when the program closed its cluster', async () => {
    const script = program(
      'leaves.mjs',
      `import { connect } from 'longpole';
      const client = await connect({ workers: 1 });
      client.submit(function endless() { return new Promise(() => undefined); });
      await client.close();`,
    );
    const { code, stderr } = await run(script);
    assert.equal(code, 0);
    assert.match(stderr, /^tasks {6}0 done, 1 cancelled in 1 computation;/m);
    assert.match(stderr, /^cut off {4}1 task had not ended when the client closed: 1 endless\.$/m);
    assert.doesNotMatch(stderr, /tasks that were cancelled/);
  });

  it('does not say that nothing was recorded if the program exits before its first task ends', async () => {
    const script = program(
      'early.mjs',
      `import { connect } from 'longpole';
      const client = await connect({ workers: 1 });
      client.submit(() => new Promise(() => undefined));
      setImmediate(() => process.exit(3));`,
    );
    const { code, stderr } = await run(script);
    assert.equal(code, 3);
    assert.match(stderr, /exit code 3\ntasks {6}0 done in 1 computation\n/);
  });

  it('prints that nothing was recorded if the program ran no tasks, and passes input on', async () => {
    const script = program('plain.mjs', 'process.stdin.pipe(process.stdout);');
    const child = spawn(process.execPath, [COMMAND, 'run', script], { cwd: folder });
    child.stdin.end('from a pipe\n');
    const { code, stdout, stderr } = await outputOf(child);
    assert.deepEqual([code, stdout], [0, 'from a pipe\n']);
    assert.match(stderr, /exit code 0\nnothing was recorded: the program ran no tasks/);
    const failed = await run(program('fails.mjs', 'null.value;'));
    assert.match(
      failed.stderr,
      /exit code 1\nnothing was recorded: the program probably ended before it ran tasks/,
    );
  });

  it('passes signals on, and ends with 128 plus the number of a signal that ended the program', async () => {
    const script = program(
      'signals.mjs',
      `if (process.argv[2] === 'handles') process.on('SIGTERM', () => { console.log('bye'); process.exit(3); });
      setInterval(() => {}, 1000);
      console.log('ready');
      if (process.argv[2] === 'blocks') for (;;);`,
    );
    for (const [mode, signal, code, output] of [
      ['handles', 'SIGTERM', 3, 'ready\nbye\n'],
      ['dies', 'SIGTERM', 143, 'ready\n'],
      ['blocks', 'SIGINT', 130, 'ready\n'],
    ] as const) {
      const child = spawn(process.execPath, [COMMAND, 'run', script, mode], { cwd: folder });
      child.stdout.once('data', () => child.kill(signal));
      const ended = await outputOf(child);
      assert.deepEqual([ended.code, ended.stdout], [code, output], mode);
      assert.match(ended.stderr, code === 3 ? /exit code 3/ : new RegExp(`ended by ${signal}`));
    }
  });

  it('summarises the recorded tasks of a killed program', async () => {
    const script = program(
      'killed.mjs',
      `import { statSync } from 'node:fs';
      import { connect } from 'longpole';
      const client = await connect();
      const file = 'killed.trace/tasks.arrows';
      const empty = statSync(file).size;
      await client.submit((x) => x + 1, 1).result();
      setInterval(() => { if (statSync(file).size > empty) process.kill(process.pid, 'SIGKILL'); }, 10);`,
    );
    const { code, stderr } = await run('--trace', 'killed.trace', script);
    assert.equal(code, 137);
    assert.match(stderr, /ended by SIGKILL\ntasks {6}1 done in 1 computation/);
    assert.match(stderr, /\ncut off {4}The recording has no end: tasks that had not ended are missing\.\n/);
    assert.doesNotMatch(stderr, /No number of workers/);
  });

  it('ends with 2 on wrong usage before the program runs', async () => {
    const script = program('never.mjs', `console.log('ran');`);
    for (const [args, message] of [
      [[], /the program is missing; see longpole run --help/],
      [['missing.mjs'], /missing\.mjs: there is no such file/],
      [['.'], /: this is no file/],
      [['--nonsense', script], /unknown option '--nonsense'/],
      [['--workers', '0', script], /expected a whole number from 1/],
      [['--memory-limit', 'much', script], /expected a size such as "2 GB"/],
      [['--memory-limit', '300', script], /at least 1 MB \(a number without a unit is in bytes\)/],
      [['--trace', 'never.mjs/x', script], /cannot be written.*ERR_LONGPOLE_TRACE_FILE/],
      [['--json', 'never.mjs/x/y.json', script], /cannot be written: a part of its path is a file/],
      [['--report', 'never.mjs/page.html', script], /cannot be written: a file has the name of a folder/],
      [['--report', '.', script], /\. cannot be written: it is a folder\. Pass the path of a file\./],
    ] as const) {
      const result = await longpole(['run', ...args]);
      assert.deepEqual([result.code, result.stdout], [2, ''], `${args}: ${result.stderr}`);
      assert.match(result.stderr, message);
    }
    assert.deepEqual(await run('missing.mjs'), await longpole(['run', 'missing.mjs']));
    assert.ok(!existsSync(join(folder, 'missing.mjs')));
  });

  it('uses the installation of Longpole that belongs to the program', async () => {
    const other = join(folder, 'elsewhere');
    mkdirSync(join(other, 'node_modules/longpole'), { recursive: true });
    writeFileSync(
      join(other, 'node_modules/longpole/package.json'),
      JSON.stringify({ name: 'longpole', version: '9.9.9', type: 'module', bin: { longpole: 'cli.js' } }),
    );
    writeFileSync(
      join(other, 'node_modules/longpole/cli.js'),
      `console.log('other', process.argv.slice(2).join(' ')); process.exitCode = 5;`,
    );
    writeFileSync(join(other, 'main.mjs'), '');
    const { code, stdout } = await run('--workers', '2', 'elsewhere/main.mjs', 'x');
    assert.deepEqual([code, stdout], [5, 'other run --workers 2 elsewhere/main.mjs x\n']);
  });
});

async function outputOf(child: ReturnType<typeof spawn>): Promise<CommandResult> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
