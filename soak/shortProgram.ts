// A program as short as a user's first one: it starts two worker processes, maps, submits tasks on the futures, and ends.
// node shortProgram.js LENGTH
import assert from 'node:assert/strict';
import { connect } from 'longpole';
import { t } from '../test/cluster/clusterTasks.js';

const length = Number(process.argv[2]);
const numbers = Array.from({ length }, (_, i) => i);
await using client = await connect({ workers: 2, processes: true });
const mapped = client.map(t.inc, numbers);
const sums = mapped.map((future, i) => client.submit(t.add, future, mapped[(i * 7) % length]!));
const expected = numbers.reduce((sum, i) => sum + i + 1 + ((i * 7) % length) + 1, 0);
assert.equal(await client.submit(t.sum, sums).result(), expected);
