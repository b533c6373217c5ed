// `visualize`: writes the records of profilers as a report.
import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { checkOptions, FLAG, type OptionKinds, PAGE_FILE, TEXT } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { writeReport } from './performanceReport.js';
import { ADD_TO, type PageSource, ProfilerTrace } from './profilerTrace.js';

export interface VisualizeOptions {
  /** Path of the page. Default `profile.html` in the working directory, as in Dask. An existing file is replaced. */
  readonly filename?: string | undefined;
  /** Whether to open the page in a browser. Default false. Has no effect without a display, or in CI. */
  readonly show?: boolean | undefined;
  /** Heading of the page. Default: the name of the running script. */
  readonly title?: string | undefined;
}

const OPTIONS: OptionKinds<VisualizeOptions> = { filename: PAGE_FILE, show: FLAG, title: TEXT };

/**
 * Writes a self-contained HTML page with the plots of profilers, stacked in the given order on a common time axis.
 *
 *     visualize([prof, rprof, cprof], { filename: 'profile.html' });
 *
 * @returns the absolute path of the page
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if a value is not a profiler, or for invalid options;
 *   ERR_LONGPOLE_PAGE_FILE if the file cannot be written
 * @source Dask's `dask.diagnostics.visualize`
 */
export function visualize(
  profilers: PageSource | readonly PageSource[],
  options: VisualizeOptions = {},
): string {
  checkOptions('visualize()', options, OPTIONS);
  const { filename = 'profile.html', show = false, title = scriptName() } = options;
  const sources = isList(profilers) ? profilers : [profilers];
  for (const source of sources) {
    if (typeof source?.[ADD_TO] === 'function') continue;
    throw invalidArgument(
      'visualize: expected a Profiler, a ResourceProfiler or a CacheProfiler, or an array of them.',
    );
  }
  const page = new ProfilerTrace();
  for (const source of sources) source[ADD_TO](page);
  const trace = page.build();
  const path = writeReport(trace, filename, { title, address: addressOfPlots(page.plots) });
  if (show) openInBrowser(path);
  return path;
}

function isList(value: PageSource | readonly PageSource[]): value is readonly PageSource[] {
  return Array.isArray(value);
}

/** Returns the address at which a report of these plots opens. */
export function addressOfPlots(plots: readonly string[]): string {
  const shown = plots.length === 0 ? 'none' : plots.join('\n');
  return `run?${new URLSearchParams({ plots: shown })}`;
}

function scriptName(): string {
  const script = process.argv[1];
  return script === undefined ? 'Longpole profile' : basename(script);
}

/** Opens the page if possible. Ignores errors, because the file has been written. */
function openInBrowser(path: string): void {
  const { DISPLAY, WAYLAND_DISPLAY, CI } = process.env;
  if (CI || (process.platform === 'linux' && !DISPLAY && !WAYLAND_DISPLAY)) return;
  const [command, args]: [string, string[]] =
    process.platform === 'darwin'
      ? ['open', [path]]
      : process.platform === 'win32'
        ? ['cmd', ['/c', 'start', '', path]]
        : ['xdg-open', [path]];
  const child = spawn(command, args, { detached: true, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref();
}
