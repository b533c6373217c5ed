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

test('the errors of an AggregateError arrive with it, and not without limit', () => {
  const own = new TypeError('b', { cause: new RangeError('c') });
  const copy = crossed(new AggregateError([new Error('a'), own], 'both'));
  assert.ok(copy instanceof AggregateError);
  assert.deepEqual(
    copy.errors.map((error: Error) => [error.constructor, error.message]),
    [
      [Error, 'a'],
      [TypeError, 'b'],
    ],
  );
  assert.equal(copy.errors[1].cause.constructor, RangeError);
  // A user's class may have such a property, too, or another one of that name.
  const mine = crossed(Object.assign(new Error('x'), { errors: [own] }));
  assert.deepEqual([mine.constructor, Reflect.get(mine, 'errors')[0].message], [Error, 'b']);
  for (const errors of [['text'], [], { a: own }, 5])
    assert.deepEqual(
      Reflect.get(crossed(Object.assign(new Error('x'), { errors })), 'errors'),
      errors === 5 ? 5 : undefined,
    );
  const many = crossed(new AggregateError(Array.from({ length: 99 }, () => new AggregateError([own]))));
  assert.ok(many instanceof AggregateError);
  assert.equal(many.errors.length, 16);
  assert.deepEqual(many.errors[0].errors, []);
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
