// The end of the bridge that watches a Dask cluster, while the scheduler has rows in many parts or does not answer.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ENVIRONMENT } from '../python/environment.js';
import { runOrThrow } from '../support/runCommand.js';
import { NO_PYTHON, python } from './realCluster.js';

/** A bridge that is attached to nothing, on a clock that does not wait. `Client.take` answers for its plugin of the scheduler. */
const ATTACHED = `
import asyncio, sys
from longpole_dask.bridge import Bridge

class Loop(asyncio.SelectorEventLoop):
    now = 0.0

    def time(self):
        return self.now

    def _run_once(self):
        if not self._ready and self._scheduled:
            self.now = max(self.now, self._scheduled[0]._when)
        super()._run_once()

class Attached(Bridge):
    async def connect(self):
        self.client = self.client or Client()
        self.client.scheduler = type("Scheduler", (), {self.scheduler_plugin: staticmethod(self.client.take)})

    async def check_versions(self):
        pass

    register = check_versions

class Output(list):
    frame = list.append

def end(attached):
    stop = asyncio.Event()
    stop.set()
    return Loop().run_until_complete(attached.run(stop))
`;

/** Ends a bridge whose scheduler has a number of parts, and takes some seconds for each. Prints the reason and the parts. */
const PARTS = `${ATTACHED}
left, seconds = int(sys.argv[1]), float(sys.argv[2])

class Client:
    status = "running"

    async def take(self):
        global left
        await asyncio.sleep(seconds)
        left = max(0, left - 1)
        return left, [], left > 0

    async def close(self, timeout):
        pass

    async def unregister_worker_plugin(self, name):
        pass

print(end(Attached("address", Output(), 1, 1)), left)
`;

/** Ends a bridge whose scheduler answers nothing. Prints the reason and the calls, which each wait for the whole time limit. */
const SILENT = `${ATTACHED}
class Client:
    status = "running"
    calls = 0

    async def close(self, timeout):
        pass

    async def silent(self, *_args, **_options):
        self.calls += 1
        await asyncio.Event().wait()

    run = unregister_worker_plugin = take = silent

class Polled(Attached):
    async def register(self):
        self.polls["worker"] = asyncio.ensure_future(asyncio.sleep(0))

one = Polled("address", Output(), 1, 1)
print(end(one), one.client.calls)
`;

/** Runs a program in Python. Returns what it prints. */
async function printedBy(program: string, ...args: readonly (string | number)[]): Promise<string> {
  const stdout = await runOrThrow(python ?? '', ['-c', program, ...args.map(String)], { env: ENVIRONMENT });
  return stdout.trim();
}

const skip = python === undefined && NO_PYTHON;

it('a scheduler that sends its last rows slowly, in parts, answers, and all parts are taken', {
  skip,
}, async () => {
  assert.equal(await printedBy(PARTS, 3, 3), 'asked 0');
});

it('a scheduler with more rows at the end than it can send is named, and the bridge ends in time', {
  skip,
}, async () => {
  assert.match(
    await printedBy(PARTS, 100, 1),
    /^the scheduler had more events than it could send within 10 s at the end, so the last events are missing 8\d$/,
  );
});

it('a bridge ends soon, and says why, if the scheduler does not answer at the end', { skip }, async () => {
  assert.equal(
    await printedBy(SILENT),
    'the scheduler did not answer at the end, so the last events may be missing 1',
  );
});
