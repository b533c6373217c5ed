import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterMirror } from '../dask/clusterMirror.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import { DaskObservation } from './dask.js';

test('a dashboard that starts while the observation is closed ends again', async () => {
  const end = { reason: 'The cluster has ended.' };
  const bridge = { ended: Promise.resolve(end), close: () => Promise.resolve(end) };
  const observation = new DaskObservation(
    'tcp://127.0.0.1:8786',
    bridge,
    new ClusterMirror([]),
    new LiveTrace(),
  );
  const link = observation.dashboard({ port: 0 });
  // Then the server has been loaded and is about to listen.
  await import('../server/dashboardServer.js');
  await Promise.all([assert.rejects(link, { code: 'ERR_LONGPOLE_CLOSED' }), observation.close()]);
});
