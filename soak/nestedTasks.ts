// Tasks that submit tasks and share objects. Workers import this module.
import { getClient, Lock, Queue, Semaphore, tasks, Variable } from 'longpole';

const lock = new Lock('sum');
const sum = new Variable('sum');
const pool = new Semaphore('pool', { max: 2 });

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

export const n = tasks(import.meta.url, {
  async fib(number: number): Promise<number> {
    if (number < 2) return number;
    const client = getClient();
    const parts = client.map(n.fib, [number - 1, number - 2]);
    const [a = 0, b = 0] = await client.gather(parts);
    return a + b;
  },
  /** Adds to the variable with the lock, with turns of the event loop between reading and writing. */
  async add(amount: number): Promise<void> {
    await lock.withLock(async () => {
      const before = Number(await sum.get());
      await turns(3);
      await sum.set(before + amount);
    });
  },
  /** Returns the number of leases in use, of which this task has one. */
  async usePool(): Promise<number> {
    await using _lease = await pool.hold();
    await turns(3);
    return pool.getValue();
  },
  async produce(name: string, from: number, count: number): Promise<void> {
    const queue = new Queue<number>(name, { maxSize: 3 });
    for (let value = from; value < from + count; value++) await queue.put(value);
  },
  async consume(name: string, count: number): Promise<number[]> {
    const queue = new Queue<number>(name);
    const values: number[] = [];
    while (values.length < count) values.push(await queue.get());
    return values;
  },
});
