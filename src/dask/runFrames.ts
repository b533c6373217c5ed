// Frames between the program and the bridge that runs TypeScript: length, kind, number of the process, and bytes of
// that length. python/longpole_dask/node_tap.py has the same definitions.
import { LongpoleError } from '../base/errors.js';
import { fieldOf } from '../base/json.js';
import { REPORT } from './bridgeErrors.js';

/** Kinds of frames. Frames of the kind `data` are sent in both directions. */
export const KIND = {
  start: 0,
  data: 1,
  kill: 2,
  file: 3,
  lease: 4,
  release: 5,
  event: 0,
  ended: 2,
  leased: 4,
  leaseOver: 5,
  leaseEnds: 6,
} as const;

export const HEAD_BYTES = 9;

/** A Dask worker with Node. */
export interface DaskWorkerFacts {
  readonly address: string;
  /** Output of `node --version`. */
  readonly node: string;
  readonly threads: number;
  /** Memory limit in bytes; 0 for no limit. */
  readonly memory: number;
  /** Folder for files on the worker. */
  readonly directory: string;
  readonly name: string;
  readonly resources: Readonly<Record<string, number>>;
  readonly boot: string;
  readonly hostname: string;
}

export type RunBridgeEvent =
  /** `host` is the address under which the workers reach this machine. */
  | {
      readonly type: 'hello';
      readonly scheduler: string;
      readonly host: string;
      readonly workers: readonly DaskWorkerFacts[];
    }
  | { readonly type: 'joined'; readonly worker: DaskWorkerFacts }
  /** The worker closes when its processes have ended, or after a few seconds. */
  | { readonly type: 'leaving'; readonly address: string }
  | { readonly type: 'left'; readonly address: string; readonly why: string }
  | { readonly type: 'warning'; readonly text: string }
  | { readonly type: 'refused'; readonly code: string; readonly text: string }
  | { readonly type: 'closed'; readonly reason: string };

export function frameHead(kind: number, process: number, length: number): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(length);
  head.writeUInt8(kind, 4);
  head.writeUInt32BE(process, 5);
  return head;
}

/**
 * Reads an event. Checks only its type, because the bridge is part of this package.
 *
 * @throws LongpoleError ERR_LONGPOLE_DASK_BRIDGE
 */
export function readEvent(payload: Uint8Array): RunBridgeEvent {
  const event: unknown = JSON.parse(Buffer.from(payload).toString());
  if (isEvent(event)) return event;
  throw new LongpoleError(
    'ERR_LONGPOLE_DASK_BRIDGE',
    `The bridge to Dask sent an event without a type. ${REPORT}`,
  );
}

function isEvent(value: unknown): value is RunBridgeEvent {
  return fieldOf(value, 'type') !== undefined;
}
