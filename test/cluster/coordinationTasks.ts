// Tasks that use shared objects.
import { appendFileSync } from 'node:fs';
import { Event, type Future, getClient, Lock, Queue, Semaphore, tasks, Variable } from 'longpole';
import { t } from './clusterTasks.js';

/** Used by all tasks of an isolate. */
const lock = new Lock('lock');
const event = new Event('event');
const value = new Variable('value');
const queue = new Queue<number>('queue', { maxSize: 2 });
const futures = new Queue<Future<Float64Array>>('futures');
const pool = new Semaphore('pool', { max: 2 });

/** Returns after other tasks of this process had a turn. */
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

export const c = tasks(import.meta.url, {
  /** Writes two lines with the lock, with turns of the event loop between them. */
  async twoLines(file: string, name: string) {
    await lock.withLock(async () => {
      appendFileSync(file, `${name} in\n`);
      await turns(20);
      appendFileSync(file, `${name} out\n`);
    });
  },
  async tryLock() {
    return { acquired: await lock.acquire({ blocking: false }), locked: await lock.locked() };
  },
  /** Acquires the lock and ends without a release. */
  async leaveLocked(how: 'return' | 'throw') {
    await lock.acquire();
    if (how === 'throw') throw new Error('held the lock');
    return how;
  },
  waitForEvent: (timeout?: number) => event.wait(timeout === undefined ? {} : { timeout }),
  setEvent: () => event.set(),
  /** Acquires the lock and never ends. */
  async keepLock() {
    await lock.acquire();
    await new Promise(() => undefined);
  },
  /** Waits for the lock. Returns the code of the error with which the wait ends. */
  async waitForLock(file: string) {
    appendFileSync(`${file}.begun`, 'x');
    try {
      await lock.acquire();
    } catch (error) {
      appendFileSync(file, String(Reflect.get(Object(error), 'code')));
      throw error;
    }
  },
  releaseLock: () => lock.release(),
  /** Uses a lease of the pool. Returns how many were in use. */
  async usePool() {
    await using _lease = await pool.hold();
    await turns(5);
    return pool.getValue();
  },
  setValue: (given: unknown) => value.set(given),
  getValue: () => value.get(),
  setNothing: () => value.set(() => 1),
  /** Puts the numbers below `count`. */
  async produce(count: number) {
    for (let number = 0; number < count; number++) await queue.put(number);
  },
  /** Takes a number of items. */
  async consume(count: number) {
    const items: number[] = [];
    while (items.length < count) items.push(await queue.get());
    return items;
  },
  takeBatch: (batch: number) => queue.get({ batch }),
  /** Submits a task and puts its future into a queue. */
  putFuture: () => futures.put(getClient().submit(t.zeros, 1000, 4)),
  /** Takes a future, and returns the sum of its result. */
  async sumOfFuture() {
    const values = await (await futures.get()).result();
    return values.reduce((sum, one) => sum + one, 0);
  },
  /** Takes a future and leaves it. */
  async takeFuture() {
    return (await futures.get()).key;
  },
  poolOf: (max: number) => new Semaphore('pool', { max }).acquire({ timeout: 0 }),
});
