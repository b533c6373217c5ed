import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { RECORDED_TABLES } from './traceSchema.js';
import {
  BINARY_HEAD,
  CURSOR_TABLES,
  decodePageMessage,
  decodeViewMessage,
  encodePageMessage,
  encodeTableMessage,
  encodeViewMessage,
  livePath,
  parseResumePoint,
  VIEW_VERSION,
  type ViewCursor,
  type ViewMessage,
} from './viewMessages.js';

const rows = fc.nat({ max: 2 ** 31 });
const cursor: fc.Arbitrary<ViewCursor> = fc.record(
  {
    computations: rows,
    tasks: rows,
    intervals: rows,
    transfers: rows,
    memory: rows,
    resources: rows,
    metrics: rows,
    samples: rows,
    events: rows,
  },
  { noNullPrototype: true },
);
const table = fc.constantFrom(...RECORDED_TABLES);
const message: fc.Arbitrary<ViewMessage> = fc.oneof(
  fc.record({ type: fc.constant('schema' as const), table, bytes: fc.uint8Array() }),
  fc.record({ type: fc.constant('table' as const), table, rows, bytes: fc.uint8Array() }),
  fc.record({ type: fc.constant('cursor' as const), cursor }),
  fc.record({ type: fc.constant('truncated' as const), missed: cursor }),
  fc.record({
    type: fc.constant('closed' as const),
    reason: fc.string({ unit: 'grapheme' }),
    complete: fc.boolean(),
  }),
  fc.constant({ type: 'complete' as const }),
  fc.record({
    type: fc.constant('begin' as const),
    version: fc.constant(VIEW_VERSION),
    source: fc.constantFrom('live' as const, 'recorded' as const),
    title: fc.string({ unit: 'grapheme' }),
    epoch: fc.string(),
    resumed: fc.boolean(),
    facts: fc.constant({ Node: 'v20' }),
    damage: fc.constantFrom(null, {
      stretches: 2,
      bytes: 12,
      offset: 100,
      reason: 'the record is not a map',
    }),
  }),
);

function encoded(one: ViewMessage): string | Uint8Array {
  if (one.type === 'schema') return encodeTableMessage(one.table, [one.bytes]);
  return one.type === 'table' ? encodeTableMessage(one.table, [one.bytes], one.rows) : encodeViewMessage(one);
}

describe('view messages', () => {
  it('decode to the encoded messages', () => {
    fc.assert(
      fc.property(message, (one) => {
        assert.deepEqual(decodeViewMessage(encoded(one)), { ...one });
      }),
    );
  });

  it('align tables to 8 bytes, for any number of parts', () => {
    const bytes = encodeTableMessage('tasks', [Uint8Array.of(1, 2), Uint8Array.of(), Uint8Array.of(3)], 3);
    assert.equal(BINARY_HEAD % 8, 0);
    assert.deepEqual(decodeViewMessage(bytes), {
      type: 'table',
      table: 'tasks',
      rows: 3,
      bytes: Uint8Array.of(1, 2, 3),
    });
  });

  it('reject anything else with an error that states the reason', () => {
    const code = { code: 'ERR_LONGPOLE_PAGE_DATA' };
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string(), fc.uint8Array({ maxLength: 40 })), (data) => {
        try {
          decodeViewMessage(data);
        } catch (error) {
          assert.equal(Reflect.get(Object(error), 'code'), code.code);
        }
      }),
    );
    const begin = { type: 'begin', version: VIEW_VERSION + 1, source: 'live', title: '', epoch: '' };
    const newer = JSON.stringify({ ...begin, resumed: false, facts: {} });
    assert.throws(() => decodeViewMessage(newer), { ...code, message: /Load the page again/ });
    assert.throws(() => decodeViewMessage('{"type":"totals"}'), code);
    assert.throws(() => decodeViewMessage('{"type":"constructor"}'), code);
    assert.throws(() => decodeViewMessage(Uint8Array.of(9, 0)), code);
  });

  it('resume at the position of a page', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), cursor, (epoch, at) => {
        const url = new URL(livePath({ epoch, cursor: at }), 'http://localhost/');
        const { searchParams } = url;
        assert.deepEqual(parseResumePoint(searchParams.get('epoch'), searchParams.get('cursor')), {
          epoch,
          cursor: at,
        });
      }),
    );
    for (const wrong of [
      '',
      '1',
      '1,2,3,4,5,6,7',
      '1,2,3,4,5,6,7,-8',
      '1,2,3,4,5,6,7,8,9,10',
      'a,b,c,d,e,f,g,h',
    ])
      assert.equal(parseResumePoint('e', wrong), undefined, wrong);
    assert.equal(parseResumePoint(null, CURSOR_TABLES.map(() => 1).join()), undefined);
  });

  it('of pages are pause and resume only', () => {
    assert.deepEqual(decodePageMessage(encodePageMessage({ type: 'pause' })), { type: 'pause' });
    assert.deepEqual(decodePageMessage('{"type":"resume","more":1}'), { type: 'resume' });
    fc.assert(
      fc.property(fc.json(), (text) => {
        assert.equal(decodePageMessage(text), undefined);
      }),
    );
  });
});
