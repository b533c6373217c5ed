import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { type MetricKey, spanId, spanTags } from '../../protocol/metrics.js';
import { MetricLedger } from './metricLedger.js';

const KEYS = fc.tuple(
  fc.constant('execute'),
  fc.constantFrom('default', 'Alice/load'),
  fc.constantFrom('inc', 'sum', 'write'),
  fc.constantFrom('thread-cpu', 'I/O'),
  fc.constantFrom('seconds', 'bytes'),
);
const ADDITIONS = fc.array(fc.tuple(KEYS, fc.integer({ min: 0, max: 1000 })), { maxLength: 60 });

const sum = (entries: Iterable<[MetricKey, number]>): number =>
  [...entries].reduce((total, [, value]) => total + value, 0);

test('changes sent in any portions add up to the totals on the other side', () => {
  fc.assert(
    fc.property(ADDITIONS, fc.integer({ min: 1, max: 5 }), (additions, limit) => {
      const worker = new MetricLedger();
      const scheduler = new MetricLedger();
      for (const [index, [key, value]] of additions.entries()) {
        worker.add(key, value);
        if (index % 7 === 0) scheduler.merge(worker.takeChanges(limit));
      }
      for (
        let changes = worker.takeChanges(limit);
        changes.keys.length > 0;
        changes = worker.takeChanges(limit)
      ) {
        assert.ok(changes.keys.length <= limit);
        scheduler.merge(changes);
      }
      assert.deepEqual(
        new Map([...scheduler].map(([key, value]) => [key.join(), value])),
        new Map([...worker].map(([key, value]) => [key.join(), value])),
      );
    }),
  );
});

test('only changed metrics are sent', () => {
  const ledger = new MetricLedger();
  const cpu = ['execute', 'default', 'inc', 'thread-cpu', 'seconds'];
  ledger.add(cpu, 1);
  ledger.add(['gather-dep', 'network', 'seconds'], 2);
  assert.equal(ledger.takeChanges().keys.length, 2);
  ledger.add(cpu, 0.5);
  assert.deepEqual(ledger.takeChanges(), { keys: [cpu], values: [0.5] });
  assert.equal(ledger.takeChanges().keys.length, 0);
  assert.equal(ledger.get(cpu), 1.5);
});

test('beyond the capacity the sums stay exact and the memory is bounded', () => {
  const ledger = new MetricLedger(100);
  for (let index = 0; index < 5000; index++) {
    ledger.add(['execute', `span-${index % 50}`, `prefix-${index}`, 'thread-cpu', 'seconds'], 1);
    ledger.add(['execute', 'default', 'inc', `label-${index}`, 'bytes'], 2);
    ledger.add(['get-data', `label-${index}`, 'count'], 3);
  }
  assert.ok(ledger.size < 150, `${ledger.size} keys`);
  assert.equal(sum(ledger), 5000 * 6);
  assert.ok(ledger.get(['execute', '(others)', '(others)', 'thread-cpu', 'seconds']) > 4000);
});

test('a span and its id', () => {
  assert.equal(spanId(['Alice', 'load']), 'Alice/load');
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), (tags) =>
      assert.deepEqual(spanTags(spanId(tags)), tags),
    ),
  );
});
