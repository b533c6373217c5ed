// A real Dask cluster, observed: with several threads per worker, through wrong addresses, and over TLS. Skipped if no Python has
// distributed.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { observeDask, openTrace } from 'longpole/trace';
import { repositoryPath } from '../support/repository.js';
import { outputWith, useLongpoleDask } from './longpoleDask.js';
import { NO_PYTHON, nothingLeft, python, sharedCluster, Workload } from './realCluster.js';

/** A self-signed certificate for localhost with its key. */
const PEM = repositoryPath('test/fixtures/dask/localhost.pem');

const folder = mkdtempSync(join(tmpdir(), 'longpole-dask-'));
after(() => rmSync(folder, { recursive: true }));
const { longpoleDask } = useLongpoleDask(folder);

const withSharedCluster = sharedCluster(2);

describe('a Dask cluster', () => {
  it(
    'can be observed with several threads per worker, and while it already runs tasks',
    withSharedCluster(async (cluster) => {
      const running = cluster.run();
      await using dask = await cluster.observe();
      await running;
      const counted = await cluster.run();
      assert.equal(await dask.close(), 'asked');
      const { tasks } = dask.trace;
      assert.ok(tasks.length >= counted.tasks);
      assert.deepEqual([...new Set(tasks.thread)].sort(), [0, 1]);
      assert.equal(dask.facts['Scheduler'], cluster.address);
      await nothingLeft(cluster);
    }),
  );

  it(
    'cannot be observed through a wrong address, and the error names what listens there',
    withSharedCluster(async (cluster, name) => {
      const { worker } = await cluster.ask<{ worker: string }>('addresses');
      await assert.rejects(observeDask(worker, { python: cluster.python }), {
        code: 'ERR_LONGPOLE_DASK_CONNECT',
        message: /a worker or a nanny listens there/,
      });
      const web = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
      await once(web, 'listening');
      const address = web.address();
      assert.ok(address !== null && typeof address === 'object');
      await assert.rejects(observeDask(`127.0.0.1:${address.port}`, { python: cluster.python, timeout: 4 }), {
        code: 'ERR_LONGPOLE_DASK_CONNECT',
        message: /a web server listens there/,
      });
      web.close();
      await assert.rejects(observeDask('tcp://127.0.0.1:1', { python: cluster.python, timeout: 1 }), {
        code: 'ERR_LONGPOLE_DASK_CONNECT',
        message: /nothing listened there for 1 s/,
      });
      const security = { ca: PEM, cert: PEM, key: PEM };
      const plain = cluster.address.replace('tcp:', 'tls:');
      await assert.rejects(observeDask(plain, { python: name, security }), {
        code: 'ERR_LONGPOLE_DASK_CONNECT',
        message: /does not speak TLS: write tcp:/,
      });
    }),
  );

  it('can be observed over TLS, with certificates in files', async (context) => {
    if (python === undefined) return context.skip(NO_PYTHON);
    await using cluster = await new Workload(python, 1, PEM).start();
    assert.match(cluster.address, /^tls:/);
    const plain = cluster.address.replace('tls://', 'tcp://');
    await assert.rejects(observeDask(plain, { python: cluster.python }), {
      message: /closed the connection: if the cluster uses TLS/,
    });
    await assert.rejects(observeDask(cluster.address, { python: cluster.python }), {
      message: /TLS needs certificates: pass them as the option security, as --ca,/,
    });
    const files = ['--ca', PEM, '--cert', PEM, '--key', PEM];
    const place = cluster.address.replace('tls://', '');
    const child = longpoleDask('record', [place, ...files, '-o', 'tls.trace'], python);
    await outputWith(child.stderr!, /Ctrl-C/);
    await cluster.ask('naps');
    child.kill('SIGINT');
    assert.deepEqual(await once(child, 'close'), [0, null]);
    assert.equal(openTrace(join(folder, 'tls.trace')).tasks.length, 40);
    await nothingLeft(cluster);
  });
});
