// The pages about tasks before the first task has ended, and those of a trace without tasks.
import { cutOffTexts } from '../../analysis/cutOff.js';
import { sumOf } from '../../base/lookUps.js';
import { countText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';
import { Nothing } from '../views/parts.js';
import type { PageProps } from './pageProps.js';

export function hasNoTasks({ tasks, totals }: Trace): boolean {
  return tasks.length === 0 && totals.states.every((count) => count === 0);
}

export function NoTasks({ update: { trace, live } }: Pick<PageProps, 'update'>) {
  const cutOff = cutOffTexts(trace);
  if (cutOff.length > 0) return <Nothing title="No task ended">{cutOff.join(' ')}</Nothing>;
  if (trace.damage !== undefined)
    return <Nothing title="The trace has no task">Not all of it could be read.</Nothing>;
  const isLive = live !== undefined;
  // Tasks whose results no task and no future needs any more are still counted.
  const known = sumOf(Object.entries(live?.states ?? {}), ([state, count]) =>
    state === 'forgotten' ? 0 : count,
  );
  if (isLive && live.workers.length === 0 && known > 0)
    return (
      <Nothing title="No task has ended yet, and no worker is connected">
        The {countText(known, 'task')} that the scheduler knows cannot run before a worker joins. Start
        workers, e.g. with <code>cluster.scale(2)</code>.
      </Nothing>
    );
  return (
    <Nothing title={isLive ? 'No task has ended yet' : 'No task ran'}>
      {isLive
        ? 'Tasks and their numbers appear here when the first task ends.'
        : 'The recording has no task.'}{' '}
      Start tasks with <code>compute</code>, <code>client.submit</code> or <code>client.map</code>.
    </Nothing>
  );
}
