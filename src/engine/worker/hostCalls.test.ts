// Tests calls of the host in an isolate, which may overlap, and may arrive during a task.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FromIsolate } from '../../protocol/isolateMessages.js';
import { HostCalls } from './hostCalls.js';
import { meterContext } from './meterContext.js';
import { taskContext } from './taskContext.js';
import { TaskMeter } from './taskMeter.js';

/** Returns a function that starts calls, and the answers by call. */
function open() {
  const answers = new Map<number, unknown>();
  const calls = new HostCalls((message: FromIsolate) => {
    if (message.type === 'called') answers.set(message.call, message.value);
  });
  let call = 0;
  const start = (expression: string, argument?: unknown): void => {
    const fn = { type: 'source', expression, name: 'called' } as const;
    calls.take({ type: 'call', call: ++call, fn, argument, tasksWait: true });
  };
  return { calls, answers, start };
}

/** Returns a promise, and the function that resolves it. */
function gateOf() {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { gate, open };
}

test('a call may compute until its own end, also after the end of an earlier call', async () => {
  const { calls, answers, start } = open();
  const gates = [gateOf(), gateOf()];
  for (const { gate } of gates) start('(gate) => gate', gate);
  const seen: number[] = [];
  for (const [index, { open: end }] of gates.entries()) {
    end();
    while (!answers.has(index + 1)) await new Promise((resolve) => setImmediate(resolve));
    seen.push(taskContext.running);
  }
  await calls.settingUp;
  assert.deepEqual(seen, [1, 0]);
});

test('a call that arrives during a task is no code of the task', async () => {
  const { calls, answers, start } = open();
  const task = new TaskMeter(undefined);
  Reflect.set(globalThis, 'taskOfCall', () => meterContext.getStore()?.task);
  meterContext.run({ task, meter: undefined, isInside: true, before: undefined }, () =>
    start('() => [globalThis.taskOfCall()]'),
  );
  await calls.settingUp;
  assert.deepEqual(answers.get(1), [undefined]);
});
