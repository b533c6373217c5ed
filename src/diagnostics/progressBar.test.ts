import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import type { Graph } from '../protocol/graph.js';
import { fakeGet } from './fakeEngine.test.support.js';
import { ProgressBar } from './progressBar.js';
import { formatTime, progressLine } from './progressLine.js';

const add = (a: number, b: number): number => a + b;
const graph: Graph = { a: 1, b: 2, c: [add, 'a', 'b'], d: [add, 'a', 'b'], e: [add, 'c', 'd'] };
const FULL = `[${'#'.repeat(40)}] | 100% Completed | `;

/** Collects written texts. */
class Collected {
  text = '';
  readonly writes: string[] = [];
  readonly isTTY: boolean;
  readonly columns: number | undefined;

  constructor(isTTY: boolean, columns?: number) {
    this.isTTY = isTTY;
    this.columns = columns;
  }

  write(text: string): void {
    this.writes.push(text);
    this.text += text;
  }
}

/** A graph of `count` tasks in a chain; each calls `each`. */
function chain(count: number, each: (i: number) => void): Graph {
  const step = (i: number): number => {
    each(i);
    return i;
  };
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`t${i}`, [step, i, ...(i > 0 ? [`t${i - 1}`] : [])]]),
  );
}

describe('the line', () => {
  it('is the documented one', () => {
    const line = progressLine({ finished: 5, size: 5, seconds: 17.1, width: 40 });
    assert.equal(line, '[########################################] | 100% Completed | 17.1 s');
    const part = progressLine({ finished: 29, size: 100, seconds: 0.04, width: 10 });
    assert.equal(part, '[##        ] | 29% Completed | 0.0 s');
    assert.equal(
      progressLine({ finished: 0, size: 0, seconds: 1, width: 4 }),
      '[####] | 100% Completed | 1.0 s',
    );
  });

  it('fits into a narrow terminal', () => {
    const line = progressLine({ finished: 1, size: 2, seconds: 1, width: 40, columns: 40 });
    assert.equal(line, '[######       ] | 50% Completed | 1.0 s');
    assert.equal(line.length, 39);
  });

  it('has times in hours, minutes and seconds', () => {
    const cases: [number, string][] = [
      [0, '0.0 s'],
      [1.44, '1.4 s'],
      [59.96, '1min 0.0 s'],
      [100.4, '1min 40.4 s'],
      [1000.4, '16min 40.4 s'],
      [10000.4, '2hr 46min 40.4 s'],
    ];
    for (const [seconds, text] of cases) assert.equal(formatTime(seconds), text);
  });
});

describe('ProgressBar', () => {
  let now = 0;
  beforeEach(() => {
    now = 0;
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => mock.restoreAll());

  it('ends with a full bar and a new line', () => {
    for (const isTTY of [true, false]) {
      const out = new Collected(isTTY);
      using bar = new ProgressBar({ out });
      assert.equal(bar.lastDuration, 0);
      fakeGet(
        chain(3, () => (now += 100)),
        't2',
      );
      assert.equal(out.text.split(/[\r\n]/).at(-2), `${FULL}0.3 s`);
      assert.ok(out.text.endsWith('\n'));
      assert.equal(bar.lastDuration, 0.3);
    }
  });

  it('redraws a terminal every dt', () => {
    const out = new Collected(true);
    using bar = new ProgressBar({ out, dt: 0.5, width: 10 });
    void bar;
    fakeGet(
      chain(10, () => (now += 100)),
      't9',
      { batch: 1 },
    );
    assert.deepEqual(out.writes, [
      '\r[          ] | 0% Completed | 0.0 s',
      '\r[#####     ] | 50% Completed | 0.5 s',
      '\r[##########] | 100% Completed | 1.0 s',
      '\r[##########] | 100% Completed | 1.0 s',
      '\n',
    ]);
  });

  it('writes little to a log', () => {
    const quick = new Collected(false);
    fakeGet(
      chain(1000, () => (now += 1)),
      't999',
      { callbacks: new ProgressBar({ out: quick, dt: 0.001 }), batch: 1 },
    );
    assert.deepEqual(quick.writes, [`${FULL}1.0 s\n`]);
    const slow = new Collected(false);
    fakeGet(
      chain(1000, () => (now += 100)),
      't999',
      { callbacks: new ProgressBar({ out: slow }), batch: 1 },
    );
    assert.equal(slow.writes.length, 10, 'a line every 10 %');
    assert.equal(slow.writes[0], `[####${' '.repeat(36)}] | 10% Completed | 10.0 s\n`);
    assert.ok(!slow.text.includes('\r'));
  });

  it('shows nothing below minimum, but records the duration', () => {
    for (const isTTY of [true, false]) {
      const out = new Collected(isTTY);
      using bar = new ProgressBar({ out, minimum: 1 });
      fakeGet(
        chain(3, () => (now += 300)),
        't2',
        { batch: 1 },
      );
      assert.equal(out.text, '');
      assert.ok(Math.abs(bar.lastDuration - 0.9) < 1e-9);
      fakeGet(
        chain(4, () => (now += 300)),
        't3',
        { batch: 1 },
      );
      assert.match(out.text, /100% Completed \| 1\.2 s\n$/);
    }
  });

  it('keeps its last state after an error', () => {
    const failing = chain(4, (i) => {
      if (i === 2) throw new Error('boom');
    });
    for (const isTTY of [true, false]) {
      const out = new Collected(isTTY);
      using bar = new ProgressBar({ out, width: 8 });
      void bar;
      assert.throws(() => fakeGet(failing, 't3'), /boom/);
      assert.match(out.text, /\[#### {4}\] \| 50% Completed \| 0\.0 s\n$/);
    }
  });

  it('completes a run without tasks', () => {
    const out = new Collected(false);
    fakeGet(graph, 'a', { callbacks: new ProgressBar({ out }) });
    assert.equal(out.text, `${FULL}0.0 s\n`);
  });

  it('erases the rest of a longer line', () => {
    const out = new Collected(true, 30);
    using bar = new ProgressBar({ out, dt: 0.1, width: 4 });
    void bar;
    const pause = chain(1, () => (now += 60_000));
    fakeGet(pause, 't0');
    const lines = out.text.split(/[\r\n]/).filter((line) => line !== '');
    assert.ok(lines.every((line, i) => i === 0 || line.length >= lines[i - 1]!.length));
  });

  it('works while registered', () => {
    const out = new Collected(false);
    const bar = new ProgressBar({ out });
    bar.register();
    fakeGet(graph, 'e');
    bar.unregister();
    fakeGet(graph, 'e');
    assert.equal(out.writes.length, 1);
  });

  it('rejects invalid options', () => {
    const wrong: object[] = [{ minimum: -1 }, { width: 0 }, { width: 1.5 }, { dt: 0 }, { out: {} }];
    for (const options of wrong) {
      assert.throws(() => new ProgressBar(options), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
    }
  });
});

describe('a broken output', () => {
  const failWith = (error: Error) => ({
    write(): never {
      throw error;
    },
  });
  const epipe = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });

  it('that throws ends the run with its error', () => {
    assert.throws(
      () => fakeGet(graph, 'e', { callbacks: new ProgressBar({ out: failWith(new Error('full')) }) }),
      /full/,
    );
  });

  it('that throws EPIPE ends the drawing only', () => {
    assert.deepEqual(fakeGet(graph, 'e', { callbacks: new ProgressBar({ out: failWith(epipe) }) }), [6]);
  });

  it('that reports EPIPE by an event ends the drawing only, and keeps no listener', async () => {
    const out = new Writable({ write: (_chunk, _encoding, done) => done(epipe) });
    assert.deepEqual(fakeGet(graph, 'e', { callbacks: new ProgressBar({ out }) }), [6]);
    await new Promise((resolve) => out.once('close', resolve));
    await new Promise(setImmediate);
    assert.equal(out.listenerCount('error'), 0);
  });

  it('that reports another error by an event ends the run with it', () => {
    const listeners: ((error: Error) => void)[] = [];
    const out = {
      isTTY: true,
      on: (_event: 'error', listener: (error: Error) => void) => listeners.push(listener),
      write: () => listeners[0]?.(new Error('disk full')),
    };
    assert.throws(() => fakeGet(graph, 'e', { callbacks: new ProgressBar({ out }) }), /disk full/);
  });
});

it('an output with a listener of each of many threads causes no warning', async () => {
  const out = new Writable({ write: (_chunk, _encoding, done) => done() });
  out.setMaxListeners(0);
  for (let thread = 0; thread < 20; thread++) out.on('error', () => undefined);
  out.setMaxListeners(10);
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  assert.deepEqual(fakeGet(graph, 'e', { callbacks: new ProgressBar({ out }) }), [6]);
  await new Promise(setImmediate);
  process.off('warning', note);
  assert.deepEqual([warnings, out.getMaxListeners()], [[], 10]);
});

describe('while the main thread is blocked', () => {
  it('another thread redraws a terminal', { timeout: 300_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'longpole-progress-'));
    const file = join(folder, 'terminal');
    const fd = openSync(file, 'a');
    try {
      const out = { isTTY: true, fd, write: (text: string) => writeSync(fd, text) };
      const pause = new Int32Array(new SharedArrayBuffer(4));
      const drawings = (): string[] => readFileSync(file, 'utf8').split('\r').slice(1);
      const untilDrawn = (count: number): void => {
        while (drawings().length < count) Atomics.wait(pause, 0, 0, 5);
      };
      let drawn = 0;
      for (let run = 0; run < 2; run++) {
        // One task that blocks this thread until the bar has been drawn three more times.
        fakeGet({ long: [() => untilDrawn(drawn + 3)] }, 'long', {
          callbacks: new ProgressBar({ out, dt: 0.01, width: 4 }),
        });
        assert.match(drawings().at(-1) ?? '', /^\[####\] \| 100% Completed \| \d+\.\d s\n$/);
        assert.match(drawings()[drawn + 1] ?? '', /^\[ {4}\] \| 0% Completed \| \d+\.\d s$/);
        drawn = drawings().length;
      }
      Atomics.wait(pause, 0, 0, 50);
      assert.equal(drawings().length, drawn, 'nothing is drawn between runs');
    } finally {
      closeSync(fd);
      rmSync(folder, { recursive: true });
    }
  });
});
