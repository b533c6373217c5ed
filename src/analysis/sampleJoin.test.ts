import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../base/properties.test.support.js';
import { addEvent } from '../trace/formats/dasf/dasfEventRows.js';
import { InstantEvent } from '../trace/formats/dasf/dasfEvents.js';
import { TraceBuilder } from '../trace/traceBuilder.js';
import { SampleJoin } from './sampleJoin.js';

interface Sample {
  readonly time: number;
  /** Value of the sample; null if it lacks the figure. */
  readonly value: number | null;
}

function join(samples: readonly Sample[]): { joined: SampleJoin; host: number } {
  const builder = new TraceBuilder();
  for (const { time, value } of samples) {
    addEvent(
      builder,
      new InstantEvent('Resource Usage', time, {
        processId: 'h',
        threadId: null,
        args: { gpu_utilization: value },
      }),
    );
  }
  const trace = builder.build();
  return {
    joined: new SampleJoin(trace, trace.resources.gpuUtilization),
    host: trace.resources.host[0] ?? -1,
  };
}

/** Adds up the overlaps with all windows, one after another. */
function expected(samples: readonly Sample[], start: number, stop: number): { seconds: number; sum: number } {
  const sorted = samples.toSorted((a, b) => a.time - b.time);
  const [first, second] = sorted;
  let from = (first?.time ?? 0) - (second === undefined ? 0.1 : second.time - (first?.time ?? 0));
  const total = { seconds: 0, sum: 0 };
  for (const { time, value } of sorted) {
    const overlap = Math.max(0, Math.min(stop, time) - Math.max(start, from));
    if (value !== null) {
      total.seconds += overlap;
      total.sum += overlap * value;
    }
    from = time;
  }
  return total;
}

test('the overlap of a task with its samples is the same as that computed window by window', () => {
  const time = fc.integer({ min: 0, max: 4000 }).map((n) => n / 100);
  const sample = fc.record({ time, value: fc.option(fc.integer({ min: 0, max: 100 })) });
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1, maxLength: 30 }), time, time, (samples, a, b) => {
      const [start, stop] = a < b ? [a, b] : [b, a];
      const found = { seconds: 0, sum: 0 };
      const { joined, host } = join(samples);
      joined.streamFor(host, -1, -1)?.add(start, stop, found);
      const wanted = expected(samples, start, stop);
      assert.ok(
        Math.abs(found.seconds - wanted.seconds) < 1e-9,
        `${found.seconds} s, not ${wanted.seconds} s`,
      );
      assert.ok(Math.abs(found.sum - wanted.sum) < 1e-6, `${found.sum}, not ${wanted.sum}`);
    }),
    { numRuns: 500 },
  );
});
