// The end of the bridge that watches a Dask cluster, while the scheduler has rows in many parts, on a clock that does not wait.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ENVIRONMENT } from '../python/environment.js';
import { runOrThrow } from '../support/runCommand.js';
import { NO_PYTHON, python } from './realCluster.js';

/** Ends a bridge whose scheduler has a number of parts, and takes some seconds for each. Prints the reason and the parts. */
const PARTS = `
import asyncio, sys
from longpole_dask.bridge import Bridge

left, seconds = int(sys.argv[1]), float(sys.argv[2])

class Loop(asyncio.SelectorEventLoop):
    now = 0.0

    def time(self):
        return self.now

    def _run_once(self):
        if not self._ready and self._scheduled:
            self.now = max(self.now, self._scheduled[0]._when)
        super()._run_once()

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

class Output(list):
    frame = list.append

class Attached(Bridge):
    async def connect(self):
        self.client = Client()
        self.client.scheduler = type("Scheduler", (), {self.scheduler_plugin: staticmethod(self.client.take)})

    async def check_versions(self):
        pass

    register = check_versions

async def main():
    stop = asyncio.Event()
    stop.set()
    print(await Attached("address", Output(), 1, 1).run(stop), left)

Loop().run_until_complete(main())
`;

async function endWith(parts: number, seconds: number): Promise<string> {
  const stdout = await runOrThrow(python ?? '', ['-c', PARTS, String(parts), String(seconds)], {
    env: ENVIRONMENT,
  });
  return stdout.trim();
}

it('a scheduler that sends its last rows slowly, in parts, answers, and all parts are taken', {
  skip: python === undefined && NO_PYTHON,
}, async () => {
  assert.equal(await endWith(3, 3), 'asked 0');
});

it('a scheduler with more rows at the end than it can send is named, and the bridge ends in time', {
  skip: python === undefined && NO_PYTHON,
}, async () => {
  assert.match(
    await endWith(100, 1),
    /^the scheduler had more events than it could send within 10 s at the end, so the last events are missing 8\d$/,
  );
});
