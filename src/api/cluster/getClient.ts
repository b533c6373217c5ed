// `getClient()`: the client of the running task.
import { checkNoMore } from '../../base/arguments.js';
import { oncePer } from '../../base/lookUps.js';
import { askingTask, noClusterError } from '../../engine/worker/askScheduler.js';
import type { MeteredTask } from '../../engine/worker/meterContext.js';
import { defaultClient } from './defaultClient.js';
import { isTaskClient, RunningTaskClient, type TaskClient } from './taskClient.js';

const clientOf = oncePer((_task: MeteredTask): TaskClient | undefined => {
  const client: unknown = new RunningTaskClient();
  return isTaskClient(client) ? client : undefined;
});

/**
 * Returns the client of the running task, which submits tasks to the cluster that runs the task. A call that waits for
 * results makes the task secede, so that the worker runs other tasks meanwhile; see `secede`. Methods of `Client` that
 * `TaskClient` lacks throw ERR_LONGPOLE_TASK_CLIENT. Outside a task, and after the end of the task, returns the most
 * recently connected open client, except those with `setAsDefault: false`.
 *
 *     export const work = tasks(import.meta.url, {
 *       async fib(n: number): Promise<number> {
 *         if (n < 2) return n;
 *         const client = getClient();
 *         const [a, b] = await client.gather([client.submit(work.fib, n - 1), client.submit(work.fib, n - 2)]);
 *         return a + b;
 *       },
 *     });
 *
 * @throws LongpoleError ERR_LONGPOLE_NO_CLIENT if no task of a cluster runs this code and no such client is open;
 *   ERR_LONGPOLE_INVALID_ARGUMENT if an argument is passed
 * @source Dask, `distributed.get_client`
 */
export function getClient(): TaskClient;
export function getClient(...more: readonly unknown[]): TaskClient {
  checkNoMore('getClient', more, 'Use connect() to connect to another cluster.');
  const client = taskClient() ?? defaultClient();
  if (client === undefined) throw noClusterError(', or call `await connect()` first');
  return client;
}

/** Returns the client of the running task; undefined outside a task of a cluster. */
export function taskClient(): TaskClient | undefined {
  const task = askingTask();
  return task && clientOf(task);
}
