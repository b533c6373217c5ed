import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LongpoleError } from '../base/errors.js';
import { keySplit } from '../base/keySplit.js';
import { resolveFunction } from './callable.js';
import { Delayed } from './delayed.js';
import { functionName } from './functionName.js';
import { delayed } from './taskFunction.js';
import { registeredTasks } from './taskRegistry.js';
import { tasks } from './tasks.js';

const functions = {
  add(a: number, b: number) {
    return a + b;
  },
  load: async (path: string) => path.length,
};
const { add, load } = tasks(import.meta.url, functions);

function refused(make: () => unknown, pattern: RegExp): void {
  assert.throws(make, (error) => {
    assert.ok(error instanceof LongpoleError);
    assert.equal(error.code, 'ERR_LONGPOLE_INVALID_ARGUMENT');
    assert.match(error.message, pattern);
    return true;
  });
}

test('calling a task returns a Delayed with the function and the arguments, and does not run the function', () => {
  const first = add(1, 2);
  const second = add(first, 3);
  assert.ok(second instanceof Delayed);
  assert.equal(second.fn, functions.add);
  assert.deepEqual(second.args, [first, 3]);
  assert.equal(keySplit(second.key), 'add');
  assert.notEqual(first.key, add(1, 2).key);
});

test('a TaskFunction is resolved to its function', () => {
  assert.equal(add.fn, functions.add);
  assert.equal(resolveFunction(add), functions.add);
  assert.equal(resolveFunction(functions.add), functions.add);
  assert.equal(add.name, 'add');
  assert.equal(functionName(load), 'load');
});

test('tasks() registers the functions under the URL of the module', () => {
  assert.equal(registeredTasks(import.meta.url)?.get('add'), functions.add);
  assert.equal(registeredTasks(import.meta.url)?.get('load'), functions.load);
});

test('the name in tasks() takes precedence over the name of the function', () => {
  const anonymous = (
    () => () =>
      1
  )();
  const { renamed } = tasks('file:///renamed.js', { renamed: anonymous });
  assert.equal(keySplit(renamed().key), 'renamed');
  assert.equal(functionName(anonymous), 'renamed');
});

test('withOptions sets the key, the prefix of the key, and `pure`', () => {
  assert.equal(add.withOptions({ key: 'total' })(1, 2).key, 'total');
  assert.equal(keySplit(add.withOptions({ name: 'plus' })(1, 2).key), 'plus');
  const pure = add.withOptions({ pure: true });
  assert.equal(pure(1, 2).key, pure(1, 2).key);
  assert.notEqual(pure(1, 2).key, pure(2, 1).key);
  assert.equal(keySplit(pure(1, 2).key), 'add');
  assert.notEqual(pure.withOptions({ pure: false })(1, 2).key, pure(1, 2).key);
  assert.equal(keySplit(pure.withOptions({ name: 'plus' })(1, 2).key), 'plus');
});

test('delayed accepts any function, also a TaskFunction', () => {
  const inc = delayed((a: number) => a + 1, { name: 'inc', pure: true });
  assert.equal(inc(1).key, inc(1).key);
  assert.equal(keySplit(inc(1).key), 'inc');
  assert.equal(delayed(add).fn, functions.add);
  assert.equal(keySplit(delayed(add)(1, 2).key), 'add');
  assert.equal(
    keySplit(
      delayed(
        (
          () => () =>
            1
        )(),
      )().key,
    ),
    'lambda',
  );
  const long = 'x'.repeat(60);
  assert.equal(functionName({ [long]: () => 1 }[long] ?? assert.fail()), 'x'.repeat(50));
});

test('wrong arguments are refused with a solution', () => {
  const wrong = (...args: unknown[]) => Reflect.apply(tasks, undefined, args);
  refused(() => wrong(undefined, functions), /not undefined\. Write tasks\(import\.meta\.url/);
  refused(() => wrong('/home/me/file.js', functions), /not '\/home\/me\/file\.js'/);
  refused(() => wrong('C:\\file.js', functions), /URL of the module/);
  refused(() => wrong(import.meta.url), /at least one function/);
  refused(() => wrong(import.meta.url, {}), /at least one function/);
  refused(() => wrong(import.meta.url, { five: 5 }), /'five' in tasks\(\) is not a function but 5/);
  refused(() => wrong(import.meta.url, { list: [] }), /'list' .* but an array/);
  refused(() => wrong(import.meta.url, { '': () => 1 }), /empty name/);
  refused(() => wrong(import.meta.url, { Shape: class {} }), /'Shape' .* class/);
  refused(() => Reflect.apply(delayed, undefined, [5]), /delayed\(\) takes a function, not number/);
  refused(
    () => Reflect.apply(add.withOptions, undefined, [{ key: 5 }]),
    /key: expected a non-empty string, not 5/,
  );
  refused(() => delayed(functions.add, { name: '' }), /name: expected a non-empty string/);
  refused(
    () => Reflect.apply(delayed, undefined, [functions.add, { pure: 1 }]),
    /pure: expected true or false/,
  );
});

test('no function is registered if one of the values is not a function', () => {
  refused(() => Reflect.apply(tasks, undefined, ['file:///wrong.js', { good: () => 1, bad: 1 }]), /'bad'/);
  assert.equal(registeredTasks('file:///wrong.js'), undefined);
});
