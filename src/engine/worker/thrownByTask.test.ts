import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVALUATOR_URL } from './evaluator.js';
import { taskStack, thrownByTask } from './thrownByTask.js';

const runtime = new URL('isolateRun.js', EVALUATOR_URL).href;
const user = [
  'TypeError: boom',
  '    at helper (file:///program.mjs:3:5)',
  '    at load (file:///program.mjs:9:1)',
];
const ours = [
  `    at #call (${EVALUATOR_URL}:64:19)`,
  `    at Evaluator.run (${EVALUATOR_URL}:40:20)`,
  `    at IsolateRun.evaluate (${runtime}:146:26)`,
  '    at [nodejs.internal.kHybridDispatch] (node:internal/event_target:831:20)',
];

test('the stack of a task ends with the function of the task', () => {
  assert.equal(taskStack([...user, ...ours].join('\n')), user.join('\n'));
  const caught = thrownByTask(
    Object.assign(new Error('x'), { stack: [...user, ...ours].join('\n') }),
    () => [],
  );
  assert.equal(caught.stack, user.join('\n'));
  const cause = Object.assign(new Error('x'), { stack: [...user, ...ours].join('\n') });
  assert.equal(thrownByTask(new Error('y', { cause }), () => []).cause?.stack, user.join('\n'));
});

test('the stack of a task keeps the stack frames of a graph that the task runs itself', () => {
  const nested = [...user, ours[0], '    at outer (file:///program.mjs:20:1)'];
  assert.equal(taskStack([...nested, ...ours].join('\n')), nested.join('\n'));
});

test('after an await, stack frames of Node and of the runtime at the end of a stack are removed', () => {
  const rest = ['    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)'];
  const awaited = `    at async IsolateRuntime.#finish (${runtime}:300:1)`;
  assert.equal(taskStack([...user, ...rest, awaited].join('\n')), user.join('\n'));
});

test('a stack without a stack frame of the task stays', () => {
  assert.equal(taskStack(['Error: x', ...ours].join('\n')), ['Error: x', ...ours].join('\n'));
  assert.equal(taskStack('no stack'), 'no stack');
  assert.equal(taskStack(''), '');
});

test('an error whose properties cannot be read or changed is still the error of the task', () => {
  const unreadable = Object.defineProperty(new Error('x'), 'stack', {
    get: () => {
      throw new Error('from the getter');
    },
  });
  assert.match(thrownByTask(unreadable, () => []).message, /cannot be read: Error: from the getter/);
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  assert.match(thrownByTask(proxy, () => []).message, /cannot be read: TypeError/);
  const frozen = Object.freeze(new TypeError('p.norm is not a function'));
  assert.equal(thrownByTask(frozen, () => [{}]).message, 'p.norm is not a function');
});
