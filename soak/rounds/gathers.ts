// A client gathers more than its heap. It gets one error that names the limit and a key, and the results stay on the
// workers.
import assert from 'node:assert/strict';
import { connect, LocalCluster, LongpoleError } from 'longpole';
import type { Round, RoundContext } from '../round.js';
import { v } from '../valueTasks.js';

const HEAP_MEGABYTES = 256;
const RESULTS = 100;
/** Largest serialized size of a result. */
const MEGABYTES = 8;
const PIECES = 5;

async function run(context: RoundContext): Promise<void> {
  const { random } = context;
  const processes = random.chance(0.5);
  context.doing(`starts ${processes ? 'processes' : 'threads'}`);
  await using cluster = await LocalCluster.start({ workers: 2, processes, memoryLimit: 0 });
  context.count('clusters');
  await using client = await connect(cluster, { setAsDefault: false });
  const made = Array.from({ length: RESULTS }, () => {
    const kind = random.pick(['text', 'integers', 'doubles', 'objects'] as const);
    // Even the smallest kinds exceed the heap together.
    const megabytes = MEGABYTES / 2 + random.below(MEGABYTES / 2);
    return { kind, megabytes, future: client.submit(v.bulk, kind, megabytes) };
  });
  context.count('inputs', RESULTS);
  context.doing('gathers all of them');
  const gathered = client.gather(made.map(({ future }) => future)).then(
    () => undefined,
    (error: unknown) => error,
  );
  const error = await context.timed('gather', () => gathered);
  assert.ok(error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_MEMORY_LIMIT', String(error));
  assert.match(error.message, /^The result 'bulk-.*' of .* does not fit into the heap/);
  for (let piece = 0; piece < PIECES; piece++) {
    context.doing(`gathers piece ${piece}`);
    const some = [random.pick(made), random.pick(made)];
    const values = await context.timed('piece', () => client.gather(some.map(({ future }) => future)));
    for (const [index, { kind, megabytes }] of some.entries())
      assert.equal(values[index]?.length, v.bulk.fn(kind, megabytes).length);
  }
}

export const gathers: Round = {
  name: 'gathers',
  checks: 'A client that gathers more than its heap gets an error, and the results stay.',
  nodeArguments: [`--max-old-space-size=${HEAP_MEGABYTES}`],
  run,
};
