// `getClient()`: the client of the running task.
import { checkNoMore } from '../../base/arguments.js';
import { askingTask, noClusterError } from '../../engine/worker/askScheduler.js';
import type { MeteredTask } from '../../engine/worker/meterContext.js';
import { defaultClient } from './defaultClient.js';
import { isTaskClient, RunningTaskClient, type TaskClient } from './taskClient.js';

const clients = new WeakMap<MeteredTask, TaskClient>();

/**
 * Returns the client of the running task, which submits tasks to the cluster that runs the task. A call that waits for
 * results makes the task secede, so that the worker runs other tasks meanwhile; see `secede`. Outside a task, returns
 * the most recently connected client.
 *
 *     async fib(n: number): Promise<number> {
 *       if (n < 2) return n;
 *       const client = getClient();
 *       const [a, b] = await client.gather([client.submit(fib, n - 1), client.submit(fib, n - 2)]);
 *       return a + b;
 *     }
 *
 * @throws LongpoleError ERR_LONGPOLE_NO_CLIENT outside a task of a cluster, and after its end, if no client is connected
 * @source Dask, `distributed.get_client`
 */
export function getClient(): TaskClient;
export function getClient(...more: readonly unknown[]): TaskClient {
  checkNoMore('getClient', more, 'Use connect() to connect to another cluster.');
  const client = taskClient() ?? defaultClient();
  if (client === undefined) throw noClusterError();
  return client;
}

/** Returns the client of the running task; undefined outside a task of a cluster. */
export function taskClient(): TaskClient | undefined {
  const task = askingTask();
  if (task === undefined) return undefined;
  const known = clients.get(task);
  if (known !== undefined) return known;
  const client: unknown = new RunningTaskClient();
  if (!isTaskClient(client)) return undefined;
  clients.set(task, client);
  return client;
}
