// An empty message would wake the host's thread, which costs more than most tasks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileGraph } from '../../graph/compile.js';
import { CompletionLog } from '../../protocol/completionLog.js';
import type { FromIsolate } from '../../protocol/isolateMessages.js';
import { STAYED } from '../../protocol/taskRun.js';
import { makeVitals, Vitals } from '../../resources/vitals.js';
import { IsolateReports } from './isolateReports.js';
import { IsolateRun } from './isolateRun.js';

test('an isolate without measurements reports only if tasks have ended since its last report', () => {
  const { program } = compileGraph({ made: [() => [1]] }, ['made']);
  const log = new CompletionLog(program.size);
  const message = {
    type: 'open' as const,
    run: 1,
    opening: 1,
    program,
    functions: [],
    log: { number: undefined, memory: undefined },
    inlineBytes: Number.POSITIVE_INFINITY,
  };
  const run = new IsolateRun(message, { log, claims: new Int32Array(1), wanted: Uint8Array.of(1) });
  const sent: FromIsolate[] = [];
  const post = (one: FromIsolate): void => void sent.push(one);
  const reports = new IsolateReports({
    post,
    clock: () => 1,
    vitals: new Vitals(makeVitals()),
    metrics: undefined,
  });
  const end = (value: unknown): void =>
    run.complete(value, { id: 0, batch: 1, received: 0, start: 0, stop: 1, coreWait: 0, ...STAYED });

  reports.report(1, run);
  assert.equal(sent.length, 0);
  for (const value of [1, [1]]) {
    end(value);
    reports.report(1, run);
    reports.report(1, run, true);
  }
  assert.deepEqual(
    sent.map((one) => one.type === 'report' && [one.written, one.values?.values]),
    [
      [1, undefined],
      [2, [[1]]],
    ],
  );
});
