import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { serialize } from 'node:v8';
import { MessageChannel, Worker } from 'node:worker_threads';
import { LongpoleError } from '../../base/errors.js';
import fc from '../../base/properties.test.support.js';
import { type PackedResult, packedBytes } from '../../protocol/packedResult.js';
import { packResult, unpackResult } from './packResult.js';
import { SHARE_BYTES } from './shareBuffers.js';

const LARGE = SHARE_BYTES / 8;
const back = (value: unknown): unknown => unpackResult(packResult(value));

/** Returns a packed result as another process receives it, without shared memory. */
function carried({ header, buffers }: PackedResult): PackedResult {
  const copy = (bytes: Uint8Array): Uint8Array<SharedArrayBuffer> => {
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
    shared.set(bytes);
    return shared;
  };
  return { header: copy(header), buffers: buffers.map(copy) };
}

function members(value: unknown): unknown[] {
  assert.ok(typeof value === 'object' && value !== null);
  return Object.values(value);
}

function ints(value: unknown): Int32Array {
  assert.ok(value instanceof Int32Array);
  return value;
}

function bytes(value: unknown): Uint8Array {
  assert.ok(value instanceof Uint8Array);
  return value;
}

function shared(value: unknown): SharedArrayBuffer {
  assert.ok(value instanceof SharedArrayBuffer);
  return value;
}

function floats(value: unknown): Float64Array {
  assert.ok(value instanceof Float64Array);
  return value;
}

describe('packResult', () => {
  it('keeps everything that a structured clone keeps', () => {
    const cyclic: { self?: unknown; [name: string]: unknown } = {
      name: 'ü日本',
      list: Object.assign([1], { 2: 3 }),
      big: 2n ** 70n,
      nothing: undefined,
    };
    cyclic.self = cyclic;
    const value = {
      cyclic,
      map: new Map<unknown, unknown>([[{ a: 1 }, new Set([1, 'x'])]]),
      date: new Date(5),
      expression: /a+/gi,
      error: new RangeError('no', { cause: 'why' }),
      numbers: [-0, Number.NaN, Number.POSITIVE_INFINITY, 1e-300],
      boxed: [new Number(3), new String('s'), new Boolean(false)],
      bytes: new Uint8Array([1, 2]),
      buffer: new ArrayBuffer(3),
    };
    for (const packed of [packResult(value), carried(packResult(value))]) {
      assert.equal(packed.buffers.length, 0);
      assert.deepEqual(unpackResult(packed), structuredClone(value));
    }
  });

  it('is the same as a structured clone for any data', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withSparseArray: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        // Compares bytes, because assert treats two invalid dates as different.
        assert.deepEqual(
          serialize(unpackResult(carried(packResult(value)))),
          serialize(structuredClone(value)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('puts large arrays of every kind into shared memory', () => {
    const buffer = new ArrayBuffer(SHARE_BYTES + 64);
    new Uint8Array(buffer).forEach((_, i, bytes) => {
      bytes[i] = i % 251;
    });
    const views = [
      new Float64Array(buffer),
      new Float32Array(buffer),
      new Int32Array(buffer),
      new Uint32Array(buffer),
      new Int16Array(buffer),
      new Uint16Array(buffer),
      new Int8Array(buffer),
      new Uint8Array(buffer),
      new Uint8ClampedArray(buffer),
      new BigInt64Array(buffer),
      new BigUint64Array(buffer),
      new DataView(buffer),
    ];
    for (const view of views) {
      const packed = packResult([view]);
      assert.ok(packed.header.byteLength < 200);
      assert.equal(packedBytes(packed), packed.header.byteLength + buffer.byteLength);
      assert.deepEqual(packed.buffers[0], new Uint8Array(packed.buffers[0]!.buffer));
      for (const some of [packed, carried(packed)]) assert.deepEqual(unpackResult(some), [view]);
    }
  });

  it('copies nothing that is shared already', () => {
    const own = new Float64Array(new SharedArrayBuffer(1 << 20));
    const packed = packResult({ whole: own, part: own.subarray(1000, 2000) });
    assert.equal(packed.buffers.length, 1);
    assert.equal(packed.buffers[0]!.buffer, own.buffer);
    const [whole, part] = members(unpackResult(packed));
    assert.equal(floats(whole).buffer, own.buffer);
    floats(part)[0] = 7;
    assert.equal(own[1000], 7);
  });

  it('keeps only the range of a large buffer that views cover, and keeps overlaps', () => {
    const whole = Float64Array.from({ length: 10 * LARGE }, (_, i) => i);
    const first = whole.subarray(LARGE + 1, 2 * LARGE + 1);
    const second = new Uint8Array(whole.buffer, 8 * (LARGE + 10), 3);
    const packed = packResult({ first, second });
    assert.equal(packedBytes({ ...packed, header: new Uint8Array() }), 8 * LARGE);
    const [one, two] = members(unpackResult(carried(packed)));
    assert.deepEqual([one, two], [first, second]);
    bytes(two).fill(255);
    assert.notEqual(floats(one)[9], first[9]);
  });

  it('windows on shared memory are counted and carried as windows', () => {
    const shared = Float64Array.from({ length: 100 }, (_, i) => i);
    const memory = new Float64Array(new SharedArrayBuffer(800));
    memory.set(shared);
    const packed = packResult(memory.subarray(3, 5));
    assert.equal(packed.buffers[0]!.byteLength, 16);
    assert.deepEqual(unpackResult(carried(packed)), Float64Array.of(3, 4));
    const odd = packResult(new Uint8Array(memory.buffer, 9, 3));
    assert.deepEqual(unpackResult(carried(odd)), new Uint8Array(memory.buffer, 9, 3));
    const askew = new Uint8Array(new SharedArrayBuffer(17)).subarray(1);
    askew.set(packed.buffers[0]!);
    assert.deepEqual(unpackResult({ ...packed, buffers: [askew] }), Float64Array.of(3, 4));
  });

  it('small windows on a large buffer take only their own bytes', () => {
    const window = new Float64Array(100 * LARGE).fill(1).subarray(5, 7);
    const packed = packResult(window);
    assert.equal(packed.buffers.length, 0);
    assert.ok(packed.header.byteLength < 200);
    assert.deepEqual(unpackResult(packed), window);
    assert.ok(packResult({ text: Buffer.from('a few bytes of a pool') }).header.byteLength < 200);
  });

  it('an ArrayBuffer stays an ArrayBuffer, and keeps its views', () => {
    const buffer = new ArrayBuffer(SHARE_BYTES);
    const deep = { a: { b: { c: { d: { e: [buffer] } } } }, view: new Int32Array(buffer, 4, 2) };
    for (const value of [{ e: buffer, view: new Int32Array(buffer, 4, 2) }, deep]) {
      new Int32Array(buffer)[1] = 42;
      const packed = packResult(value);
      assert.equal(packed.buffers.length, 1);
      assert.ok(packed.header.byteLength < 300);
      const view = ints(members(unpackResult(carried(packed)))[1]);
      assert.ok(view.buffer instanceof ArrayBuffer);
      assert.equal(view[0], 42);
      assert.equal(view.byteOffset, 4);
    }
    assert.ok(back(buffer) instanceof ArrayBuffer);
  });

  it('a SharedArrayBuffer is the same memory afterwards', () => {
    const memory = new SharedArrayBuffer(16);
    const other = new SharedArrayBuffer(8);
    const [first, again, second, view] = members(back([memory, memory, other, new Int32Array(memory, 4)]));
    assert.equal(shared(first), again);
    assert.equal(shared(second).byteLength, 8);
    new Int32Array(memory)[1] = 5;
    assert.equal(ints(view)[0], 5);
    assert.equal(new Int32Array(shared(first))[1], 5);
    const apart = members(unpackResult(carried(packResult([memory, new Int32Array(memory)]))));
    assert.equal(shared(apart[0]).byteLength, 16);
    assert.equal(ints(apart[1])[1], 5);
  });

  it('bytes that equal the mark of a shared buffer are kept', () => {
    const mark = String.fromCharCode(0x75, 0x80, 0x80, 0x80, 0x80, 0x0e);
    const memory = new SharedArrayBuffer(8);
    assert.deepEqual(back([mark, memory, mark]), [mark, memory, mark]);
  });

  it('large headers are shared too', () => {
    const text = 'x'.repeat(SHARE_BYTES);
    const { header } = packResult(text);
    assert.ok(header.buffer instanceof SharedArrayBuffer);
    assert.equal(unpackResult({ header, buffers: [] }), text);
    const small = packResult('x').header;
    assert.equal(small.buffer.byteLength, small.byteLength);
  });

  it('names the value that cannot be cloned, like structuredClone', () => {
    const { port1 } = new MessageChannel();
    for (const value of [() => 1, { symbol: Symbol('s') }, Promise.resolve(), [port1]]) {
      assert.throws(
        () => packResult(value),
        (error) => error instanceof DOMException && error.name === 'DataCloneError',
      );
    }
    port1.close();
  });

  it('crosses into a thread without a copy', async () => {
    const array = new Float64Array(LARGE).fill(2);
    const packed = packResult({ array });
    const url = new URL('./packResult.js', import.meta.url).href;
    const code = `
      const { parentPort, workerData } = require('node:worker_threads');
      import(${JSON.stringify(url)}).then(({ unpackResult }) => {
        const { array } = unpackResult(workerData);
        array[3] = 9;
        parentPort.postMessage(array.length);
      });`;
    const worker = new Worker(code, { eval: true, workerData: packed });
    const length = await new Promise((resolve, reject) =>
      worker.once('message', resolve).once('error', reject),
    );
    assert.equal(length, LARGE);
    assert.equal(floats(members(unpackResult(packed))[0])[3], 9);
  });
});

describe('unpackResult', () => {
  it('reports damaged bytes', () => {
    const whole = packResult({
      list: [1, 2],
      array: new Float64Array(LARGE),
      small: new Uint8Array(4),
      at: new Date(),
    });
    const isOurs = (error: unknown): boolean =>
      error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_RESULT_BYTES';
    assert.throws(() => unpackResult({ ...whole, buffers: [] }), isOurs);
    fc.assert(
      fc.property(fc.nat(whole.header.byteLength - 1), fc.nat(255), fc.nat(3), (at, byte, cut) => {
        const header = Uint8Array.from(whole.header);
        header[at] = byte;
        try {
          unpackResult({ header: header.subarray(0, header.length - cut), buffers: whole.buffers });
        } catch (error) {
          assert.ok(isOurs(error), String(error));
        }
      }),
      { numRuns: 2000 },
    );
  });
});
