// Opens the traces of a command line, with a progress bar, and with a warning for damaged or empty traces.
import type { Command } from 'commander';
import { damageText, type OpenedTrace, openTraces } from '../api/traceFiles.js';
import { Progress, requested } from './progress.js';
import { CommandError, failingWith, note, WRONG_USAGE } from './terminal.js';
import { parseBytes } from './units.js';

export const ONE_TRACE =
  'a trace directory, a report, Chrome Trace JSON, or event files of DASF, which are read as one trace';

export interface InputOptions {
  /** Maximum size of decompressed files in bytes. */
  readonly maxUnpacked?: number | undefined;
  /** Whether to show the progress where stderr is no terminal, too. */
  readonly progress?: boolean | undefined;
}

export function withInputOptions(command: Command): Command {
  return command
    .option('--progress', 'show the progress on stderr, even if stderr is not a terminal')
    .option(
      '--max-unpacked <size>',
      'maximum size of decompressed files, e.g. 4GB (default: 100 times their size, at least 128MiB)',
      parseBytes,
    );
}

/** Opens traces. @throws CommandError with the code of unreadable input */
export function openInput(
  files: readonly string[],
  { maxUnpacked, progress: shown }: InputOptions,
): OpenedTrace[] {
  const progress = new Progress('reading', requested(shown));
  const opened = failingWith(WRONG_USAGE, () => {
    try {
      const limit = maxUnpacked === undefined ? {} : { maxUnpackedBytes: maxUnpacked };
      return openTraces(files, (part) => progress.part(part), limit);
    } finally {
      progress.end();
    }
  });
  for (const { name, trace } of opened) {
    if (trace.damage !== undefined)
      note(`longpole: warning: ${name} is incomplete: ${damageText(trace.damage)}.`);
    else if (trace.eventCount === 0) note(`longpole: warning: ${name} has no events.`);
  }
  return opened;
}

/** Opens files that are one trace. @throws CommandError also if they are several traces */
export function openOne(files: readonly string[], options: InputOptions): OpenedTrace {
  const [opened, another] = openInput(files, options);
  if (opened === undefined || another !== undefined)
    throw new CommandError(`${files.join(', ')}: these are several traces. Pass one trace.`, WRONG_USAGE);
  return opened;
}
