// Reports when the process of the program started and when it is about to end.
import { reportAtExit } from '../files/exitFlush.js';
import type { ClusterObserver } from '../protocol/clusterObserver.js';
import { PROGRAM } from '../protocol/eventTopics.js';

/** Reports both as events. The end is not reported if a signal ends a program that has neither a cluster nor tasks on workers. */
export function observeLifetime(observer: ClusterObserver): void {
  const event = (topic: string, text: string, sinceOrigin: number): void =>
    observer.event?.({ time: (performance.timeOrigin + sinceOrigin) / 1000, worker: -1, topic, text });
  event(PROGRAM.begin, 'The program started.', 0);
  reportAtExit(() => event(PROGRAM.end, 'The program ended.', performance.now()));
}
