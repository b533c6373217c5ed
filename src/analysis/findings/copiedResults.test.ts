// Local runs whose results take long to reach the program's thread.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { criticalPath } from '../criticalPath.js';
import { simulate } from '../simulate.js';
import { findings } from './findings.js';

/** Ten tasks of 0.1 s in turn. The program's thread has the result of each `copying` seconds later, and sends the next. */
const copied = (copying: number, resultType: string) =>
  findings(
    syntheticTrace({
      // A second worker runs the next task when the report of the first is still on its way.
      tasks: Array.from({ length: 20 }, (_, i) => {
        const started = (0.1 + copying) * Math.floor(i / 2) + (i % 2) * 0.1;
        const stopped = started + 0.1;
        const times = { dispatched: i % 2 === 0 ? started : started - 0.1, started, stopped };
        return {
          key: `make-${i}`,
          submitted: 0,
          ready: 0,
          ...times,
          acknowledged: stopped + copying,
          resultType,
        };
      }),
    }),
  );

describe('results that the thread of the program copies', () => {
  it('are the cause of waits for a local scheduler, if they are objects', () => {
    const [first] = copied(0.5, 'Array');
    assert.equal(first?.code, 'serialization-bound');
    assert.match(first?.title ?? '', /for the program's thread, probably while it copied results$/);
    assert.match(
      first?.evidence.text ?? '',
      /^The program's thread receives a result 500 ms after its task has ended\. 100 % of the results are objects/,
    );
    assert.equal(copied(0.5, 'number')[0]?.code, 'scheduler-bound');
    assert.ok(!copied(0.015, 'Array').some(({ code }) => code === 'serialization-bound'));
  });

  it('are named with their size and their tasks if the copies are recorded', () => {
    // Four tasks of 1 s. The program's thread then copies each result for 2 s, and sends the next task.
    const times = [0, 3, 6, 9].map((started) => ({ started, stopped: started + 1 }));
    const trace = (nbytes: number, compressed: number, resultType = 'Array') =>
      syntheticTrace({
        tasks: times.map(({ started, stopped }, i) => ({
          key: `make-${i}`,
          submitted: 0,
          ready: 0,
          dispatched: started,
          started,
          stopped,
          acknowledged: stopped + 2,
          resultType,
        })),
        transfers: times.map(({ stopped }, i) => ({
          worker: 'w0',
          direction: 'outgoing',
          what: 'gather',
          keys: [`make-${i}`],
          nbytes,
          compressed,
          start: stopped,
          stop: stopped + 2,
        })),
      });
    const [first, ...others] = findings(trace(10e6, 0));
    assert.deepEqual(others, []);
    assert.equal(first?.title, "The run waited 8 s while the program's thread received 40 MB of results");
    assert.match(first.evidence.text, / for 8 s \(5 MB\/s\), most of them of 'make'\. /);
    assert.deepEqual([first.code, first.evidence.tasks.length], ['serialization-bound', 4]);
    assert.match(first.advice, / Typed arrays are unpacked faster /);
    const [buffers] = findings(trace(10e6, 0, 'Float64Array'));
    assert.match(buffers?.advice ?? '', / Worker threads do not copy arrays on a SharedArrayBuffer\. /);
    // One thread copies them with any number of workers.
    assert.equal(criticalPath(trace(10e6, 0)).floor, 8);
    for (const workers of [1, 8]) assert.ok(simulate(trace(10e6, 0), { workers }).makespan >= 8);
    assert.equal(criticalPath(trace(10e6, 10e6)).floor, 1);
    // Small results have another cause, and those of a cluster have other findings.
    for (const other of [trace(100e3, 0), trace(10e6, 10e6)])
      assert.ok(!findings(other).some(({ code }) => code === 'serialization-bound'));
  });

  it('are no arguments of the program if tasks on other workers use them', () => {
    // The program's thread receives each result for 1 s, and sends it to the other worker for 2 s.
    const spec = (address?: string): SyntheticSpec => ({
      workers: [{ name: 'w0', ...(address === undefined ? {} : { address }) }, { name: 'w1' }],
      tasks: [
        { key: 'make-0', worker: 'w0', submitted: 0, started: 0, stopped: 1, acknowledged: 2 },
        {
          key: 'use-0',
          worker: 'w1',
          needs: ['make-0'],
          submitted: 0,
          ready: 2,
          dispatched: 2,
          received: 4,
          started: 4,
          stopped: 5,
        },
      ],
      transfers: [
        {
          worker: 'w0',
          direction: 'outgoing',
          what: 'gather',
          keys: ['make-0'],
          nbytes: 16e6,
          compressed: 0,
          start: 1,
          stop: 2,
        },
        { worker: 'w1', what: 'scatter', keys: ['make-0'], nbytes: 16e6, compressed: 0, start: 2, stop: 4 },
      ],
    });
    const [first, ...others] = findings(syntheticTrace(spec()));
    assert.deepEqual([first?.code, first?.seconds], ['transfer-bound', 3]);
    assert.match(first?.evidence.text ?? '', /sent 16 MB to them\./);
    const about = ['oversized-arguments', 'gathered-results', 'serialization-bound'];
    assert.ok(!others.some(({ code }) => about.includes(code)));
    // A client of a cluster fetched the result itself.
    assert.ok(!findings(syntheticTrace(spec('thread://w0'))).some(({ code }) => code === 'transfer-bound'));
  });

  it('are named with their function if a worker packs them for other workers', () => {
    // Each task takes 1 s, and its result 2 s, before the thread starts the next task.
    const times = [0, 3, 6, 9].map((started) => ({ started, stopped: started + 1 }));
    const [first, ...others] = findings(
      syntheticTrace({
        tasks: times.map((time, i) => ({ key: `make-${i}`, worker: 'w0', submitted: 0, ready: 0, ...time })),
        intervals: times.map(({ stopped }, i) => ({
          worker: 'w0',
          action: 'serialize',
          task: `make-${i}`,
          start: stopped,
          stop: stopped + 2,
          nbytes: 10e6,
        })),
      }),
    );
    assert.deepEqual(others, []);
    assert.equal(first?.code, 'serialization-bound');
    assert.match(first.evidence.text, /8 s to pack 40 MB \(5 MB\/s\), most of it for results of 'make'\.$/);
    // Local schedulers have no futures.
    assert.doesNotMatch(first.advice, /Delayed/);
  });

  it('are no wait for the next submission after the last task', () => {
    const spec = (next: boolean) => ({
      tasks: [
        { key: 'a-0', started: 0, stopped: 2, submitted: 0 },
        { key: 'a-1', worker: 'w1', started: 0, stopped: 1.9, acknowledged: 3, submitted: 0 },
        ...(next ? [{ key: 'b-0', started: 4, stopped: 5, submitted: 4, computation: 2 }] : []),
      ],
    });
    const isFound = (next: boolean) =>
      findings(syntheticTrace(spec(next))).some(({ code }) => code === 'client-bound');
    assert.deepEqual([isFound(false), isFound(true)], [false, true]);
  });
});
