import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VariableCell } from './variableCell.js';

test('an event answers the calls that wait, and later ones until it is cleared', () => {
  const event = new VariableCell<true>();
  const answered: string[] = [];
  const wait = (name: string) => event.get(() => answered.push(name));
  wait('a');
  const leave = wait('b');
  wait('c');
  leave?.();
  assert.equal(event.isUnused, false);
  event.set(true);
  assert.deepEqual(answered, ['a', 'c']);
  assert.equal(wait('d'), undefined);
  event.delete();
  assert.deepEqual([answered, event.isSet, event.isUnused], [['a', 'c', 'd'], false, true]);
});

test('a variable answers the calls that wait, and later ones until it is deleted', () => {
  const cell = new VariableCell<number | undefined>();
  const answered: unknown[] = [];
  const get = () => cell.get((value) => answered.push(value));
  get();
  const leave = get();
  leave?.();
  assert.equal(cell.set(undefined), undefined);
  assert.deepEqual(answered, [undefined]);
  assert.deepEqual(cell.set(2), { value: undefined });
  assert.equal(get(), undefined);
  assert.deepEqual(cell.delete(), { value: 2 });
  assert.equal(cell.isUnused, true);
  assert.notEqual(get(), undefined);
  assert.deepEqual(answered, [undefined, 2]);
});
