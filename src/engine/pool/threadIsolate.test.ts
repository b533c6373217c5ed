import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { compileGraph } from '../../graph/compile.js';
import {
  type FromIsolate,
  type IsolateBirth,
  type ToIsolate,
  VITALS,
} from '../../protocol/isolateMessages.js';
import type { RunHandler, RunSpec } from './isolate.js';
import type { IsolateThread } from './isolateThread.js';
import { ThreadIsolate } from './threadIsolate.js';

/** Seconds that exceed all limits. */
const LONG = 65;
const FN = { type: 'global', path: 'Math.max', name: 'max' } as const;

/** A thread that the test controls. */
class FakeThread extends EventEmitter implements IsolateThread {
  readonly inbox: ToIsolate[] = [];
  readonly birth: IsolateBirth;

  constructor(birth: IsolateBirth) {
    super();
    this.birth = birth;
  }

  postMessage(message: ToIsolate): void {
    this.inbox.push(message);
  }

  send(message: FromIsolate): void {
    this.emit('message', message);
  }

  async terminate(): Promise<void> {
    setImmediate(() => this.emit('exit', 1));
  }

  ref(): void {}
  unref(): void {}
}

function started(): { isolate: ThreadIsolate; thread: FakeThread; ended: () => boolean } {
  let fake: FakeThread | undefined;
  let hasEnded = false;
  const isolate = new ThreadIsolate('worker-0', 0, {
    gone: () => {
      hasEnded = true;
    },
    start: (birth) => {
      fake = new FakeThread(birth);
      return fake;
    },
  });
  assert.ok(fake !== undefined);
  return { isolate, thread: fake, ended: () => hasEnded };
}

/** Advances the clock while the event loop of the isolate turns. */
function turn({ birth }: FakeThread, seconds: number): void {
  for (let second = 0; second < seconds; second++) {
    birth.vitals[VITALS.turned]!++;
    mock.timers.tick(1000);
  }
}

describe('the time limits of an isolate', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
  afterEach(() => mock.timers.reset());

  it('a call that is not taken although the event loop turns is rejected with a dump', async () => {
    const { isolate, thread } = started();
    thread.send({ type: 'ready', time: 0 });
    const call = isolate.call(FN, {});
    turn(thread, LONG);
    await assert.rejects(call, (error: unknown) => {
      assert.ok(error instanceof Error && error.cause instanceof Error);
      assert.equal(Reflect.get(error, 'code'), 'ERR_LONGPOLE_STALLED');
      assert.match(error.message, /^Worker worker-0 did not take 'call max' within \d+ s/);
      assert.match(error.cause.message, /type: 'call'/);
      return true;
    });
    assert.deepEqual((await isolate.dump()).calls, []);
    isolate.terminate();
  });

  it('a call waits without a limit while a task computes', async () => {
    const { isolate, thread } = started();
    thread.send({ type: 'ready', time: 0 });
    const call = isolate.call(FN, {});
    turn(thread, 50);
    // A task computes.
    mock.timers.tick(LONG * 1000);
    turn(thread, 5);
    thread.send({ type: 'call-taken', call: 1 });
    thread.send({ type: 'called', call: 1, value: 7, error: undefined });
    assert.equal(await call, 7);
    isolate.terminate();
  });

  it('a called function has no time limit', async () => {
    const { isolate, thread } = started();
    thread.send({ type: 'ready', time: 0 });
    const call = isolate.call(FN, {});
    thread.send({ type: 'call-taken', call: 1 });
    turn(thread, 10 * LONG);
    assert.deepEqual(
      (await isolate.dump()).calls.map(({ what, state }) => [what, state]),
      [['call max', 'taken']],
    );
    thread.send({ type: 'called', call: 1, value: 7, error: undefined });
    assert.equal(await call, 7);
    isolate.terminate();
  });

  it('a start that takes too long ends the isolate with an error that describes its thread', async () => {
    const { isolate, ended } = started();
    const lost: Error[] = [];
    isolate.open(...channel((cause) => lost.push(cause)));
    const rejected = assert.rejects(
      isolate.call(FN, {}),
      /Its thread did not start within 60 s: .*its event loop never turned/,
    );
    mock.timers.tick(59_000);
    assert.equal(ended(), false);
    mock.timers.tick(1000);
    assert.equal(ended(), true);
    await rejected;
    assert.equal(Reflect.get(lost[0] ?? {}, 'code'), 'ERR_LONGPOLE_WORKER_START');
    assert.match(String(lost[0]), /^LongpoleError: Worker worker-0 could not be started: Its thread/);
  });

  it('a message that cannot be read ends the isolate with an error', () => {
    const { isolate, thread, ended } = started();
    thread.send({ type: 'ready', time: 0 });
    const lost: Error[] = [];
    isolate.open(...channel((cause) => lost.push(cause)));
    thread.emit('messageerror', new Error('unknown object'));
    assert.equal(ended(), true);
    assert.match(String(lost[0]), /A message from the worker could not be read: Error: unknown object/);
  });
});

function channel(lost: (cause: Error) => void): [RunSpec, RunHandler] {
  const ignore = (): void => undefined;
  const handler: RunHandler = {
    finished: ignore,
    fetched: ignore,
    fetchFailed: ignore,
    stolen: ignore,
    lost: (_isolate, _running, cause) => lost(cause),
  };
  const { program } = compileGraph({ a: [Math.max, 1] }, ['a'], { shared: true });
  return [{ run: 1, program, functions: [], maxOutstanding: 1 }, handler];
}
