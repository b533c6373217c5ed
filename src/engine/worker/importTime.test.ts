import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { compileGraph } from '../../graph/compile.js';
import { registerTasks } from '../../graph/taskRegistry.js';
import { CompletionLog } from '../../protocol/completionLog.js';
import {
  type Batch,
  type FromIsolate,
  NO_IDS,
  NO_VALUES,
  type OpenRunMessage,
} from '../../protocol/isolateMessages.js';
import { makeMailbox } from '../../protocol/mailbox.js';
import { makeVitals } from '../../resources/vitals.js';
import { CoreWaits } from './coreWaits.js';
import { IsolateRuntime } from './isolateRuntime.js';

/** Seconds on the fake clock that the import takes. */
const IMPORT_SECONDS = 3;
const SPAN = ['default'];

let nowMs = 0;
/** Seconds for which the thread waited for a core since each earlier reading. */
let waited = 0;
beforeEach(() => {
  waited = 0;
  mock.method(performance, 'now', () => nowMs);
  mock.method(CoreWaits.prototype, 'until', () => waited);
});
afterEach(() => mock.restoreAll());

/** Returns the URL of a module that calls this function when it is imported. */
function moduleCalling(load: (url: string) => void): string {
  const name = `importTime${Math.random()}`;
  Reflect.set(globalThis, name, load);
  return `data:text/javascript,globalThis['${name}'](import.meta.url)`;
}

/** Runs a task of the module in a new isolate, `later` seconds after the run was opened. Returns its sums in seconds. */
async function sumsOf(url: string, later: number, metered = true): Promise<Record<string, number>> {
  const { program, constants } = compileGraph({ made: [() => 1] }, ['made']);
  const open: OpenRunMessage = {
    type: 'open',
    run: 1,
    opening: 1,
    program,
    functions: [{ type: 'module', url, name: 'made' }],
    log: {
      number: undefined,
      memory: {
        buffer: new CompletionLog(program.size).buffer,
        claims: Int32Array.of(1),
        wanted: Uint8Array.of(1),
      },
    },
    inlineBytes: 1e6,
    ...(metered ? { kinds: { kindOf: Int32Array.of(0), kinds: [{ prefix: 'made', span: SPAN }] } } : {}),
    keys: null,
    marks: false,
    concurrentTasks: 1,
  };
  const batch: Batch = {
    type: 'batch',
    run: 1,
    batch: 1,
    ids: Int32Array.of(0),
    publish: Uint8Array.of(1),
    keep: NO_IDS,
    inputs: NO_VALUES,
    constants: { ids: Int32Array.from(constants.keys()), values: constants },
    gather: [],
  };
  const sums: Record<string, number> = {};
  await new Promise<void>((resolve) => {
    const post = (message: FromIsolate): void => {
      if (message.type === 'several') message.messages.forEach(post);
      if (message.type === 'worked')
        Object.assign(sums, { [message.work.action]: message.work.stop - message.work.start });
      if (message.type !== 'report') return;
      for (const [index, key] of (message.measures?.metrics.keys ?? []).entries())
        if (key[0] === 'execute' && key.at(-1) === 'seconds')
          sums[`${key[2]} ${key[3]}`] = message.measures?.metrics.values[index] ?? Number.NaN;
      resolve();
    };
    const birth = {
      asks: false,
      mailbox: makeMailbox(),
      vitals: makeVitals(),
      epochOffsetMs: 0,
      name: 'w',
      metered,
    };
    const runtime = new IsolateRuntime({ post, receive: () => undefined }, birth);
    runtime.handle(open);
    if (later === 0) runtime.handle(batch);
    else
      void import(url).then(() =>
        // In the next turn the isolate has noticed the end of its import.
        setImmediate(() => {
          nowMs += later * 1000;
          runtime.handle(batch);
        }),
      );
  });
  return sums;
}

for (const later of [0, 60]) {
  test(`importing the module of a task counts as import, ${later} s before its batch`, async () => {
    const url = moduleCalling((own) => {
      nowMs += IMPORT_SECONDS * 1000;
      registerTasks(own, new Map([['made', () => 1]]));
    });
    const { 'made import': seconds } = await sumsOf(url, later);
    assert.ok(Math.abs((seconds ?? 0) - IMPORT_SECONDS) < 1e-6, `${seconds} s`);
    // The module is known now.
    assert.equal((await sumsOf(url, later))['made import'], undefined);
  });
}

test('the import of a module does not count its waits for a core', async () => {
  const url = moduleCalling((own) => {
    nowMs += IMPORT_SECONDS * 1000;
    waited = 1;
    registerTasks(own, new Map([['made', () => 1]]));
  });
  const { 'made import': seconds } = await sumsOf(url, 60);
  assert.ok(Math.abs((seconds ?? 0) - (IMPORT_SECONDS - 1)) < 1e-6, `${seconds} s`);
});

test('an isolate that measures no tasks reports how long it imported their modules', async () => {
  const url = moduleCalling((own) => {
    nowMs += IMPORT_SECONDS * 1000;
    registerTasks(own, new Map([['made', () => 1]]));
  });
  const { import: imported } = await sumsOf(url, 0, false);
  assert.ok(Math.abs((imported ?? 0) - IMPORT_SECONDS) < 1e-6, `${imported} s`);
  assert.deepEqual(await sumsOf(url, 0, false), {});
});
