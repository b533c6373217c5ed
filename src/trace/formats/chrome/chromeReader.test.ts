import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../../base/properties.test.support.js';
import { syntheticTrace } from '../../syntheticTrace.test.support.js';
import type { Trace } from '../../trace.js';
import { TraceBuilder } from '../../traceBuilder.js';
import { ChromeReader } from './chromeReader.js';
import { looksLikeChrome } from './chromeText.js';
import { chromeTrace } from './chromeWriter.js';

interface Read {
  readonly trace: Trace;
  readonly problem: string | undefined;
}

/** Feeds `bytes` in chunks of at most `size` bytes. */
function read(bytes: Uint8Array, size = bytes.length): Read {
  const builder = new TraceBuilder();
  const reader = new ChromeReader(builder);
  let held = new Uint8Array(0);
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    const chunk = new Uint8Array(held.length + part.length);
    chunk.set(held);
    chunk.set(part, held.length);
    held = chunk.slice(reader.feed(chunk, chunk.length, false));
  }
  reader.feed(held, held.length, true);
  return { trace: builder.build(), problem: reader.problem };
}

const encoded = (text: string): Uint8Array => new TextEncoder().encode(text);
const readText = (text: string): Read => read(encoded(text));
const readEvents = (...events: object[]): Trace => readText(JSON.stringify(events)).trace;

/** Returns tasks as text: function, worker, thread, start, stop. */
function tasksOf({ tasks, strings, workers }: Trace): string[] {
  return Array.from({ length: tasks.length }, (_, row) =>
    [
      strings.get(tasks.functionName[row]!),
      strings.get(workers.name[tasks.worker[row]!]!),
      tasks.thread[row],
      tasks.started[row]! * 1e6,
      Math.round(tasks.stopped[row]! * 1e6),
    ].join(' '),
  );
}

/** Returns edges as `dependency > dependent`, by function. */
function edgesOf({ tasks, strings }: Trace): string[] {
  const name = (row: number): string => strings.get(tasks.functionName[row]!);
  return Array.from({ length: tasks.length }, (_, row) =>
    Array.from(
      tasks.dependencyRows.subarray(tasks.dependencyOffsets[row]!, tasks.dependencyOffsets[row + 1]!),
      (needed) => `${name(needed)} > ${name(row)}`,
    ),
  ).flat();
}

const x = (name: string, pid: number, tid: number, ts: number, dur: number, more: object = {}): object => ({
  name,
  ph: 'X',
  pid,
  tid,
  ts,
  dur,
  ...more,
});

describe('events of other programs', () => {
  it('complete events become tasks in the order of their ends', () => {
    const trace = readEvents(x('b', 1, 7, 50, 100), x('a', 1, 5, 10, 20), x('c', 2, 5, 200, 0.5));
    assert.deepEqual(tasksOf(trace), ['a 1 1 10 30', 'b 1 0 50 150', 'c 2 0 200 201']);
    assert.deepEqual(
      Array.from({ length: 3 }, (_, row) => trace.tasks.keyOf(row)),
      ["('a', 1)", "('b', 0)", "('c', 2)"],
    );
  });

  it('the argument `key` becomes the key', () => {
    assert.equal(readEvents(x('f', 1, 1, 0, 1, { args: { key: 'f-12' } })).tasks.keyOf(0), 'f-12');
  });

  it('begin and end events nest on their thread', () => {
    const event = (ph: string, tid: number, ts: number, name?: string): object => ({
      ph,
      pid: 1,
      tid,
      ts,
      name,
    });
    const trace = readEvents(
      event('B', 1, 0, 'outer'),
      event('B', 1, 10, 'inner'),
      event('B', 2, 11, 'other'),
      event('E', 1, 20),
      event('E', 2, 21, 'other'),
      event('E', 1, 30),
      event('E', 1, 40, 'unmatched'),
      event('B', 1, 50, 'never ends'),
    );
    assert.deepEqual(tasksOf(trace), ['inner 1 0 10 20', 'other 1 1 11 21', 'outer 1 0 0 30']);
  });

  it('async events are matched by category, id and name', () => {
    const event = (ph: string, id: object, ts: number): object => ({
      ph,
      name: 'get',
      cat: 'net',
      pid: 1,
      tid: 1,
      ts,
      ...id,
    });
    const trace = readEvents(
      event('b', { id: '0x1' }, 0),
      event('b', { id: 2 }, 1),
      event('e', { id: '0x1' }, 10),
      event('e', { id: 2 }, 5),
      event('b', { id2: { local: 1 } }, 20),
      event('e', { id2: { local: 1 } }, 30),
      event('e', { id: 'unknown' }, 31),
    );
    assert.deepEqual(tasksOf(trace), ['get 1 -1 1 5', 'get 1 -1 0 10', 'get 1 -1 20 30']);
  });

  it('names of processes may appear at the end and repeatedly', () => {
    const name = (pid: number): object => ({
      ph: 'M',
      name: 'process_name',
      pid,
      args: { name: 'Renderer' },
    });
    const trace = readEvents(x('a', 1, 1, 0, 1), x('b', 2, 1, 1, 1), x('c', 3, 1, 2, 1), name(1), name(3));
    assert.deepEqual(tasksOf(trace), ['a Renderer 0 0 1', 'b 2 0 1 2', 'c Renderer (3) 0 2 3']);
  });

  it('counters of one time form a row of figures', () => {
    const c = (name: string, ts: number, args: object): object => ({ ph: 'C', name, pid: 1, ts, args });
    const { resources } = readEvents(
      c('memory', 1, { rss: 5, heap: '7' }),
      c('cpu', 1, { cpu: 50 }),
      c('load', 2, { value: 1.5, words: 'many' }),
    );
    assert.deepEqual([...resources.time], [1e-6, 2e-6]);
    assert.deepEqual(Object.fromEntries(resources.figures), {
      'memory.rss': new Float64Array([5, Number.NaN]),
      'memory.heap': new Float64Array([7, Number.NaN]),
      cpu: new Float64Array([50, Number.NaN]),
      load: new Float64Array([Number.NaN, 1.5]),
    });
  });

  it('instants become events with their arguments as text', () => {
    const { events, strings } = readEvents(
      { ph: 'i', s: 'g', name: 'gc', pid: 1, ts: 5, args: { why: 'full', text: 'major' } },
      { ph: 'I', name: 'mark', pid: 1, ts: 6, args: { n: 1 } },
      { ph: 'R', name: 'bare', pid: 1, ts: 7 },
    );
    assert.deepEqual(
      Array.from(events.topic, (id) => strings.get(id)),
      ['gc', 'mark', 'bare'],
    );
    assert.deepEqual(
      Array.from(events.text, (id) => (id < 0 ? null : strings.get(id))),
      ['major', '{"n":1}', null],
    );
  });

  it('whole numbers of any size identify asynchronous events', () => {
    const event = (ph: string, id: string, ts: number): string =>
      `{"ph":"${ph}","name":"get","id":${id},"ts":${ts},"pid":1,"tid":1}`;
    const [first, second] = ['12345678901234567', '12345678901234568'];
    const events = [
      event('b', first, 0),
      event('b', second, 1),
      event('e', first, 10),
      event('e', second, 5),
    ];
    assert.deepEqual(tasksOf(readText(`[${events.join()}]`).trace), ['get 1 -1 1 5', 'get 1 -1 0 10']);
  });

  it('NaN, Infinity and bare tabs, which JSON forbids, do not damage an event', () => {
    const { trace } = readText(
      '[{"ph":"X","name":"a\tb","ts":1,"dur":2,"pid":1,"args":{"x":NaN,"y":[-Infinity]}}]',
    );
    assert.equal(trace.tasks.length, 1);
    assert.equal(trace.damage, undefined);
  });

  it('phases without a table are counted, texts with escapes are decoded, numbers may be in quotes', () => {
    const trace = readText(
      '[{"ph":"O","ts":1},{"ph":"X","name":"a\\u0062\\n","ts":"1.5","dur":2e0,"pid":"p"}]',
    ).trace;
    assert.equal(trace.eventCount, 2);
    assert.deepEqual(tasksOf(trace), ['ab\n p 0 1.5 4']);
    assert.equal(trace.damage, undefined);
  });
});

describe('flows are dependencies', () => {
  const flow = (ph: string, id: number, pid: number, ts: number, more: object = {}): object => ({
    ph,
    id,
    cat: 'flow',
    name: 'flow',
    pid,
    tid: 1,
    ts,
    ...more,
  });
  const slices = [x('a', 1, 1, 0, 10), x('b', 2, 1, 20, 10), x('c', 3, 1, 40, 10), x('inner', 1, 1, 4, 2)];

  it('a flow leads from the innermost slice around its start to the slice around its end', () => {
    const trace = readEvents(...slices, flow('s', 1, 1, 5), flow('f', 1, 2, 20, { bp: 'e' }));
    assert.deepEqual(edgesOf(trace), ['inner > b']);
  });

  it('an end without a binding point belongs to the next slice', () => {
    const trace = readEvents(
      ...slices,
      flow('s', 1, 1, 8),
      flow('f', 1, 3, 15),
      flow('s', 2, 1, 9),
      flow('f', 2, 2, 20),
    );
    assert.deepEqual(edgesOf(trace), ['a > b', 'a > c']);
  });

  it('steps form a chain; several ends fan out', () => {
    const ends = [flow('f', 1, 3, 41, { bp: 'e' }), flow('t', 1, 2, 25), flow('s', 1, 1, 9)];
    assert.deepEqual(edgesOf(readEvents(...slices, ...ends)), ['a > b', 'b > c']);
    const fan = [flow('s', 1, 1, 9), flow('f', 1, 2, 21, { bp: 'e' }), flow('f', 1, 3, 41, { bp: 'e' })];
    assert.deepEqual(edgesOf(readEvents(...slices, ...fan)), ['a > b', 'a > c']);
  });

  it('points outside of slices give no edge', () => {
    const trace = readEvents(
      ...slices,
      flow('s', 1, 1, 15),
      flow('f', 1, 2, 20, { bp: 'e' }),
      flow('f', 9, 2, 22),
    );
    assert.deepEqual(edgesOf(trace), []);
  });
});

describe('variants of the text', () => {
  const events = [x('a', 1, 1, 0, 1), x('b', 1, 1, 2, 1), x('c', 1, 1, 4, 1)];
  const array = JSON.stringify(events);
  const around = { otherData: { deep: [{ a: '}]"' }] }, traceEvents: events, displayTimeUnit: 'ms' };
  for (const [what, text] of [
    ['an array', array],
    ['an object', JSON.stringify({ traceEvents: events })],
    ['an object with other fields', JSON.stringify(around)],
    ['indented', JSON.stringify(around, null, 2)],
    ['with a byte order mark', `\ufeff${array}`],
    ['an array without its end', array.slice(0, -1)],
    [
      'one line per event and a trailing comma',
      `[\n${events.map((one) => `${JSON.stringify(one)},\n`).join('')}`,
    ],
  ] as const) {
    it(`${what}, in chunks of any size`, () => {
      assert.ok(looksLikeChrome(encoded(text)));
      for (const size of [text.length * 2, 7, 1]) {
        const { trace, problem } = read(encoded(text), size);
        assert.equal(trace.tasks.length, 3);
        assert.equal(trace.damage, undefined);
        assert.equal(problem, undefined);
      }
    });
  }

  it('a truncated object is reported, also between two events', () => {
    const text = JSON.stringify({ traceEvents: events });
    assert.deepEqual(readText(text.slice(0, -2)).trace.damage, {
      stretches: 1,
      bytes: 0,
      offset: text.length - 2,
      reason: 'the end of the text is missing',
    });
    const torn = readText(text.slice(0, -10)).trace;
    assert.equal(torn.tasks.length, 2);
    assert.equal(torn.damage?.reason, 'the last event is not complete');
    assert.equal((torn.damage?.offset ?? 0) + (torn.damage?.bytes ?? 0), text.length - 10);
  });

  it('reading continues after damage', () => {
    const lines = events.map((one) => JSON.stringify(one));
    const text = `[${lines[0]},${lines[1]!.replace('"ph"', '"ph')},${lines[2]}]`;
    const { trace } = readText(text);
    assert.deepEqual(tasksOf(trace), ['a 1 0 0 1', 'c 1 0 4 5']);
    assert.equal(trace.damage?.stretches, 1);
    assert.equal(trace.damage?.offset, 1 + lines[0]!.length + 1);
  });

  it('an event of more than 16 MB is skipped; other fields may have any size', () => {
    const big = 'x'.repeat(17e6);
    const { trace } = read(
      encoded(`{"big":"${big}","traceEvents":[{"ph":"X","args":"${big}"},${array.slice(1)}}`),
      1 << 20,
    );
    assert.equal(trace.tasks.length, 3);
    assert.ok((trace.damage?.bytes ?? 0) > 17e6);
  });

  it('a text that is no trace is reported', () => {
    assert.match(
      readText('{"nodes":[],"samples":[1]}').problem ?? '',
      /the fields nodes, samples, but without traceEvents/,
    );
    assert.match(readText('[{"a":1}]').problem ?? '', /no event with a phase/);
    assert.match(readText('{"traceEvents":{}}').problem ?? '', /without traceEvents/);
    assert.equal(readText('[]').problem, undefined);
    for (const text of ['', 'ts,dur\n1,2', '[1,2]', '{1', '"a"'])
      assert.ok(!looksLikeChrome(encoded(text)), text);
  });
});

describe('damaged texts', () => {
  const trace = syntheticTrace({
    tasks: Array.from({ length: 12 }, (_, i) => ({
      key: `load-${i}`,
      started: i,
      stopped: i + 0.5,
      worker: `w${i % 3}`,
      needs: i < 3 ? [] : [`load-${i - 3}`],
    })),
    memory: [{ worker: 'w0', time: 1, managed: 5, tasks: 1 }],
    events: [{ time: 2, topic: 'note', text: 'a "quoted" text' }],
  });
  const own = encoded([...chromeTrace(trace)].join(''));
  const foreign = encoded(
    JSON.stringify([
      x('a', 1, 1, 0, 9),
      { ph: 's', id: 1, ts: 1, pid: 1, tid: 1 },
      x('b', 1, 2, 9, 1),
      { ph: 'f', id: 1, ts: 9, pid: 1, tid: 2 },
    ]),
  );
  const texts = fc.constantFrom(own, foreign);

  /** Checks properties of any trace. */
  function check({ trace: { tasks, workers, damage } }: Read, length: number): void {
    assert.ok(tasks.length <= 12);
    assert.ok(workers.length <= 40);
    for (const row of tasks.dependencyRows) assert.ok(row < tasks.length);
    if (damage !== undefined) assert.ok(damage.bytes <= length && damage.offset <= length);
  }

  it('truncated anywhere: the events before the cut are read', () => {
    fc.assert(
      fc.property(texts, fc.nat(), fc.integer({ min: 1, max: 500 }), (text, cut, size) => {
        const length = cut % text.length;
        const result = read(text.subarray(0, length), size);
        check(result, length);
        const whole = [
          ...new TextDecoder().decode(text.subarray(0, length)).matchAll(/"ph":"X"[^\n]*}(?=,|\n)/g),
        ];
        if (text === own) assert.ok(result.trace.tasks.length >= whole.length - 1);
      }),
    );
  });

  it('with flipped bits: a trace or a problem, in any chunks', () => {
    const flips = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 7 })), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(texts, flips, fc.integer({ min: 1, max: 500 }), (text, turned, size) => {
        const damaged = Uint8Array.from(text);
        for (const [at, bit] of turned) damaged[at % damaged.length]! ^= 1 << bit;
        const inChunks = read(damaged, size);
        check(inChunks, damaged.length);
        const atOnce = read(damaged);
        assert.deepEqual(tasksOf(inChunks.trace), tasksOf(atOnce.trace));
        assert.deepEqual(inChunks.trace.damage, atOnce.trace.damage);
      }),
      { numRuns: 150 },
    );
  });

  it('nested deeply: stack and time stay bounded', () => {
    for (const part of ['{"args":', '[{"name":[', '{"ph":"X","args":{"a":[']) {
      const { trace: read1 } = readText(`[${part.repeat(50_000)}`);
      assert.equal(read1.tasks.length, 0);
    }
  });
});
