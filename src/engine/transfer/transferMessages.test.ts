import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LongpoleError } from '../../base/errors.js';
import fc from '../../base/properties.test.support.js';
import { MessageReader } from './messageReader.js';
import {
  DONE,
  decodeHello,
  decodeIds,
  decodeResult,
  encodeHello,
  encodeIds,
  encodeResult,
  HEAD_BYTES,
  HELLO,
  REQUEST,
  RESULT,
} from './transferMessages.js';

const isPeerError = (error: unknown): boolean =>
  error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_PEER';

const BUFFERS = [Uint8Array.of(1, 2, 3), new Uint8Array(), Uint8Array.of(9, 9, 5, 6)];

/** Returns the messages that a reader decodes from a stream in pieces that end at `cuts`. */
function read(stream: Uint8Array, cuts: readonly number[]): unknown[] {
  const seen: unknown[] = [];
  const reader = new MessageReader((type, body) => {
    if (type === HELLO) seen.push(decodeHello(body));
    else if (type === REQUEST || type === DONE) seen.push([type, decodeIds(body)]);
    else if (type === RESULT) {
      const head = decodeResult(body, 1e6);
      const targets = head.lengths.map((nbytes) => new Uint8Array(nbytes));
      return { targets, done: () => void seen.push([head, targets]) };
    }
    return undefined;
  });
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    reader.push(stream.subarray(from, cut));
    from = cut;
  }
  reader.push(stream.subarray(from));
  return seen;
}

function everything(): Uint8Array {
  return Buffer.concat([
    encodeHello({ worker: -1, token: 'gehéim' }),
    encodeIds(REQUEST, { request: 2 ** 32 - 1, ids: [0, 2 ** 52, 7] }),
    encodeResult({ request: 3, id: 2 ** 40, lengths: BUFFERS.map(({ byteLength }) => byteLength) }),
    ...BUFFERS,
    encodeResult({ request: 4, id: 1, lengths: [0] }),
    encodeIds(DONE, { request: 3, ids: [] }),
  ]);
}

describe('messages between peers', () => {
  it('are decoded from pieces of any size', () => {
    const stream = everything();
    const whole = read(stream, []);
    assert.deepEqual(whole, [
      { worker: -1, token: 'gehéim' },
      [REQUEST, { request: 2 ** 32 - 1, ids: [0, 2 ** 52, 7] }],
      [{ request: 3, id: 2 ** 40, lengths: [3, 0, 4] }, BUFFERS],
      [{ request: 4, id: 1, lengths: [0] }, [new Uint8Array()]],
      [DONE, { request: 3, ids: [] }],
    ]);
    const bytewise = Array.from({ length: stream.byteLength }, (_, i) => i);
    assert.deepEqual(read(stream, bytewise), whole);
    fc.assert(
      fc.property(fc.array(fc.nat(stream.byteLength)), (cuts) => {
        assert.deepEqual(read(stream, cuts), whole);
      }),
    );
  });

  it('can be long', () => {
    const ids = Array.from({ length: 20_000 }, (_, i) => i);
    const stream = encodeIds(REQUEST, { request: 1, ids });
    assert.deepEqual(read(stream, [5, 100, 70_000]), [[REQUEST, { request: 1, ids }]]);
  });

  it('are refused when damaged, before memory is allocated for them', () => {
    const stream = everything();
    fc.assert(
      fc.property(fc.nat(stream.byteLength - 1), fc.nat(255), (at, byte) => {
        const changed = Uint8Array.from(stream);
        changed[at] = byte;
        try {
          read(changed, []);
        } catch (error) {
          assert.ok(isPeerError(error), String(error));
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('are refused when they are too large, or of another version', () => {
    const head = (change: (view: DataView) => void): Uint8Array => {
      const bytes = encodeIds(REQUEST, { request: 1, ids: [] });
      change(new DataView(bytes.buffer));
      return bytes;
    };
    assert.throws(
      () =>
        read(
          head((view) => view.setUint8(1, 9)),
          [],
        ),
      /version 9/,
    );
    assert.throws(
      () =>
        read(
          head((view) => view.setUint32(4, 2 ** 31, true)),
          [],
        ),
      isPeerError,
    );
    const large = encodeResult({ request: 1, id: 1, lengths: [2e6] });
    assert.throws(() => decodeResult(large.subarray(HEAD_BYTES), 1e6), /2000000 bytes/);
    const cut = encodeResult({ request: 1, id: 1, lengths: [1, 2] }).subarray(HEAD_BYTES, -1);
    assert.throws(() => decodeResult(cut, 1e6), isPeerError);
  });
});
