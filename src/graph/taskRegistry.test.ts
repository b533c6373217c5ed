import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registeredTasks, registerTasks, taskDefinition, whenRegistered } from './taskRegistry.js';

const one = (): number => 1;
const two = (): number => 2;

test('a module may register functions several times, which adds or replaces names', () => {
  const url = 'file:///several.js';
  assert.equal(registeredTasks(url), undefined);
  registerTasks(url, new Map([['one', one]]));
  registerTasks(url, new Map([['two', two]]));
  assert.deepEqual(
    [...(registeredTasks(url) ?? [])],
    [
      ['one', one],
      ['two', two],
    ],
  );
  registerTasks(url, new Map([['one', two]]));
  assert.equal(registeredTasks(url)?.get('one'), two);
  assert.deepEqual(taskDefinition(two), { url, name: 'two' });
});

test('whenRegistered resolves when the module has registered any function, or the given name', async () => {
  const url = 'file:///later.js';
  const seen: string[] = [];
  const any = whenRegistered(url).then((functions) => seen.push(`any ${functions.size}`));
  const named = whenRegistered(url, 'two').then((functions) => seen.push(`two ${functions.size}`));
  registerTasks(url, new Map([['one', one]]));
  await any;
  assert.deepEqual(seen, ['any 1']);
  registerTasks(url, new Map([['two', two]]));
  await named;
  assert.deepEqual(seen, ['any 1', 'two 2']);
  assert.equal((await whenRegistered(url, 'one')).get('one'), one);
});

test('the registry is a property of the global object, so that copies of the package share it', () => {
  const url = 'file:///shared.js';
  registerTasks(url, new Map([['one', one]]));
  const shared: unknown = Reflect.get(globalThis, Symbol.for('longpole.tasks'));
  assert.ok(
    typeof shared === 'object' && shared !== null && 'modules' in shared && shared.modules instanceof Map,
  );
  assert.ok(shared.modules.has(url));
});
