import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../../base/properties.test.support.js';
import type { Trace } from '../../trace.js';
import { TraceBuilder } from '../../traceBuilder.js';
import { addEvent } from './dasfEventRows.js';
import {
  CompleteEvent,
  type DasfEvent,
  DurationBeginEvent,
  DurationEndEvent,
  EventPhases,
  InstantEvent,
  PhaseEvent,
} from './dasfEvents.js';
import { type ByteReader, DasfEventReader, DasfReader } from './dasfReader.js';
import { DasfEncoder } from './dasfWriter.js';

const number = fc.double({ noNaN: true }).map((value) => value + 0); // no -0, which is an integer to msgpack
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const name = text.filter((one) => one !== '__proto__');
const time = fc.double({ noNaN: true, noDefaultInfinity: true });
const origin = fc.oneof(text, fc.nat(), fc.constant(null));
const keys = fc.array(text, { maxLength: 20 });
const compute = fc
  .record(
    {
      key: text,
      name: text,
      state: text,
      size: fc.nat(),
      shape: fc.array(fc.nat()),
      dtype: text,
      type: text,
      dependencies: keys,
      dependents: keys,
    },
    { noNullPrototype: true },
  )
  .chain((args) =>
    fc
      .tuple(time, fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), origin, origin)
      .map(
        ([at, seconds, processId, threadId]) =>
          new CompleteEvent('Compute', at, seconds, { processId, threadId, args }),
      ),
  );
const memory = fc.tuple(time, origin, origin, text, fc.maxSafeNat(), fc.nat()).map(
  ([at, processId, threadId, key, size, tasks]) =>
    new InstantEvent('Managed Memory', at, {
      processId,
      threadId,
      args: { key, state: 'memory', size, tasks },
    }),
);
const resource = fc
  .tuple(time, text, fc.dictionary(name, number, { noNullPrototype: true }))
  .map(
    ([at, processId, args]) => new InstantEvent('Resource Usage', at, { processId, threadId: null, args }),
  );
const other = fc
  .tuple(
    text,
    time,
    fc.constantFrom(...Object.values(EventPhases)),
    fc.dictionary(name, fc.oneof(text, fc.nat(), keys), { noNullPrototype: true }),
  )
  .map(([name, at, phase, args]) => {
    if (phase === EventPhases.COMPLETE) return new CompleteEvent(name, at, 0.5, { args });
    if (phase === EventPhases.INSTANT) return new InstantEvent(name, at, { args, scope: 't' });
    if (phase === EventPhases.DURATION_BEGIN) return new DurationBeginEvent(name, at, { args });
    if (phase === EventPhases.DURATION_END) return new DurationEndEvent(name, at, { args });
    return new PhaseEvent(phase, name, at, { args });
  });
const events: fc.Arbitrary<DasfEvent[]> = fc.array(fc.oneof(compute, memory, resource, other), {
  maxLength: 12,
});

function encoded(list: readonly DasfEvent[]): Uint8Array<ArrayBuffer> {
  const encoder = new DasfEncoder();
  for (const event of list) encoder.add(event);
  return Uint8Array.from(encoder.bytes);
}

/** Feeds bytes in pieces of `size`, as if reading a file. */
function feed(reader: ByteReader, bytes: Uint8Array<ArrayBuffer>, size: number): void {
  let from = 0;
  for (let to = 0; ; to = Math.min(bytes.length, to + size)) {
    const last = to === bytes.length;
    from += reader.feed(bytes.slice(from, to), to - from, last);
    if (last) return;
  }
}

function opened(bytes: Uint8Array<ArrayBuffer>, size = 1 << 20): Trace {
  const builder = new TraceBuilder();
  feed(new DasfReader(builder), bytes, size);
  return builder.build();
}

function readEvents(bytes: Uint8Array<ArrayBuffer>, size = 1 << 20): DasfEvent[] {
  const reader = new DasfEventReader();
  feed(reader, bytes, size);
  return reader.take();
}

/** Returns all columns with texts instead of ids, because the order of strings differs between traces. */
function plain({ strings, workers, tasks, memory: held, resources, eventCount }: Trace): unknown {
  const text = (id: number): string | null => (id < 0 ? null : strings.get(id));
  const cells = (table: object): unknown =>
    Object.entries(table).map(([name, column]: [string, unknown]) => {
      if (!(column instanceof Int32Array) || name.endsWith('Offsets'))
        return [name, column instanceof Map ? [...column] : column];
      if (name === 'dependencyRows') return [name, column];
      return [name, Array.from(column, (id) => text(name === 'worker' ? (workers.name[id] ?? -1) : id))];
    });
  const columns = {
    key: tasks.key,
    functionName: tasks.functionName,
    recordedName: tasks.recordedName,
    host: tasks.host,
    worker: tasks.worker,
    device: tasks.device,
    started: tasks.started,
    stopped: tasks.stopped,
    duration: tasks.duration,
    nbytes: tasks.nbytes,
    resultType: tasks.resultType,
    dtype: tasks.dtype,
    shape: tasks.shape,
    dependencyOffsets: tasks.dependencyOffsets,
    dependencies: tasks.dependencies,
    dependencyRows: tasks.dependencyRows,
    dependentOffsets: tasks.dependentOffsets,
    dependents: tasks.dependents,
  };
  return { tasks: cells(columns), memory: cells(held), resources: cells(resources), eventCount };
}

describe('the event file', () => {
  it('returns the written events, read in pieces of any size', () => {
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 400 }), (list, size) => {
        assert.deepEqual(readEvents(encoded(list), size), list);
      }),
    );
  });

  it('fills the same columns from bytes as from event objects', () => {
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 400 }), (list, size) => {
        const builder = new TraceBuilder();
        for (const event of list) addEvent(builder, event);
        const trace = opened(encoded(list), size);
        assert.equal(trace.damage, undefined);
        assert.deepEqual(plain(trace), plain(builder.build()));
      }),
    );
  });

  it('spells tuple keys, which current DASF cannot record, as Python does', () => {
    const args = { key: ['x-1', 0, [1]], dependencies: [['y']], dependents: [], size: 1 };
    const { tasks, strings } = opened(encoded([new CompleteEvent('Compute', 1, 1, { args })]));
    assert.equal(strings.get(tasks.key[0] ?? -1), "('x-1', 0, (1,))");
    assert.equal(strings.get(tasks.dependencies[0] ?? -1), "('y',)");
  });

  it('distinguishes the start of a duration from its end', () => {
    const [begin, end] = readEvents(encoded([new DurationBeginEvent('b', 1), new DurationEndEvent('b', 2)]));
    assert.ok(begin instanceof DurationBeginEvent);
    assert.ok(end instanceof DurationEndEvent);
  });
});

describe('a damaged event file', () => {
  const list = Array.from({ length: 12 }, (_, i) =>
    i % 3 === 0
      ? new InstantEvent('Resource Usage', i, { args: { cpu: i + 0.5 } })
      : new CompleteEvent('Compute', i, 0.5, {
          processId: 'h',
          threadId: 'w',
          args: {
            key: `key-${i}`,
            name: 'n',
            size: i,
            shape: [],
            dtype: 'd',
            type: 't',
            dependencies: [`key-${i - 1}`],
            dependents: [],
          },
        }),
  );
  const bytes = encoded(list);

  it('has the events before a truncation, and reports the truncation', () => {
    for (let cut = 0; cut < bytes.length; cut++) {
      const trace = opened(bytes.slice(0, cut));
      const whole = readEvents(bytes.slice(0, cut));
      assert.equal(trace.eventCount, whole.length);
      assert.deepEqual(whole, list.slice(0, whole.length));
      const rest = cut - encoded(whole).length;
      assert.deepEqual(
        trace.damage,
        rest === 0
          ? undefined
          : { stretches: 1, bytes: rest, offset: cut - rest, reason: 'the last record is not complete' },
      );
    }
  });

  it('is read after a damaged record', () => {
    const broken = bytes.slice();
    broken.fill(0xc1, 40, 60);
    const trace = opened(broken, 64);
    assert.equal(trace.eventCount, list.length - 1);
    assert.equal(trace.damage?.stretches, 1);
    const length = bytes.slice();
    length.fill(0x7f, 0, 4);
    assert.equal(opened(length).eventCount, list.length - 1);
  });

  it('with flipped bits and a truncated end is a trace with at most as many events', () => {
    const flips = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(flips, fc.nat(bytes.length), fc.integer({ min: 1, max: 900 }), (changes, cut, size) => {
        const broken = bytes.slice();
        for (const [at, mask] of changes) broken[at]! ^= mask;
        const torn = broken.slice(0, cut);
        const trace = opened(torn, size);
        assert.ok(trace.eventCount <= list.length);
        assert.ok((trace.damage?.bytes ?? 0) <= torn.length);
        readEvents(torn, size);
      }),
      { numRuns: 400 },
    );
  });

  it('of random bytes is a trace', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (random) => void opened(Uint8Array.from(random))),
      {
        numRuns: 200,
      },
    );
  });
});
