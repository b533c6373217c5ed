// `Delayed.persist()`: what graph/ cannot have, because it does not know clusters.
import { LongpoleError } from '../base/errors.js';
import { Delayed } from '../graph/delayed.js';
import type { SubmitOptions } from './cluster/clientOptions.js';
import { defaultClient } from './cluster/defaultClient.js';
import type { Future } from './cluster/future.js';

import './delayedGraph.js';

export { Delayed };

declare module '../graph/delayed.js' {
  interface Delayed<T> {
    /**
     * Starts to compute on the cluster of the client that was connected last. The result stays on its workers.
     *
     * @throws LongpoleError ERR_LONGPOLE_CLOSED without a connected client; what else is wrong is the error of the future
     * @source Dask, `Delayed.persist`
     */
    persist(options?: SubmitOptions): Future<T>;
  }
}

Delayed.prototype.persist = function persist<T>(this: Delayed<T>, options?: SubmitOptions): Future<T> {
  const client = defaultClient();
  if (client === undefined)
    throw new LongpoleError(
      'ERR_LONGPOLE_CLOSED',
      'persist() keeps results on a cluster, and no client is connected. Call `await connect()` first.',
    );
  return client.persist(this, options);
};
