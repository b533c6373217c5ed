// The state of a cluster that a client can read (places of results, running tasks, logged events), and restarts of workers.
import assert from 'node:assert/strict';
import { wait } from 'longpole';
import type { Trace } from 'longpole/trace';
import { t } from './clusterTasks.js';
import { open, rejection, sharedClusterTest, started, until } from './support.js';

const LARGE = 100_000;

/** Returns the texts of the events with this topic. */
function textsOf({ events, strings }: Trace, topic: string): string[] {
  const texts = Array.from(events.text, (text) => strings.get(text));
  return texts.filter((_, row) => strings.get(events.topic[row]!) === topic);
}

sharedClusterTest(
  'whoHas, hasWhat and nbytes return the places and sizes of results',
  async ({ client, cluster }) => {
    const [first = '', second = ''] = cluster.workers;
    const large = client.submit(t.zeros, LARGE, 1, { key: 'zeros-1', workers: second });
    const small = client.submit(t.inc, 1, { key: 'inc-1' });
    await wait([large, small]);
    assert.deepEqual(client.whoHas([large, small]), { 'zeros-1': [second], 'inc-1': [] });
    assert.deepEqual(client.whoHas(large), { 'zeros-1': [second] });
    assert.deepEqual(client.hasWhat(), { [first]: [], [second]: ['zeros-1'] });
    assert.deepEqual(client.hasWhat(second), { [second]: ['zeros-1'] });
    const bytes = client.nbytes({ futures: large })['zeros'];
    assert.ok(bytes !== undefined && bytes >= 8 * LARGE);
    assert.equal(client.nbytes({ summary: false })['zeros-1'], bytes);
    assert.deepEqual(client.nthreads(), { [first]: 1, [second]: 1 });
  },
);

sharedClusterTest(
  'processing and callStack return the running tasks and their stacks',
  async ({ client, cluster, folder }) => {
    const [first = '', second = ''] = cluster.workers;
    const held = client.submit(t.hold, folder, 'gate', 1, { key: 'hold-1', workers: first });
    await started(folder, 'gate');
    assert.deepEqual(client.processing(), { [first]: ['hold-1'], [second]: [] });
    assert.deepEqual(client.processing(second), { [second]: [] });
    await until('the thread shows the function of the task', async () => {
      const stacks = await client.callStack(held);
      return stacks[first]?.['hold-1']?.some((frame) => frame.includes('hold')) === true;
    });
    const other = client.submit(t.inc, 1);
    assert.deepEqual(await client.callStack(other), {});
    open(folder, 'gate');
    assert.equal(await held, 1);
  },
);

sharedClusterTest(
  'events are logged by topic, and the handlers of a topic receive its events',
  async ({ client }) => {
    const received: unknown[] = [];
    const end = client.subscribeTopic('steps', ({ message }) => received.push(message));
    client.logEvent('steps', { step: 1 });
    client.logEvent(['steps', 'other'], 'two');
    end();
    client.logEvent('steps', 3);
    assert.deepEqual(received, [{ step: 1 }, 'two']);
    assert.deepEqual(
      client.getEvents('steps').map(({ message }) => message),
      [{ step: 1 }, 'two', 3],
    );
    assert.deepEqual(
      client.getEvents()['other']?.map(({ topic, worker, message }) => [topic, worker, message]),
      [['other', -1, 'two']],
    );
    assert.deepEqual(textsOf(client.trace, 'steps'), ['{"step":1}', 'two', '3']);
    await client.submit(t.fail, 'no').wait();
    assert.match(String(client.getEvents('task-erred').at(-1)?.message), /no/);
  },
);

sharedClusterTest(
  'a message without a JSON form is logged with the text that the console would print',
  async ({ client }) => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    client.logEvent('odd', 10n);
    client.logEvent('odd', cycle);
    assert.deepEqual(
      client.getEvents('odd').map(({ message }) => message),
      [10n, cycle],
    );
    assert.deepEqual(textsOf(client.trace, 'odd'), ['10n', '<ref *1> { self: [Circular *1] }']);
  },
);

sharedClusterTest('a handler that throws is reported and does not stop the others', async ({ client }) => {
  const received: unknown[] = [];
  const fail = () => {
    throw new Error('a faulty handler');
  };
  const ends = ['steps', 'observer-error'].flatMap((topic) => [
    client.subscribeTopic(topic, fail),
    client.subscribeTopic(topic, ({ message }) => received.push(message)),
  ]);
  client.logEvent('steps', 1);
  for (const end of ends) end();
  assert.deepEqual([received.length, received[0]], [2, 1]);
  assert.match(String(received[1]), /a faulty handler/);
  assert.match(String(client.getEvents('observer-error').at(-1)?.message), /a faulty handler/);
  const texts = textsOf(client.trace, 'observer-error');
  assert.ok(texts.length === 2 && texts.every((text) => text.includes('a faulty handler')));
});

sharedClusterTest('restartWorkers replaces workers and keeps results', async ({ client, cluster }) => {
  const [first = ''] = cluster.workers;
  const { started: before } = client.schedulerInfo().workers[first]!;
  const large = client.submit(t.zeros, LARGE, 3, { workers: first });
  await large.wait();
  await client.restartWorkers(first);
  assert.deepEqual(cluster.workers.length, 2);
  assert.notEqual(client.schedulerInfo().workers[first]!.started, before);
  assert.equal((await large)[LARGE - 1], 3);
});

sharedClusterTest(
  'restart cancels all tasks and replaces all workers',
  async ({ client, cluster, folder }) => {
    const held = client.submit(t.holdAsync, folder, 'gate', 1);
    const computed = rejection(client.compute([]).then(() => client.submit(t.holdAsync, folder, 'other', 1)));
    const done = client.submit(t.zeros, LARGE, 1);
    await started(folder, 'gate');
    await started(folder, 'other');
    await done.wait();
    await client.restart();
    assert.match(String(await rejection(held.result())), /restart/);
    assert.match(String(await computed), /restart/);
    assert.equal(done.status, 'cancelled');
    assert.equal(cluster.workers.length, 2);
    assert.equal(await client.submit(t.inc, 1), 2);
  },
);

sharedClusterTest(
  'whoHas has the keys in the order of the futures, also those without a result',
  async ({ client, folder }) => {
    const held = client.submit(t.hold, folder, 'whoHas', 1, { key: 'hold-2' });
    await started(folder, 'whoHas');
    const small = client.submit(t.inc, 1, { key: 'inc-2' });
    await small.wait();
    assert.deepEqual(Object.keys(client.whoHas([held, small])), ['hold-2', 'inc-2']);
    open(folder, 'whoHas');
    await held;
  },
);

sharedClusterTest('two subscriptions with the same handler are separate', async ({ client }) => {
  const received: unknown[] = [];
  const handler = ({ message }: { readonly message: unknown }): void => void received.push(message);
  const ends = [client.subscribeTopic('twice', handler), client.subscribeTopic('twice', handler)];
  client.logEvent('twice', 1);
  ends[0]?.();
  client.logEvent('twice', 2);
  ends[1]?.();
  client.logEvent('twice', 3);
  assert.deepEqual(received, [1, 1, 2]);
});
