// The bars of the first page about the critical path: by activity and wait, and by prefix.
import type { CriticalPath, PathKind } from '../../analysis/criticalPath.js';
import { awaitedObject, contendedLock } from '../../analysis/leaseWaits.js';
import { formatDuration, formatPercent } from '../model/format.js';
import { kindColor } from '../model/palette.js';
import { Bars, ColorKey, Empty } from '../views/parts.js';
import type { DrawnProps } from './pageProps.js';

interface PathProps extends DrawnProps {
  readonly path: CriticalPath;
}

interface PathBarProps extends PathProps {
  /** False if tasks had not ended, so that the path has no lower limit. */
  readonly isComplete: boolean;
}

export function PathBar({ path, trace, scheme, isComplete }: PathBarProps) {
  if (!(path.makespan > 0)) return <Empty>No task ran.</Empty>;
  const parts = path.byKind.map(({ kind, seconds }) => ({
    name: kind === AWAITING ? awaitingText(objectOfPath(path, seconds)) : kind,
    seconds,
    color: kindColor(kind, scheme),
  }));
  const lock = contendedLock(trace);
  return (
    <>
      <div
        class="path-bar"
        role="img"
        aria-label={parts.map(({ name, seconds }) => `${name} ${formatDuration(seconds)}`).join(', ')}
      >
        {parts.map(({ name, seconds, color }) => (
          <i
            key={name}
            title={`${name}: ${formatDuration(seconds)}`}
            style={{ width: `${(100 * seconds) / path.makespan}%`, background: color }}
          />
        ))}
      </div>
      <ColorKey
        parts={parts.map(({ name, seconds, color }) => ({
          name: `${name} ${formatDuration(seconds)} (${formatPercent((100 * seconds) / path.makespan)})`,
          color,
        }))}
      />
      {isComplete ? (
        <p class="muted">
          No number of workers makes the run shorter than {formatDuration(path.floor)}
          {lock !== undefined && lock.contended >= path.floor
            ? `: tasks wait for ${lock.object}, while others hold it.`
            : ', the duration of its longest chain of tasks, including the time of the client between them.'}
        </p>
      ) : null}
    </>
  );
}

/** Kinds of parts of the path that belong to no prefix. */
const WITHOUT_PREFIX: readonly PathKind[] = ['worker start', 'paused', 'client time'];

const AWAITING: PathKind = 'awaiting';

/** Returns the object for which most of the seconds were awaited on the path; undefined if no object takes half of them. */
function objectOfPath(path: CriticalPath, seconds: number): string | undefined {
  const sums = new Map<string, number>();
  for (const { Kind, Behind, 'Duration (s)': own } of path.summary().rows)
    if (Kind === AWAITING && typeof Behind === 'string')
      sums.set(Behind, (sums.get(Behind) ?? 0) + Number(own));
  return Array.from(sums).find(([, sum]) => sum >= seconds / 2)?.[0];
}

/** Names the lock, queue or other object as the text summary does, e.g. `awaiting Queue 'q'`. */
function awaitingText(object: string | undefined): string {
  return object === undefined ? AWAITING : `${AWAITING} ${object}`;
}

export function PathPrefixes({ path, trace, scheme }: PathProps) {
  const others = path.byKind
    .filter(({ kind }) => WITHOUT_PREFIX.includes(kind))
    .map((part) => ({ prefix: part.kind, seconds: part.seconds, parts: [part] }));
  const rowsByPrefix = [...path.byPrefix.slice(0, 12), ...others];
  const rows = rowsByPrefix.map(({ prefix, seconds, parts }) => ({
    name: prefix,
    parts: parts.map(({ kind, seconds: value }) => ({
      name: `${kind === AWAITING ? awaitingText(awaitedObject(trace, prefix, value)) : kind} ${formatDuration(value)}`,
      value,
      color: kindColor(kind, scheme),
    })),
    label: `${formatDuration(seconds)} · ${formatPercent((100 * seconds) / path.makespan)}`,
  }));
  return <Bars rows={rows} none="No task ran." />;
}
