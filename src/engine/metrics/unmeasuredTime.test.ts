import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { type CompletionColumns, completionColumns } from '../../protocol/completionLog.js';
import type { MetricChanges } from '../../protocol/metrics.js';
import { UnmeasuredTime } from './unmeasuredTime.js';

const KINDS = {
  kindOf: Int32Array.of(0, 0, 1, 1, 0, 1),
  kinds: [
    { prefix: 'load', span: ['Alice'] },
    { prefix: 'sum', span: ['default'] },
  ],
};

/** Returns completions of consecutive tasks, given as `[id, seconds]`, of a batch received at `received`. */
function completions(received: number, start: number, tasks: readonly [number, number][]): CompletionColumns {
  const columns = completionColumns(tasks.length);
  columns.count = tasks.length;
  let time = start;
  for (const [index, [id, seconds]] of tasks.entries()) {
    columns.ids[index] = id;
    columns.received[index] = received;
    columns.starts[index] = time;
    columns.stops[index] = time += seconds;
  }
  return columns;
}

function asRecord({ keys, values }: MetricChanges): Record<string, number> {
  return Object.fromEntries(keys.map((key, index) => [key.join(), Math.round(values[index]! * 1e9) / 1e9]));
}

function open(): UnmeasuredTime {
  const time = new UnmeasuredTime();
  time.opened(1, KINDS);
  return time;
}

test('the task that ran when the isolate died counts as failed or cancelled', () => {
  for (const activity of ['failed', 'cancelled'] as const) {
    const time = open();
    assert.deepEqual(asRecord(time.died({ run: 1, id: 2, since: 10 }, activity, 14)), {
      [`execute,default,sum,${activity},seconds`]: 4,
    });
    assert.deepEqual(asRecord(time.died(undefined, activity, 20)), {}, 'the time is reported once');
  }
});

test('tasks without measurements count as other, and the time between them as executor', () => {
  const time = open();
  time.measured(10);
  time.ended(
    1,
    completions(9, 10.5, [
      [0, 1],
      [2, 2],
      [4, 1],
    ]),
  );
  // The first two of the three tasks have been measured.
  time.measured(13.5);
  assert.deepEqual(asRecord(time.died({ run: 1, id: 5, since: 15 }, 'failed', 16)), {
    'execute,Alice,load,other,seconds': 1,
    'execute,default,sum,failed,seconds': 1,
    'execute,default,sum,executor,seconds': 0.5,
  });
});

test('an isolate between two tasks runs no task, whatever its last report was', () => {
  const time = open();
  time.ended(1, completions(5, 5, [[3, 2]]));
  assert.deepEqual(asRecord(time.died({ run: 1, id: 3, since: 5 }, 'failed', 7.5)), {
    'execute,default,sum,other,seconds': 2,
  });
});

test('a run that was closed while its task ran still counts', () => {
  const time = open();
  time.closed(1, true);
  assert.deepEqual(asRecord(time.died({ run: 1, id: 0, since: 2 }, 'cancelled', 3)), {
    'execute,Alice,load,cancelled,seconds': 1,
  });
  const other = open();
  other.closed(1, false);
  assert.deepEqual(asRecord(other.died({ run: 1, id: 0, since: 2 }, 'cancelled', 3)), {});
});

test('every second counts once, whenever measurements arrive and the isolate dies', () => {
  const task = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 40 }));
  const batch = fc.tuple(fc.array(task, { maxLength: 8 }), fc.boolean());
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 400 }), fc.integer({ min: 0, max: 50 }), (batches, last) => {
      const time = open();
      // Times are multiples of 1/8 s, so that sums are exact. Batches follow one another at once.
      let now = 1000;
      let measured = now;
      time.measured(now);
      for (const [tasks, report] of batches) {
        const timed = tasks.map(([id, eighths]): [number, number] => [id, eighths / 8]);
        time.ended(1, completions(now, now, timed));
        for (const [, seconds] of timed) now += seconds;
        if (!report) continue;
        time.measured(now);
        measured = now;
      }
      const { values } = time.died({ run: 1, id: 0, since: now }, 'failed', now + last / 8);
      const sum = values.reduce((all, value) => all + value, 0);
      assert.equal(sum, now + last / 8 - measured);
    }),
  );
});
