// From profilers to a page: collects their sections over one table of tasks, and writes the file.
import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { LongpoleError } from '../base/errors.js';
import { keySplit } from '../graph/key.js';
import { type ProfilePage, TaskTableBuilder } from '../protocol/profilePage.js';
import type { RunRecording } from '../trace/runRecording.js';
import { type PageRows, type PageSource, SECTION } from './pageSource.js';
import { taskText } from './taskText.js';
import { writeProfilePage } from './visualizePage.js';

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
  { filename = 'profile.html', show = false, title = scriptName() }: VisualizeOptions = {},
): string {
  const sources = isList(profilers) ? profilers : [profilers];
  for (const source of sources) {
    if (typeof source?.[SECTION] === 'function') continue;
    throw new LongpoleError(
      'ERR_LONGPOLE_INVALID_ARGUMENT',
      'visualize: expected a Profiler, a ResourceProfiler or a CacheProfiler, or an array of them.',
    );
  }
  const path = writeProfilePage(profilePage(sources, title), filename);
  if (show) openInBrowser(path);
  return path;
}

function isList(value: PageSource | readonly PageSource[]): value is readonly PageSource[] {
  return Array.isArray(value);
}

/** The data of the page, one section per profiler. */
export function profilePage(sources: readonly PageSource[], title: string): ProfilePage {
  const rows = new Rows();
  const sections = sources.map((source) => source[SECTION](rows));
  return { title, workers: rows.workers, tasks: rows.table(), sections };
}

/** Numbers tasks and workers over all recordings of the page; sections that share a recording share its rows. */
class Rows implements PageRows {
  readonly workers: string[] = [];
  readonly #table = new TaskTableBuilder(keySplit);
  readonly #taskRows = new Map<RunRecording, Int32Array>();

  taskRow(recording: RunRecording, id: number): number {
    let rows = this.#taskRows.get(recording);
    if (rows === undefined) {
      rows = new Int32Array(recording.size).fill(-1);
      this.#taskRows.set(recording, rows);
    }
    if (rows[id] === -1) {
      const text = taskText(recording.task(id), (key) => recording.has(key));
      rows[id] = this.#table.add(recording.keys[id]!, text);
    }
    return rows[id]!;
  }

  workerRow(recording: RunRecording, worker: number): number {
    const name = recording.workers[worker] ?? String(worker);
    const known = this.workers.indexOf(name);
    return known >= 0 ? known : this.workers.push(name) - 1;
  }

  table(): ProfilePage['tasks'] {
    return this.#table.build();
  }
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
