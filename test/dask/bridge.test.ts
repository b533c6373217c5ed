// Errors of the bridge to Dask: no usable Python, a scheduler that does not answer, a bridge that sends invalid frames.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { observeDask } from 'longpole/trace';
import { packValue } from '#internal/trace/formats/dasf/msgpack.js';
import { repositoryPath } from '../support/repository.js';
import { runCommand, runOrThrow } from '../support/runCommand.js';
import { NO_PYTHON, python } from './realCluster.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-bridge-'));
after(() => rmSync(folder, { recursive: true }));

/** Writes a program that imitates Python: it prints `output` and `error`, then exits with `code`. Returns its path. */
function fakePython(name: string, output: Uint8Array, code: number, error = ''): string {
  const file = join(folder, name);
  const program = [
    `#!${process.execPath}`,
    `process.stdout.write(Buffer.from('${Buffer.from(output).toString('base64')}', 'base64'));`,
    `process.stderr.write(${JSON.stringify(error)});`,
    `process.exitCode = ${code};`,
  ];
  writeFileSync(file, program.join('\n'));
  chmodSync(file, 0o755);
  return file;
}

function frame(...rows: unknown[]): Uint8Array {
  const payload = packValue(rows);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(payload.length);
  return Buffer.concat([length, payload]);
}

const inPython = (source: string): Promise<string> =>
  runOrThrow(python!, ['-c', source], {
    env: { ...process.env, PYTHONPATH: repositoryPath('python') },
  });

const hello = ['hello', 1, 1e9, '', { Scheduler: 'tcp://10.0.0.1:8786' }];
const windows = process.platform === 'win32';

describe('a bridge to Dask', () => {
  it('cannot start without Python', async () => {
    await assert.rejects(observeDask('tcp://127.0.0.1:1', { python: join(folder, 'nowhere') }), {
      code: 'ERR_LONGPOLE_PYTHON',
      message: /nowhere/,
    });
  });

  it('cannot start if the Python lacks distributed', {
    skip: windows && 'programs need a shell here',
  }, async () => {
    const python = fakePython('bare', frame(['refused', 'distributed', "No module named 'distributed'"]), 1);
    await assert.rejects(observeDask('tcp://127.0.0.1:1', { python }), {
      code: 'ERR_LONGPOLE_PYTHON',
      message: /No module named 'distributed'.*LONGPOLE_PYTHON/,
    });
  });

  it('cannot start if its Python has another version than the cluster', {
    skip: windows && 'programs need a shell here',
  }, async () => {
    const why = 'the scheduler runs Python 3.12.1, this is Python 3.11';
    const python = fakePython('older', frame(['refused', 'versions', why]), 1);
    await assert.rejects(observeDask('tcp://127.0.0.1:1', { python }), {
      code: 'ERR_LONGPOLE_DASK_VERSION',
      message: /3\.12\.1/,
    });
  });

  it('cannot start without a scheduler that answers', {
    skip: windows && 'programs need a shell here',
  }, async () => {
    const python = fakePython('alone', frame(['refused', 'connect', 'no scheduler there']), 1);
    await assert.rejects(observeDask('tcp://127.0.0.1:1', { python }), {
      code: 'ERR_LONGPOLE_DASK_CONNECT',
      message: /no scheduler there/,
    });
  });

  it('reports the exit code and the last output of a bridge that died', {
    skip: windows && 'programs need a shell here',
  }, async () => {
    const python = fakePython('dies', new Uint8Array(0), 3, 'Traceback\nMemoryError: so much\n');
    await assert.rejects(observeDask('tcp://127.0.0.1:1', { python }), {
      code: 'ERR_LONGPOLE_DASK_BRIDGE',
      message: /code 3.*MemoryError/,
    });
  });

  it('is refused when it sends invalid rows', { skip: windows && 'programs need a shell here' }, async () => {
    const python = fakePython('invalid', frame(['graph', 'not', 'a', 'graph']), 0);
    await assert.rejects(observeDask('tcp://127.0.0.1:1', { python }), { code: 'ERR_LONGPOLE_DASK_BRIDGE' });
    const later = fakePython('invalid-later', Buffer.concat([frame(hello), frame(['ready', 7, 1e9])]), 0);
    const dask = await observeDask('tcp://127.0.0.1:1', { python: later });
    await assert.rejects(dask.close(), { code: 'ERR_LONGPOLE_DASK_BRIDGE', message: /no task 7/ });
  });

  it('names what is wrong with the files of a client before it connects', async (context) => {
    if (python === undefined) return context.skip(NO_PYTHON);
    const pem = readFileSync(repositoryPath('test/fixtures/dask/localhost.pem'), 'utf8');
    const keyWith = (secret: { cipher?: string; passphrase?: string }): string =>
      generateKeyPairSync('rsa', {
        modulusLength: 2048,
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem', ...secret },
      }).privateKey;
    for (const [key, message] of [
      [keyWith({ cipher: 'aes-256-cbc', passphrase: 'secret' }), /the private key needs a passphrase/],
      [keyWith({}), /the private key is not that of the certificate/],
    ] as const)
      await assert.rejects(
        observeDask('tls://127.0.0.1:1', { python, security: { ca: pem, cert: pem, key } }),
        { code: 'ERR_LONGPOLE_DASK_CONNECT', message },
      );
  });

  it('reports why it ended by itself', { skip: windows && 'programs need a shell here' }, async () => {
    const python = fakePython('ends', frame(hello, ['closed', 'the scheduler is gone']), 0);
    const dask = await observeDask('tcp://127.0.0.1:1', { python });
    assert.equal(await dask.closed, 'the scheduler is gone');
    assert.equal(await dask.close(), 'the scheduler is gone');
  });

  it('refuses invalid addresses and time limits', async () => {
    for (const address of ['localhost', 'tcp://', '']) {
      await assert.rejects(observeDask(address), { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
    }
    await assert.rejects(observeDask('tcp://127.0.0.1:1', { timeout: 0 }), {
      code: 'ERR_LONGPOLE_INVALID_ARGUMENT',
    });
  });

  it('ends the command with code 2 and one message if it cannot start', {
    skip: windows && 'programs need a shell here',
  }, async () => {
    const python = fakePython('alone', frame(['refused', 'connect', 'no scheduler there']), 1);
    const { code, stderr } = await runCommand(
      process.execPath,
      [repositoryPath('dist/bundle/main.js'), 'dask', 'record', 'tcp://127.0.0.1:1', '--python', python],
      { cwd: folder },
    );
    assert.equal(code, 2);
    assert.match(stderr, /^longpole: tcp:\/\/127\.0\.0\.1:1 cannot be observed: no scheduler there/);
  });

  it('is not started for a dashboard that cannot be served', async () => {
    const taken = createServer().listen(0, '127.0.0.1').unref();
    await once(taken, 'listening');
    const address = taken.address();
    assert.ok(address !== null && typeof address === 'object');
    for (const [options, message] of [
      [['--token', 'short'], /^longpole: token: /],
      [['--host', 'no.such.host.invalid'], /ENOTFOUND|EAI_AGAIN/],
      [['--port', String(address.port)], /the port is taken/],
    ] as const) {
      // There is no such Python.
      const args = ['dask', 'attach', 'tcp://127.0.0.1:1', '--python', join(folder, 'none'), ...options];
      const { code, stderr } = await runCommand(process.execPath, [
        repositoryPath('dist/bundle/main.js'),
        ...args,
      ]);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
    taken.close();
  });

  it('writes the rows of a poll that is under way when it ends', {
    skip: python === undefined && NO_PYTHON,
  }, async () => {
    const stdout = await inPython(DETACHED);
    assert.equal(stdout.trim(), "[b'polled', b'last']");
  });

  it('reports that it connects again, and ends if the scheduler accepts no connection', {
    skip: python === undefined && NO_PYTHON,
  }, async () => {
    const stdout = await inPython(CONNECTING);
    assert.equal(
      stdout.trim(),
      'disconnected reconnected disconnected: the scheduler closed the connection, and accepted no new one for 10 s',
    );
  });

  it('has all of its time to connect again, also if its Python started slowly', {
    skip: python === undefined && NO_PYTHON,
  }, async () => {
    assert.equal((await inPython(SLOW_START)).trim(), '60');
  });

  it('says that the scheduler is too old for the distributed of its Python', {
    skip: python === undefined && NO_PYTHON,
  }, async () => {
    assert.match(await inPython(OLD_SCHEDULER), /^versions the scheduler is too old for distributed 20/);
  });

  it('registers its plugins with a distributed that has a method for each kind', {
    skip: python === undefined && NO_PYTHON,
  }, async () => {
    assert.equal((await inPython(OLD_CLIENT)).trim(), 'SchedulerTap WorkerTap');
  });
});

/** Runs a bridge whose client loses its connection twice. The calls of the scheduler never return. */
const CONNECTING = `
import asyncio
from longpole_dask import run_bridge
from longpole_dask.run_bridge import RunBridge

run_bridge.INTERVAL = run_bridge.CHECK_INTERVAL = 0.01

class Output(list):
    def event(self, **event):
        self.append(event["type"])

class Client:
    status = "running"

    async def nthreads(self):
        await asyncio.Event().wait()

async def main():
    bridge = RunBridge("address", Output(), 10, "", (None, None))
    bridge.client = Client()
    following = asyncio.ensure_future(bridge.follow(asyncio.Event()))
    for count, status in enumerate(("connecting", "running", "connecting"), start=1):
        bridge.client.status = status
        while len(bridge.out) < count:
            await asyncio.sleep(0)
    bridge.client.status = "closing"
    print(*bridge.out, end=": ")
    print(await following)

asyncio.run(main())
`;

/** Ends a bridge after a worker has received a poll and before it answers. */
const DETACHED = `
import asyncio
from longpole_dask.bridge import Bridge

class Client:
    status = "running"
    answers = [b"last", b"polled"]

    def __init__(self):
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()

    async def run(self, *_args, **_options):
        answer = self.answers.pop()
        self.asked.set()
        await self.gate.wait()
        return {"worker": answer}

    async def close(self, timeout):
        pass

    async def unregister_worker_plugin(self, name):
        pass

class Output(list):
    frame = list.append

async def main():
    bridge = Bridge("address", Output(), 1, 1)
    bridge.client = client = Client()
    bridge.poll(["worker"])
    await client.asked.wait()
    end = asyncio.ensure_future(bridge.detach())
    await asyncio.sleep(0)
    client.gate.set()
    await end
    print(list(bridge.out))

asyncio.run(main())
`;

/** Connects to a scheduler without the options of the present distributed. */
const OLD_SCHEDULER = `
import asyncio
from distributed.core import Server
from longpole_dask.bridge import Bridge, Refused

class Scheduler(Server):
    def identity(self):
        return {"type": "Scheduler"}

async def main():
    async with Scheduler({}) as scheduler:
        await scheduler.listen("tcp://127.0.0.1:0")
        try:
            await Bridge(scheduler.address, [], 300, 1).run(asyncio.Event())
        except Refused as error:
            print(error.code, error)

asyncio.run(main())
`;

/** Registers the plugins with the client of distributed 2023.7. */
const OLD_CLIENT = `
import asyncio
from longpole_dask.bridge import Bridge

class Client:
    id = "client"
    kinds = []

    async def register_scheduler_plugin(self, plugin, name):
        self.kinds.append(type(plugin).__name__)

    register_worker_plugin = register_scheduler_plugin

bridge = Bridge("address", [], 10, 1)
bridge.client = Client()
asyncio.run(bridge.register())
print(*Client.kinds)
`;

/** Connects when half of the time is over. Prints the time limit of the client for its next connection. */
const SLOW_START = `
import asyncio
from distributed import Scheduler
from longpole_dask import bridge

bridge.time_left = lambda timeout: timeout / 2

async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        one = bridge.Bridge(scheduler.address, [], 60, 1)
        await one.connect()
        print(one.client._timeout)
        await one.client.close()

asyncio.run(main())
`;
