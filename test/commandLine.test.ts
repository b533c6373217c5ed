// `longpole analyze` and `longpole export`: exit codes, stdout, stderr and files. One process runs most commands.
import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { parquetReadObjects } from 'hyparquet';
import { findings, TraceAnalyser } from 'longpole/analysis';
import { EXPORTERS, exportTrace, openTrace, TraceWriter } from 'longpole/trace';
import { syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';
import { unpackFixture } from './support/dasfSmall.js';
import { longpoleIn } from './support/longpoleCommands.js';
import { repositoryPath } from './support/repository.js';
import { type CommandResult, runCommand } from './support/runCommand.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-cli-'));
after(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
const resources = unpackFixture('ResourceMonitor-c096.msgpack', path('resources.msgpack'));
const tasks = unpackFixture('TracePlugin-c096.msgpack', path('tasks.msgpack'));
const chrome = repositoryPath('test/fixtures/chrome/catapult.json');

const longpole = longpoleIn(folder);
const longpoleAlone = (args: readonly string[]): Promise<CommandResult> =>
  runCommand(process.execPath, [repositoryPath('dist/bundle/main.js'), ...args], { cwd: folder });

async function succeed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await longpole(args);
  assert.equal(code, 0, stderr);
  return stdout;
}

describe('longpole analyze', () => {
  it('prints the tables without colours, in the width of the terminal', async () => {
    const { code, stdout, stderr } = await longpole(['analyze', '--head', '3', resources, tasks], {
      env: { COLUMNS: '72' },
    });
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
    assert.match(stdout, /^Functions by the seconds of their tasks\n/);
    assert.match(stdout, /_func_fit/);
    assert.match(stdout, /… 105 more rows\n/);
    assert.match(stdout, /worker-c096-3/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: codes for colours begin with a control character
    assert.doesNotMatch(stdout, /\u001b/);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 72, line);
  });

  it('prints findings as sentences, and with --json as rows and as findings() returns them', async () => {
    const { stdout, stderr } = await longpole(['analyze', '-a', 'findings', tasks], {
      env: { COLUMNS: '80' },
    });
    assert.match(
      stdout,
      /^Problems by their cost, with advice\n1\. [\d,]+ tasks of .* are too small/,
      stderr,
    );
    assert.match(stdout, /\n {3}Join about \d+ tasks into one/);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
    const [answer]: { analyses: { findings: { rows: Record<string, unknown>[]; result: unknown } } }[] =
      JSON.parse(await succeed('analyze', '-a', 'findings', '--json', tasks));
    assert.deepEqual(answer?.analyses.findings.result, findings(openTrace(tasks)));
    const [first] = answer?.analyses.findings.rows ?? [];
    assert.ok(Number(first?.['Costs (s)']) > 1);
    assert.equal(first?.['Confidence'], 'high');
    assert.match(
      await succeed('analyze', '-a', 'findings', chrome),
      /\nNo finding costs 5 % of the run or more\. .* of the\s+critical\s+path/s,
    );
  });

  it('refuses --json beside another format', async () => {
    const { code, stdout, stderr } = await longpole(['analyze', '--json', '--format', 'csv', tasks]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /'--json' cannot be used with option '-f, --format <format>'/);
  });

  it('reads the two event files of DASF as one trace', async () => {
    const table = await succeed('analyze', '-a', 'function-bottleneck', '-f', 'csv', resources, tasks);
    const rows = table
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','));
    assert.equal(rows.length, 109);
    // Column 5 is the mean GPU utilization, which is in the other file.
    assert.ok(rows.slice(1).some((row) => Number(row[5]) > 0));
  });

  it('shows the progress with --progress, even if stderr is not a terminal', async () => {
    const { code, stderr } = await longpoleAlone(['analyze', '-a', 'task-balance', '--progress', tasks]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^reading \[#* *\] \d+%$/m);
    assert.match(stderr, /^analysing \[ {40}\] 0%$/m);
  });

  it('shows the progress of every command that reads traces', async () => {
    const output = path('progress.json');
    const args = ['export', '--to', 'json', '-o', output, '--progress', tasks];
    const { code, stderr } = await longpoleAlone(args);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^reading \[#* *\] \d+%$/m);
    assert.match(stderr, /^writing \d+\.\d MB$/m);
    const { stderr: simulated } = await longpoleAlone(['simulate', '--progress', tasks]);
    assert.match(simulated, /^reading \[#* *\] \d+%$/m);
  });

  it("accepts DASF's names of analyses", async () => {
    const names = ['function_bottleneck', 'per_function_bottleneck', 'function-bottleneck'];
    const [first, ...others] = await Promise.all(names.map((name) => succeed('analyze', '-a', name, tasks)));
    for (const other of others) assert.equal(other, first);
    const all = await succeed(
      'analyze',
      '--json',
      '-a',
      'per_task_bottleneck,per_worker_task_balance',
      tasks,
    );
    const [answer]: { analyses: object }[] = JSON.parse(all);
    assert.deepEqual(Object.keys(answer?.analyses ?? {}), ['task-bottleneck', 'task-balance']);
  });

  it("computes DASF's numbers with --compat dasf, and leaves the other tables as they are", async () => {
    const names = ['function_bottleneck', 'task_bottleneck', 'task_balance'];
    const dasf = new TraceAnalyser(openTrace(tasks), { compat: 'dasf' });
    const tables = [dasf.perFunctionBottleneck(), dasf.perTaskBottleneck(), dasf.perWorkerTaskBalance()];
    for (const [i, name] of names.entries()) {
      const csv = await succeed('analyze', '--compat', 'dasf', '-a', name, '-f', 'csv', tasks);
      assert.equal(csv, tables[i]!.toCSV(), name);
    }
    const others = ['analyze', '-a', 'queueing', tasks];
    assert.equal(await succeed(...others, '--compat', 'dasf'), await succeed(...others));
    const { code, stderr } = await longpole(['analyze', '--compat', 'dask', tasks]);
    assert.equal(code, 2);
    assert.match(stderr, /Allowed choices are dasf/);
  });

  it('prints every trace with its damage, tables, columns and rows with --json', async () => {
    const [first, second, ...more]: {
      trace: string;
      damage: object | null;
      analyses: Record<string, { title: string; columns: string[]; length: number; rows: object[] }>;
    }[] = JSON.parse(
      await succeed('analyze', '--json', '--head', '2', '-a', 'task-bottleneck', tasks, chrome),
    );
    assert.deepEqual(more, []);
    assert.equal(first?.trace, tasks);
    assert.equal(first?.damage, null);
    const table = first?.analyses['task-bottleneck'];
    assert.equal(table?.length, 4140);
    assert.equal(table?.rows.length, 2);
    assert.deepEqual(Object.keys(table?.rows[0] ?? {}), table?.columns);
    assert.equal(second?.analyses['task-bottleneck']?.length, 4);
  });

  it('writes a file for each table, in a folder for each of several traces', async () => {
    const { code, stdout } = await longpole(['analyze', '-o', path('tables'), '-f', 'json', tasks]);
    assert.deepEqual([code, stdout], [0, '']);
    const rows: object[] = JSON.parse(readFileSync(path('tables/task-bottleneck.json'), 'utf8'));
    assert.equal(rows.length, 4140);
    await succeed('analyze', '-a', 'task-balance', '-o', path('both'), '-f', 'csv', tasks, chrome);
    assert.deepEqual(readdirSync(path('both')), ['1-tasks.msgpack', '2-catapult.json']);
  });

  it('warns that a truncated trace is incomplete', async () => {
    const torn = path('torn.json');
    writeFileSync(torn, readFileSync(chrome).subarray(0, 900));
    const { code, stderr } = await longpole(['analyze', torn]);
    assert.equal(code, 0);
    assert.match(
      stderr,
      /warning: .*torn\.json is incomplete: \d+ bytes were skipped.*the last event is not complete/,
    );
    const event = '{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}';
    writeFileSync(torn, `[${event},{"ph":?},${event},{"ph":"X","na`);
    const twice = await longpole(['analyze', torn]);
    assert.match(twice.stderr, /bytes were skipped at byte \d+ and 1 more place \(/);
  });

  it('names an analysis without an answer, prints the other analyses, and ends with 1', async () => {
    const memory = [-1.5e308, 1.5e308].map((time) => ({ worker: 'w', time, managed: 1, tasks: 1 }));
    exportTrace(syntheticTrace({ memory }), { to: 'dasf', output: path('apart.msgpack') });
    const args = ['analyze', '-a', 'task-balance,worker-balance', path('apart.msgpack')];
    const { code, stdout, stderr } = await longpole(args);
    assert.equal(code, 1);
    assert.match(stderr, /^longpole: task-balance has no answer: .*1\.5e\+308 s.*record it again/);
    assert.match(stdout, /^Busy and idle seconds of each thread\n/);
    const json = await longpole([...args, '--json']);
    assert.equal(json.code, 1);
    const [answer]: { analyses: object }[] = JSON.parse(json.stdout);
    assert.deepEqual(Object.keys(answer?.analyses ?? {}), ['worker-balance']);
    const files = await longpole([...args, '-o', path('some')]);
    assert.equal(files.code, 1);
    assert.match(files.stderr, /longpole: 1 table written to/);
  });

  it('ends with 2 on wrong usage and unreadable input, and with 1 if it cannot write', async () => {
    writeFileSync(path('text.txt'), 'no trace');
    for (const [args, code, message] of [
      [['analyze'], 2, /missing required argument[\s\S]*See longpole analyze --help\./],
      [['analyze', tasks, '--nonsense'], 2, /unknown option/],
      [['dask', 'record'], 2, /See longpole dask record --help\./],
      [
        ['analyze', tasks, '-a', 'no-such-analysis'],
        2,
        /There is no analysis 'no-such-analysis'. The analyses are: function-bottleneck/,
      ],
      [['analyze', tasks, '--head', 'many'], 2, /whole number/],
      [
        ['view', tasks, '--port', 'abc'],
        2,
        /argument 'abc' is invalid\. Pass a whole number from 0 to 65535/,
      ],
      [['view', tasks, '--port', ''], 2, /argument '' is invalid/],
      [['analyze', path('missing')], 2, /there is no such file.*ERR_LONGPOLE_TRACE_FILE/],
      [['analyze', path('text.txt')], 2, /it begins like text, "no trace".*ERR_LONGPOLE_TRACE_FORMAT/],
      [['analyze', tasks, '-o', path('text.txt')], 1, /cannot be written/],
    ] as const) {
      const result = await longpole(args);
      assert.equal(result.code, code, `${args}: ${result.stderr}`);
      assert.match(result.stderr, message);
      assert.equal(result.stdout, '');
    }
  });

  it('ends its process with the exit codes', async () => {
    const balance = ['analyze', '-a', 'task-balance', tasks];
    assert.deepEqual(await longpoleAlone(balance), await longpole(balance));
    for (const [args, code] of [
      [['analyze', tasks, '--nonsense'], 2],
      [['analyze', path('missing')], 2],
      [['analyze', tasks, '-o', path('text.txt')], 1],
    ] as const) {
      const result = await longpoleAlone(args);
      assert.equal(result.code, code);
      assert.deepEqual(result, await longpole(args));
    }
  });

  it('prints every default once with --help', async () => {
    const help = (await succeed('analyze', '--help')).replaceAll(/\s+/g, ' ');
    assert.equal(help.match(/default: all/g)?.length, 1, help);
  });

  it('lists the analyses with --help', async () => {
    assert.match(await succeed('analyze', '--help'), /task-balance +Results in the memory/);
    assert.match(await succeed('--help'), /analyze .*\n(.*\n)*.*export /);
  });
});

describe('longpole export', () => {
  it('writes every format that --help lists', async () => {
    const help = await succeed('export', '--help');
    for (const { name, kind } of EXPORTERS) {
      assert.ok(help.includes(`  ${name} `), name);
      const output = path(`exported.${name}`);
      const { files }: { files: { file: string; bytes: number }[] } = JSON.parse(
        await succeed('export', resources, tasks, '--to', name, '-o', output, '--json'),
      );
      for (const { file, bytes } of files) assert.equal(statSync(file).size, bytes);
      assert.equal(statSync(output).isDirectory(), kind === 'folder');
    }
  });

  it('creates the folder of its output file', async () => {
    const file = path('not/yet/there.json');
    await succeed('export', tasks, '--to', 'chrome', '-o', file);
    assert.deepEqual(openTrace(file).tasks.length, openTrace(tasks).tasks.length);
  });

  it('writes the same cells as Parquet, CSV and JSON', async () => {
    const file = readFileSync(path('exported.parquet/tasks.parquet'));
    const rows = await parquetReadObjects({
      file: file.buffer.slice(file.byteOffset, file.byteOffset + file.length),
    });
    const all: { tasks: Record<string, unknown>[] } = JSON.parse(readFileSync(path('exported.json'), 'utf8'));
    const plain = rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([title, cell]) => [title, typeof cell === 'bigint' ? Number(cell) : cell]),
      ),
    );
    assert.deepEqual(plain, all.tasks);
    const lines = readFileSync(path('exported.csv/tasks.csv'), 'utf8').trimEnd().split('\n');
    assert.equal(lines[0], Object.keys(all.tasks[0] ?? {}).join(','));
    assert.equal(lines.length - 1, all.tasks.length);
  });

  it('names its file after the trace, and compresses a file whose name ends with .gz', async () => {
    await succeed('export', tasks, '--to', 'chrome', '-o', 'packed.json.gz');
    assert.deepEqual([...readFileSync(path('packed.json.gz')).subarray(0, 2)], [0x1f, 0x8b]);
    assert.equal(openTrace(path('packed.json.gz')).tasks.length, 4200);
    assert.match(
      await succeed('export', 'packed.json.gz', '--to', 'dasf'),
      /^packed\.msgpack {2}\d\.\d MB\n$/,
    );
    assert.equal(openTrace(path('packed.msgpack')).tasks.length, 4200);
  });

  it('names its file after the folder if the trace is the working directory', async () => {
    const directory = path('here.trace');
    TraceWriter.create(directory).close();
    const { stdout } = await longpole(['export', '.', '--to', 'chrome'], { cwd: directory });
    assert.match(stdout, /^here\.json {2}/);
  });

  it('omits tasks from pprof files if their duration does not fit into the format', async () => {
    const event = { name: 'f', ph: 'X', ts: 0, pid: 1, tid: 1 };
    writeFileSync(
      path('endless.json'),
      JSON.stringify([
        { ...event, dur: 1e308 },
        { ...event, dur: 9 },
      ]),
    );
    await succeed('export', path('endless.json'), '--to', 'pprof', '-o', path('endless.pb'));
    assert.ok(statSync(path('endless.pb')).size < 200);
  });

  it('writes to the target of a symbolic link', async () => {
    writeFileSync(path('behind.json'), 'before');
    symlinkSync('behind.json', path('link.json'));
    symlinkSync('new.json', path('leading.json'));
    for (const [link, file] of [
      ['link.json', 'behind.json'],
      ['leading.json', 'new.json'],
    ] as const) {
      await succeed('export', tasks, '--to', 'json', '-o', path(link));
      assert.ok(lstatSync(path(link)).isSymbolicLink());
      assert.match(readFileSync(path(file), 'utf8'), /^\{\n"/);
    }
    symlinkSync(tasks, path('same'));
    const same = await longpole(['export', tasks, '--to', 'json', '-o', path('same')]);
    assert.equal(same.code, 2);
    assert.match(same.stderr, /the trace itself/);
  });

  it('ends with 2 on wrong usage and with 1 if it cannot write, and leaves no partial file', async () => {
    for (const [args, code, message] of [
      [
        ['export', tasks],
        2,
        /Pass a format: longpole export .* --to html\. The formats are: html, .*speedscope/,
      ],
      [['analyze', tasks, 'critical-path'], 2, /longpole analyze .* --analyses critical-path$/m],
      [['export', tasks, '--to', 'papyrus'], 2, /Allowed choices are .*chrome/],
      [['export', tasks, chrome, '--to', 'chrome'], 2, /several traces/],
      [['export', tasks, '--to', 'dasf', '-o', tasks], 2, /the trace itself/],
      [['export', tasks, '--to', 'chrome', '-o', path('text.txt/folder.json')], 1, /cannot be written/],
    ] as const) {
      const result = await longpole(args);
      assert.equal(result.code, code, `${args}: ${result.stderr}`);
      assert.match(result.stderr, message);
    }
    assert.ok(!existsSync(path('no')));
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('.part')),
      [],
    );
  });
});
