// A program that computes on a cluster and records a trace. It ends after a number of rounds or by a signal: node
// victim.js KIND TRACE [ROUNDS]
import assert from 'node:assert/strict';
import { connect } from 'longpole';
import { t } from '../test/cluster/clusterTasks.js';

const [kind, trace = '', rounds = 'Infinity'] = process.argv.slice(2);
// A low target causes spilled results, whose files must be removed, too.
await using client = await connect({
  workers: 2,
  processes: kind === 'processes',
  memory: { target: 0.001 },
});
client.record(trace, { interval: 0.1 });
for (let round = 0; round < Number(rounds); round++) {
  const arrays = client.map(t.zeros, Array(20).fill(20_000), Array(20).fill(round));
  const totals = await client.gather(client.map(t.total, arrays));
  assert.deepEqual(totals, Array(20).fill(20_000 * round));
  for (const future of arrays) future.release();
}
