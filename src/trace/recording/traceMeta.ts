// The metadata file of a trace directory: its recorder, its host, and how the recording ended.
import { LongpoleError } from '../../base/errors.js';
import { fieldOf, numberIn, parsedJson, textIn, textsIn } from '../../base/json.js';
import { recordOf } from '../../base/lookUps.js';
import { countText } from '../../base/words.js';
import { FILE_TYPES } from '../../protocol/schemaTypes.js';
import { fileColumns, type RecordedTable } from '../../protocol/traceSchema.js';
import type { ArrowField } from '../formats/arrow/arrowMessages.js';
import type { TraceAbout } from '../trace.js';

export const META_FILE = 'meta.json';
export const FORMAT_NAME = 'longpole-trace';

/** How a recording ended. `recording` means that it is still running or that its recorder was killed. */
export type TraceEnding = 'recording' | 'closed' | 'failed';

export interface TraceMeta {
  readonly format: typeof FORMAT_NAME;
  readonly version: number;
  /** Recorder, e.g. `longpole 0.1.0`. */
  readonly tool: string;
  readonly host: string;
  readonly platform: string;
  /** Logical processors of the host. */
  readonly cores: number;
  readonly clock: string;
  /** Start and end of the recording in seconds since the epoch; null if unknown. */
  readonly started: number;
  readonly stopped: number | null;
  readonly ended: TraceEnding;
  readonly reason?: string;
  /** Title and further facts. Default: none. */
  readonly about?: TraceAbout;
}

export const CLOCK = 'seconds since 1970-01-01T00:00:00Z on the clock of the scheduler';

export function metaText(meta: TraceMeta): string {
  return `${JSON.stringify(meta, undefined, 2)}\n`;
}

/**
 * Parses the content of the file `name`. Throws ERR_LONGPOLE_TRACE_FORMAT if it is not the metadata of a trace, and
 * ERR_LONGPOLE_TRACE_VERSION if a newer Longpole wrote it.
 */
export function parseMeta(name: string, text: string): TraceMeta {
  const meta = parsedJson(text);
  const version = numberIn(meta, 'version');
  if (fieldOf(meta, 'format') !== FORMAT_NAME || !(version >= 1)) {
    throw new LongpoleError(
      'ERR_LONGPOLE_TRACE_FORMAT',
      `${name} is not the metadata of a Longpole trace: it must be JSON with "format": "${FORMAT_NAME}" and a version. Copy the trace again, or record it again.`,
    );
  }
  if (version > FORMAT_VERSION) {
    throw new LongpoleError(
      'ERR_LONGPOLE_TRACE_VERSION',
      `${name} has version ${version} of the trace format; this Longpole reads up to version ${FORMAT_VERSION}. Open it with the Longpole that recorded it, or a later one.`,
    );
  }
  const ended = fieldOf(meta, 'ended');
  const stopped = numberIn(meta, 'stopped');
  const reason = textIn(meta, 'reason');
  const about = fieldOf(meta, 'about');
  return {
    format: FORMAT_NAME,
    version,
    ...recordOf(['tool', 'host', 'platform', 'clock'], (name) => textIn(meta, name)),
    ...recordOf(['cores', 'started'], (name) => numberIn(meta, name)),
    stopped: Number.isNaN(stopped) ? null : stopped,
    ended: ended === 'closed' || ended === 'failed' ? ended : 'recording',
    ...(reason !== '' && { reason }),
    about: { title: textIn(about, 'title'), facts: textsIn(about, 'facts') },
  };
}

/** Returns what a page says about a recording. */
export function aboutOf({ tool, platform, host, cores, about }: TraceMeta): TraceAbout {
  const facts = {
    Longpole: tool,
    Platform: platform,
    Host: `${host}, ${countText(cores, 'core')}`,
    ...about?.facts,
  };
  return { title: about?.title ?? '', facts };
}

/** Raise it for a change that an older Longpole could misread; a new column is no such change. */
export const FORMAT_VERSION = 1;

/** Returns a table of a trace directory as Arrow fields. docs/trace-format.md explains them. */
export function fieldsOf(table: RecordedTable): ArrowField[] {
  return fileColumns(table).map(({ title, kind }) => ({ name: title, type: FILE_TYPES[kind] }));
}
