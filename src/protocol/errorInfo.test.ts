import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KilledWorkerError, LongpoleError, TaskError } from '../base/errors.js';
import { fromErrorInfo, toErrorInfo } from './errorInfo.js';

const crossed = (error: unknown): Error => fromErrorInfo(structuredClone(toErrorInfo(error)));
const where = { key: 'k', function: 'f', worker: 'w' };

test("errors of JavaScript's own classes and of Longpole keep their class on the other side", () => {
  for (const error of [
    new Error('a'),
    new RangeError('b', { cause: new TypeError('c') }),
    new LongpoleError('ERR_LONGPOLE_FUTURE', 'd'),
    new TaskError(where, 'e', { code: 'ERR_LONGPOLE_TASK_TIMEOUT', cause: new SyntaxError('f') }),
    new KilledWorkerError(where, 3, 'g'),
  ]) {
    const copy = crossed(error);
    assert.equal(copy.constructor, error.constructor);
    assert.equal(copy.stack, error.stack);
    assert.deepEqual({ ...copy }, { ...error });
    assert.equal(copy.message, error.message);
    if (error.cause !== undefined) assert.equal(copy.cause?.constructor, error.cause?.constructor);
  }
});

test("a user's class becomes an Error with its name; a code of another package stays a property", () => {
  class Mine extends Error {
    override readonly name = 'Mine';
    readonly code = 'ENOENT';
  }
  const copy = crossed(new Mine('x'));
  assert.equal(copy.constructor, Error);
  assert.equal(copy.name, 'Mine');
  assert.equal(Reflect.get(copy, 'code'), 'ENOENT');
  assert.equal(crossed(Object.assign(new Error('y'), { code: 'toString' })).constructor, Error);
});
