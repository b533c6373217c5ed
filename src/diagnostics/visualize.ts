// From profilers to a page: what they recorded becomes a trace, and the page is its report.
import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { checkOptions, FLAG, type OptionKinds, PAGE_FILE, TEXT } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { writeReport } from './performanceReport.js';
import { ADD_TO, type PageSource, ProfilerTrace } from './profilerTrace.js';

export interface VisualizeOptions {
  /** Where to write the page; default `profile.html` in the current folder, as in Dask. An existing file is replaced. */
  readonly filename?: string | undefined;
  /**
   * Opens the page in the browser; default false, so that scripts on servers only write the file. Without a desktop
   * (no display, or in CI) nothing is opened.
   */
  readonly show?: boolean | undefined;
  /** Heading of the page; default: the name of the running script. */
  readonly title?: string | undefined;
}

const OPTIONS: OptionKinds<VisualizeOptions> = { filename: PAGE_FILE, show: FLAG, title: TEXT };

/**
 * Writes one self-contained HTML page with the plots of all the profilers, stacked in the order given and aligned on the time
 * axis, and returns its absolute path.
 *
 *     visualize([prof, rprof, cprof], { filename: 'profile.html' });
 *
 * @throws ERR_LONGPOLE_INVALID_ARGUMENT if something else than profilers is given; ERR_LONGPOLE_PAGE_FILE if the file cannot
 *   be written
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

/** The address of the page on which a report of these plots begins. */
export function addressOfPlots(plots: readonly string[]): string {
  const shown = plots.length === 0 ? 'none' : plots.join('\n');
  return `run?${new URLSearchParams({ plots: shown })}`;
}

function scriptName(): string {
  const script = process.argv[1];
  return script === undefined ? 'Longpole profile' : basename(script);
}

/** Best effort: that no browser opens is no reason to fail, the file is there. */
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
