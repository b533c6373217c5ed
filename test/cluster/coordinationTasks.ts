// Tasks that use shared objects.
import { appendFileSync } from 'node:fs';
import { Lock, Semaphore, tasks } from 'longpole';

/** Used by all tasks of an isolate. */
const lock = new Lock('lock');
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
  waitForEvent: () => new Lock('event').acquire(),
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
  poolOf: (max: number) => new Semaphore('pool', { max }).acquire({ timeout: 0 }),
});
