// The progress bar through the public API.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ProgressBar } from 'longpole/diagnostics';
import { type Graph, getMultiprocessing, getSync, getThreaded, terminateSharedPools } from 'longpole/local';
import { withFolder } from './support/programs.js';

const LINE = /^\[#{40}\] \| 100% Completed \| \d+\.\d s$/;
const add = (a: number, b: number): number => a + b;
const graph: Graph = { a: 1, b: 2, c: [add, 'a', 'b'], d: [add, 'a', 'b'], e: [add, 'c', 'd'] };
/** Keeps its isolate busy for some milliseconds. */
const busy = (milliseconds: number): void => {
  const stop = performance.now() + milliseconds;
  while (performance.now() < stop);
};

/** Keeps its isolate busy until the file exists. */
const waitForFile = (path: string, _after: unknown): void => {
  const { existsSync } = process.getBuiltinModule('node:fs');
  while (!existsSync(path));
};

class Screen {
  text = '';
  readonly isTTY: boolean;
  readonly #drawn: (percent: number) => void;
  constructor(isTTY: boolean, drawn: (percent: number) => void = () => undefined) {
    this.isTTY = isTTY;
    this.#drawn = drawn;
  }
  write(text: string): void {
    this.text += text;
    const percent = this.percents.at(-1);
    if (percent !== undefined) this.#drawn(percent);
  }
  get percents(): number[] {
    return this.lines.flatMap((line) => {
      const [, percent] = /(\d+)%/.exec(line) ?? [];
      return percent === undefined ? [] : [Number(percent)];
    });
  }
  get lines(): string[] {
    return this.text.split(/[\r\n]+/).filter((line) => line !== '');
  }
}

const schedulers: Record<string, (dsk: Graph, keys: string) => Promise<unknown>> = {
  getSync: async (dsk, keys) => getSync(dsk, keys),
  getThreaded: (dsk, keys) => getThreaded(dsk, keys, { numWorkers: 2 }),
  getMultiprocessing: (dsk, keys) => getMultiprocessing(dsk, keys, { numWorkers: 2 }),
};

after(() => terminateSharedPools());

for (const [name, get] of Object.entries(schedulers)) {
  describe(`the progress bar of ${name}`, () => {
    it('ends with the documented line', async () => {
      for (const isTTY of [true, false]) {
        const out = new Screen(isTTY);
        using bar = new ProgressBar({ out });
        await get(graph, 'e');
        assert.match(out.lines.at(-1) ?? '', LINE);
        assert.ok(out.text.endsWith('\n'));
        assert.ok(bar.lastDuration > 0);
        // An output that is no terminal gets the last line, and at most one every five seconds before.
        if (!isTTY) assert.ok(out.lines.length <= 1 + bar.lastDuration / 5, out.text);
      }
    });

    it('is redrawn while tasks run, and never moves back', async () => {
      await withFolder(async (folder) => {
        const drawn = join(folder, 'drawn');
        const out = new Screen(true, (percent) => {
          if (percent > 0 && percent < 100) writeFileSync(drawn, '');
        });
        using bar = new ProgressBar({ out, dt: 0.001 });
        const keys = Array.from({ length: 5 }, (_, i) => `t${i}`);
        const dsk = Object.fromEntries(keys.map((key): [string, unknown] => [key, [busy, 5]]));
        await get({ ...dsk, last: [waitForFile, drawn, keys] }, 'last');
        assert.deepEqual(
          out.percents,
          out.percents.toSorted((a, b) => a - b),
        );
        assert.ok(out.percents.some((percent) => percent > 0 && percent < 100));
        assert.ok(bar.lastDuration >= 0.005);
      });
    });

    it('keeps its last value after an error', async () => {
      const out = new Screen(true);
      using bar = new ProgressBar({ out });
      const fail = (): never => {
        throw new Error('boom');
      };
      await assert.rejects(get({ a: [add, 1, 2], b: [fail, 'a'] }, 'b'), /boom/);
      assert.match(out.lines.at(-1) ?? '', / \| 50% Completed \| /);
      assert.ok(out.text.endsWith('\n'));
      assert.ok(bar.lastDuration > 0);
    });

    it('prints nothing for a run that is shorter than `minimum`', async () => {
      const out = new Screen(true);
      using bar = new ProgressBar({ out, minimum: 100 });
      await get(graph, 'e');
      assert.equal(out.text, '');
      assert.ok(bar.lastDuration > 0);
    });
  });
}

describe('standard output', () => {
  const program = (body: string): string[] => [
    '--input-type=module',
    '-e',
    `import { getSync } from 'longpole/local';
     import { ProgressBar } from 'longpole/diagnostics';
     const add = (a, b) => a + b;
     new ProgressBar().register();
     ${body}`,
  ];

  it('gets one line per run if it is a pipe', async () => {
    const run = "getSync({ a: [add, 1, 2] }, 'a');";
    const { stdout } = await promisify(execFile)(process.execPath, program(run + run));
    const lines = stdout.split('\n');
    assert.equal(lines.length, 3);
    assert.match(lines[0] ?? '', LINE);
    assert.match(lines[1] ?? '', LINE);
  });

  it('does not stop the computation if its reader has closed the pipe', async () => {
    const body = `
      process.stdin.once('data', () => {
        for (let i = 0; i < 50; i++) getSync({ a: [add, i, 2] }, 'a');
        setImmediate(() => process.stderr.write('computed', () => process.exit(0)));
      });
      process.stderr.write('ready');`;
    const child = spawn(process.execPath, program(body));
    // The program may end before its last output is read.
    const exit = once(child, 'exit');
    await once(child.stderr, 'data');
    child.stdout.destroy();
    child.stdin.write('go');
    const [output] = await once(child.stderr, 'data');
    assert.equal(String(output), 'computed');
    assert.deepEqual((await exit)[0], 0);
  });
});
