// Tasks that overlap in one isolate.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { compute, contextMeter, tasks } from 'longpole';

let running = 0;
let most = 0;
let arrived = 0;
let open: () => void = () => undefined;
const gate = new Promise<void>((resolve) => {
  open = resolve;
});
let stranded = 0;
let failStranded: () => void = () => undefined;
const allStranded = new Promise<void>((resolve) => {
  failStranded = resolve;
});

async function counted(work: () => Promise<unknown>): Promise<number> {
  most = Math.max(most, ++running);
  await work();
  running--;
  return most;
}

export const { meet, pause, turn, fail, strand, spin, inc, list, largest, measure, measureMore, exitOnce } =
  tasks(import.meta.url, {
    /** Ends when `count` such tasks have started in this isolate. Returns the index. */
    async meet(index: number, count: number) {
      if (++arrived === count) open();
      await gate;
      return index;
    },
    /** Ends when the file exists. */
    async pause(index: number, file: string) {
      while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 2));
      return index;
    },
    /** Ends some time after `count` tasks of this kind have overlapped in this isolate. Returns the largest number that has. */
    turn: (_index: number, count: number) =>
      counted(async () => {
        while (most < count) await new Promise((resolve) => setImmediate(resolve));
        for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve));
      }),
    async fail(): Promise<never> {
      await null;
      throw new RangeError('no');
    },
    /** When `count` such tasks have started in this isolate, the first fails. The others never end. */
    async strand(index: number, count: number): Promise<never> {
      if (++stranded === count) failStranded();
      await allStranded;
      if (index === 0) throw new RangeError('no');
      return new Promise(() => undefined);
    },
    /** Computes for ever from the time at which the file exists. */
    async spin(file: string, started: string): Promise<never> {
      writeFileSync(started, '');
      while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 2));
      for (;;);
    },
    inc: (value: number) => value + 1,
    list: (value: number) => [value],
    largest: (values: readonly number[]) => Math.max(...values),
    async measure(count: number) {
      contextMeter.digestMetric('read', 1, 'bytes');
      const value = await meetAll(count);
      contextMeter.digestMetric('read', 10, 'bytes');
      return value;
    },
    async measureMore(count: number) {
      contextMeter.digestMetric('read', 100, 'bytes');
      const value = await meetAll(count);
      contextMeter.digestMetric('read', 1000, 'bytes');
      return value;
    },
    /** The first call ends its isolate when `count` tasks have started there. */
    async exitOnce(index: number, count: number, file: string) {
      if (!existsSync(file) || readFileSync(file, 'utf8').length < count) {
        appendFileSync(file, 'x');
        while (readFileSync(file, 'utf8').length < count)
          await new Promise((resolve) => setTimeout(resolve, 2));
        process.exit(7);
      }
      return index;
    },
  });

async function meetAll(count: number): Promise<number> {
  if (++arrived === count) open();
  await gate;
  return count;
}

export const { nested } = tasks(import.meta.url, {
  /** Computes a graph of its own after `count` such tasks have started in this isolate. */
  async nested(index: number, count: number) {
    if (++arrived === count) open();
    await gate;
    await new Promise((resolve) => setImmediate(resolve));
    const [found] = await compute(inc(index), { scheduler: 'sync' });
    return found;
  },
});
