import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TASK_STATES } from '../../../protocol/clusterObserver.js';
import { syntheticTrace } from '../../syntheticTrace.test.support.js';
import type { Trace } from '../../trace.js';
import { TraceBuilder } from '../../traceBuilder.js';
import { ChromeReader } from './chromeReader.js';
import { chromeTrace } from './chromeWriter.js';

function reread(trace: Trace): Trace {
  const bytes = new TextEncoder().encode([...chromeTrace(trace)].join(''));
  const builder = new TraceBuilder();
  const reader = new ChromeReader(builder);
  reader.feed(bytes, bytes.length, true);
  assert.equal(reader.problem, undefined);
  return builder.build();
}

/** Returns a trace with rows in all tables, at times since the epoch. */
function everything(t: number): Trace {
  return syntheticTrace({
    workers: [
      { name: 'w0', host: 'alpha', threads: 2, memoryLimit: 1e9, started: t },
      { name: 'w1', host: 'beta', threads: 1, started: t + 0.5, stopped: t + 9.25 },
    ],
    tasks: [
      {
        key: 'load-1',
        started: t + 1.000001,
        stopped: t + 2.1234567,
        worker: 'w0',
        thread: 1,
        nbytes: 5e9,
        resultType: 'Float64Array',
      },
      {
        key: "('load-2', 0)",
        started: t + 1.5,
        stopped: t + 2.5,
        worker: 'w1',
        span: 'Alice / load',
        group: 'load-2',
      },
      {
        key: 'add "x" \\ ü-3',
        started: t + 3,
        stopped: t + 3,
        worker: 'w0',
        needs: ['load-1', "('load-2', 0)", 'scattered'],
        ready: t + 2.6,
      },
      {
        key: 'add-4',
        started: t + 3.1,
        stopped: t + 3.2,
        worker: 'w1',
        needs: ['load-1'],
        state: 'erred',
        attempt: 2,
        prefix: 'ADD',
      },
      {
        key: 'overlap',
        started: t + 3.15,
        stopped: t + 3.3,
        worker: 'w1',
        functionName: 'f',
        dispatched: t + 3.12,
      },
      { key: 'lost-5', started: Number.NaN, stopped: Number.NaN, worker: 'w1', state: 'lost' },
    ],
    transfers: [
      {
        worker: 'w1',
        peer: 'w0',
        what: 'gather-dep',
        direction: 'incoming',
        keys: ['load-1'],
        nbytes: 100,
        compressed: 50,
        start: t + 2.9,
        stop: t + 3,
      },
      { worker: 'w0', nbytes: 8, start: t + 4, stop: t + 4.5 },
    ],
    intervals: [
      {
        worker: 'w0',
        action: 'disk-write',
        start: t + 2,
        stop: t + 2.25,
        task: 'load-1',
        nbytes: 7,
        thread: 1,
      },
      { worker: 'w0', action: 'gc', start: t + 2.1, stop: t + 2.15 },
    ],
    memory: [
      { worker: 'w0', time: t + 1, managed: 10, unmanaged: 20, spilled: 0, process: 40, tasks: 1 },
      { worker: 'w0', time: t + 2, managed: 11, tasks: 2 },
      { worker: 'w1', time: t + 2, managed: 0 },
    ],
    resources: [
      { time: t + 1, worker: 'w0', figures: { cpu: 99.5, rss: 1234567 } },
      { time: t + 1, figures: { cpu: 12, memory: 7, 'host_net_io.read_bps': 3, gpu_utilization: 50 } },
    ],
    events: [
      { time: t + 2, worker: 'w1', topic: 'pause', text: 'memory is full' },
      { time: t + 3, topic: 'note', text: '' },
    ],
  });
}

const CLOCKS = [
  ['since the epoch', 1_700_000_000.25],
  ['from zero', 0],
  ['of another clock', 12345.678901234],
] as const;

/** Returns tasks of one thread without gaps; the shortest have no duration. */
function chain(t: number): Trace {
  let now = t;
  return syntheticTrace({
    tasks: Array.from({ length: 10_000 }, (_, i) => {
      const started = now;
      now += (i % 3) * 1e-9 + (i % 50 === 0 ? 0 : ((i * 7919) % 10_007) * 31.7e-9);
      return { key: `inc-${i}`, started, stopped: now };
    }),
  });
}

/** Perfetto's conversions from microseconds to nanoseconds. */
const NANOSECONDS = [
  ['truncates', (microseconds: number) => Math.trunc(microseconds * 1e3)],
  ['rounds', (microseconds: number) => Math.round(microseconds * 1e3)],
] as const;

describe('rows without a time', () => {
  it('are left out, so that the file stays JSON', () => {
    const trace = syntheticTrace({
      tasks: [{ key: 'a-1', started: 1, stopped: 2 }],
      intervals: [{ worker: 'w0', action: 'gc', start: 1, stop: Number.NaN }],
      transfers: [{ worker: 'w0', keys: [], nbytes: 1, start: Number.NaN, stop: 2 }],
      memory: [{ worker: 'w0', time: Number.NaN, managed: 1 }],
      resources: [{ time: Number.NaN, figures: { cpu: 1 } }],
    });
    const text = [...chromeTrace(trace)].join('');
    assert.ok(typeof JSON.parse(text) === 'object' && !text.includes('"ph":"C"'));
    assert.equal(text.match(/"ph":"X"/g)?.length, 1);
    assert.equal(reread(trace).damage, undefined);
  });
});

describe('consecutive tasks without gaps', () => {
  for (const [what, t] of CLOCKS) {
    const trace = chain(t);
    const text = [...chromeTrace(trace)].join('');
    const slices: Record<'ts' | 'dur', number>[] = JSON.parse(text).traceEvents.filter(
      ({ ph }: Record<'ph', string>) => ph === 'X',
    );

    for (const [how, nanoseconds] of NANOSECONDS)
      it(`do not overlap for a viewer that ${how}, at times ${what}`, () => {
        const overlapping = slices.filter(({ ts }, i) => {
          const before = slices[i - 1];
          return before !== undefined && nanoseconds(before.ts) + nanoseconds(before.dur) > nanoseconds(ts);
        });
        assert.equal(slices.length, 10_000);
        assert.deepEqual(overlapping, []);
      });

    it(`are drawn with their duration up to two nanoseconds, at times ${what}`, () => {
      const { duration } = trace.tasks;
      for (const [i, { dur }] of slices.entries()) assert.ok(Math.abs(dur - duration[i]! * 1e6) < 2e-3);
    });
  }
});

describe('a trace written as Chrome Trace JSON and read again', () => {
  for (const [what, t] of CLOCKS) {
    it(`has the tasks, and no task for an interval or a transfer, at times ${what}`, () => {
      const trace = reread(everything(t));
      const { tasks, strings, workers, resources, events } = trace;
      assert.equal(trace.damage, undefined);
      const origin = Math.floor(t + 1);
      const micros = (seconds: number): number => Math.round((seconds + origin - t) * 1e6);
      const rows = Array.from({ length: tasks.length }, (_, row) => {
        const key = tasks.keyOf(row).replace(/^\('(.*)', \d+\)$/, '$1');
        const worker = strings.get(workers.name[tasks.worker[row]!]!);
        return `${key} on ${worker}: ${micros(tasks.started[row]!)} to ${micros(tasks.stopped[row]!)}`;
      });
      const edges = Array.from({ length: tasks.length }, (_, row) =>
        Array.from(
          tasks.dependencies.subarray(tasks.dependencyOffsets[row]!, tasks.dependencyOffsets[row + 1]!),
          (key) => `${trace.keys.get(key)} > ${tasks.keyOf(row)}`,
        ),
      ).flat();
      assert.deepEqual(rows, [
        'load-1 on w0: 1000001 to 2123457',
        'load-2 on w1: 1500000 to 2500000',
        'add "x" \\ ü-3 on w0: 3000000 to 3000000',
        'add-4 on w1: 3100000 to 3200000',
        'overlap on w1: 3150000 to 3300000',
      ]);
      assert.deepEqual(edges, [
        'load-1 > add "x" \\ ü-3',
        `('load-2', 0) > add "x" \\ ü-3`,
        'load-1 > add-4',
      ]);
      const figure = (name: string): number[] =>
        [...(resources.figures.get(name) ?? [])].filter(Number.isFinite);
      assert.deepEqual(figure('memory.managed'), [10, 11, 0]);
      assert.deepEqual(figure('cpu'), [99.5, 12]);
      assert.deepEqual(
        Array.from(events.topic, (id) => strings.get(id)),
        ['lost', 'pause', 'note'],
      );
    });
  }

  it('has the failures and prefixes of tasks', () => {
    const trace = reread(
      syntheticTrace({
        tasks: [
          { key: 'load-1', started: 0, stopped: 1 },
          { key: 'load-2', started: 1, stopped: 2, state: 'erred', attempt: 1 },
          { key: 'load-2', started: 2, stopped: 3, attempt: 2 },
          { key: 'load-3', started: 3, stopped: 5, state: 'lost' },
          { key: 'add-1', started: 5, stopped: 6, prefix: 'add', functionName: 'lambda' },
        ],
      }),
    );
    const states = Array.from(trace.tasks.state, (state) => TASK_STATES[state]);
    assert.deepEqual(states, ['memory', 'erred', 'memory', 'lost', 'memory']);
    assert.deepEqual([...trace.totals.prefixes.keys()], ['load', 'add']);
    assert.equal(trace.totals.prefixes.get('load')?.erred, 1);
  });
});
