// `Delayed.persist()`. The folder graph/ may not import clusters, so the method is added here.
import { LongpoleError } from '../base/errors.js';
import { Delayed } from '../graph/delayed.js';
import type { SubmitOptions } from './cluster/clientOptions.js';
import { defaultClient } from './cluster/defaultClient.js';
import type { Future } from './cluster/future.js';
import { taskClient } from './cluster/getClient.js';

import './delayedGraph.js';

export { Delayed };

declare module '../graph/delayed.js' {
  interface Delayed<T> {
    /**
     * Starts the computation on the cluster of the running task, else of the most recently connected client. The result stays on the workers.
     *
     * @returns a future of the result. Other errors are errors of this future.
     * @throws LongpoleError ERR_LONGPOLE_NO_CLIENT if no client is connected
     * @source Dask, `Delayed.persist`
     */
    persist(options?: SubmitOptions): Future<T>;
  }
}

Delayed.prototype.persist = function persist<T>(this: Delayed<T>, options?: SubmitOptions): Future<T> {
  const client = taskClient() ?? defaultClient();
  if (client === undefined)
    throw new LongpoleError(
      'ERR_LONGPOLE_NO_CLIENT',
      'persist() keeps results on a cluster, and no client is connected. Call `await connect()` first.',
    );
  return client.persist(this, options);
};
