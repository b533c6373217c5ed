// JavaScript worker pools with the same work. They have no graphs. So a level of the tree is sent when the level below
// is done, each task with its arguments.
import { Piscina } from 'piscina';
import { FixedThreadPool } from 'poolifier';
import { Tinypool } from 'tinypool';
import workerpool from 'workerpool';
import { check, type Engine, type EngineFactory } from '../engine.js';
import { FAN_IN, treeResult, treeShape } from '../graphs.js';

const WORKERS = 2;
const workerFile = (name: string): string => new URL(name, import.meta.url).pathname;

/** Runs one task on the pool. */
type Send = (name: 'inc' | 'sum', argument: number | readonly number[]) => Promise<number>;

function treeEngine(send: Send): Engine {
  return {
    async run(tasks) {
      const shape = treeShape(tasks);
      const start = performance.now();
      let values = await Promise.all(Array.from({ length: shape.leaves }, (_, i) => send('inc', i)));
      for (const width of shape.levels) {
        const below = values;
        values = await Promise.all(
          Array.from({ length: width }, (_, i) => send('sum', below.slice(i * FAN_IN, (i + 1) * FAN_IN))),
        );
      }
      const seconds = (performance.now() - start) / 1000;
      check(values[0], treeResult(tasks));
      return { seconds, tasks: shape.tasks };
    },
  };
}

function chainEngine(send: Send): Engine {
  return {
    async run(tasks) {
      const start = performance.now();
      let value = 0;
      for (let i = 0; i < tasks; i++) value = await send('inc', value);
      const seconds = (performance.now() - start) / 1000;
      check(value, tasks);
      return { seconds, tasks };
    },
  };
}

function piscina(tuned: boolean): Send {
  const pool = new Piscina({
    filename: workerFile('namedExports.js'),
    minThreads: WORKERS,
    maxThreads: WORKERS,
    ...(tuned && { concurrentTasksPerWorker: 16, atomics: 'disabled' as const }),
  });
  return (name, argument) => pool.run(argument, { name });
}

function tinypool(): Send {
  const pool = new Tinypool({
    filename: workerFile('namedExports.js'),
    minThreads: WORKERS,
    maxThreads: WORKERS,
  });
  return (name, argument) => pool.run(argument, { name });
}

function workerpoolSend(): Send {
  const pool = workerpool.pool(workerFile('workerpoolWorker.js'), {
    minWorkers: WORKERS,
    maxWorkers: WORKERS,
    workerType: 'thread',
  });
  // Workerpool's promises are not native ones.
  return async (name, argument) => await pool.exec(name, [argument]);
}

function poolifier(): Send {
  const pool = new FixedThreadPool<number | readonly number[], number>(
    WORKERS,
    workerFile('poolifierWorker.js'),
  );
  return (name, argument) => pool.execute(argument, name);
}

export const POOL_ENGINES: Readonly<Record<string, EngineFactory>> = {
  piscina: () => treeEngine(piscina(false)),
  'piscina-tuned': () => treeEngine(piscina(true)),
  'piscina-chain': () => chainEngine(piscina(false)),
  tinypool: () => treeEngine(tinypool()),
  workerpool: () => treeEngine(workerpoolSend()),
  poolifier: () => treeEngine(poolifier()),
};
