// What a person must know before they read a number: the connection is lost, rows are missing, the trace is damaged.
import { formatCount } from '../model/format.js';
import type { ShellState } from './shellState.js';

export function Banners({ state }: { readonly state: ShellState }) {
  const update = state.update.value;
  const status = state.status.value;
  const letGo = update?.trace.letGo.tasks ?? 0;
  const damage = update?.trace.damage;
  return (
    <>
      {status === 'lost' ? (
        <p class="banner lost" role="alert">
          {update === undefined
            ? 'There is no connection to the scheduler. Trying again…'
            : 'The connection to the scheduler is lost. What you see is as it was; trying again…'}
        </p>
      ) : null}
      {status === 'whole' && state.detail.value !== '' ? (
        <p class="banner" role="status">
          The run is over ({state.detail.value}). What you see is all of it.
        </p>
      ) : null}
      {status === 'cut' ? (
        <p class="banner lost" role="alert">
          Nothing more comes ({state.detail.value}). This page has not got all of it.
        </p>
      ) : null}
      {letGo > 0 && update !== undefined ? (
        <p class="banner" role="status">
          Totals count all {formatCount(letGo + update.trace.tasks.length)} runs.{' '}
          {update.trace.tasks.length === 0
            ? 'What each of them did is on its way.'
            : `Task stream, graph and lists have the newest ${formatCount(update.trace.tasks.length)} of them.`}
        </p>
      ) : null}
      {damage === undefined ? null : (
        <p class="banner" role="status">
          Not all of the trace could be read: {damage.reason}.
        </p>
      )}
    </>
  );
}
