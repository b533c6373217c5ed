// Peak memory of the worker processes of a cluster.
import type { Client } from 'longpole';
import { peakOf } from './processes.js';

const LOOK_EVERY_MS = 5;

/** Measures the peak memory of the largest worker process, in bytes. Returns 0 for workers that are threads. */
export function watchPeaks(client: Client): { stop(): number } {
  let peak = 0;
  const look = (): void => {
    for (const { pid } of Object.values(client.schedulerInfo().workers))
      if (pid !== process.pid) peak = Math.max(peak, peakOf(pid));
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  // The process of a round that fails must end.
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      return peak;
    },
  };
}
