// Observes GPUs with NVIDIA's own tool. While a watch is open, one child process prints a line per GPU every 100 ms.
// Without the tool or a driver there are no figures. A child that dies is restarted.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { killChild } from '../base/killChild.js';
import { epochSeconds } from './clock.js';

export interface GpuUsage {
  /** Percent of the time in which the GPU was busy; NaN if unknown. */
  readonly utilization: number;
  /** Used memory in bytes; NaN if unknown. */
  readonly memoryUsed: number;
}

const MEBIBYTE = 1024 * 1024;
const INTERVAL_MS = 100;
/** Milliseconds before a dead child is restarted; doubled for each child that printed nothing. */
const PAUSE_MS = 1000;
/** Seconds after which figures are out of date. On large machines the tool takes a second to start. */
const STALE = 2;
/** Restarts without any output after which the machine counts as one without GPUs. */
const ATTEMPTS = 3;
const FIELDS = 'index,utilization.gpu,memory.used';

/**
 * Parses one line of `nvidia-smi --query-gpu=index,utilization.gpu,memory.used --format=csv,noheader,nounits`, e.g.
 * `0, 37, 3012`. Unknown values are in brackets, e.g. `[N/A]`. Returns undefined for any other line.
 */
export function parseGpuLine(line: string): { readonly index: number; readonly usage: GpuUsage } | undefined {
  const match = /^\s*(\d+)\s*,\s*(\d+(?:\.\d+)?|\[.*?\]|N\/A)\s*,\s*(\d+(?:\.\d+)?|\[.*?\]|N\/A)\s*$/.exec(
    line,
  );
  if (match === null) return undefined;
  const [, index, utilization, memory] = match;
  return {
    index: Number(index),
    usage: { utilization: Number(utilization), memoryUsed: Number(memory) * MEBIBYTE },
  };
}

export class GpuMonitor {
  readonly #command: string;
  readonly #usage = new Map<number, GpuUsage & { readonly time: number }>();
  #child: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #failures = 0;
  #running = false;

  /** `command` is the program to run, found in PATH. */
  constructor(command = 'nvidia-smi') {
    this.#command = command;
  }

  /** Starts the child, if the program exists. */
  start(): void {
    if (this.#running || !exists(this.#command)) return;
    this.#running = true;
    this.#failures = 0;
    this.#spawn();
  }

  stop(): void {
    this.#running = false;
    clearTimeout(this.#restart);
    if (this.#child !== undefined) killChild(this.#child, 'SIGTERM');
    this.#child = undefined;
    this.#usage.clear();
  }

  /** Returns usage by the tool's index of the GPU; empty if unknown. */
  read(): ReadonlyMap<number, GpuUsage> {
    const oldest = epochSeconds() - STALE;
    for (const [index, { time }] of this.#usage) if (time < oldest) this.#usage.delete(index);
    return this.#usage;
  }

  #spawn(): void {
    const args = [`--query-gpu=${FIELDS}`, '--format=csv,noheader,nounits', `--loop-ms=${INTERVAL_MS}`];
    const child = spawn(this.#command, args, { stdio: ['ignore', 'pipe', 'ignore'], windowsHide: true });
    this.#child = child;
    let spoke = false;
    let rest = '';
    child.stdout.setEncoding('latin1').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) spoke = this.#take(line) || spoke;
    });
    // If the program does not exist, only 'error' is emitted. Otherwise 'close' follows the last output.
    child.once('error', () => this.#ended(child, false));
    child.once('close', () => this.#ended(child, spoke));
  }

  #take(line: string): boolean {
    const gpu = parseGpuLine(line);
    if (gpu !== undefined) this.#usage.set(gpu.index, { ...gpu.usage, time: epochSeconds() });
    return gpu !== undefined;
  }

  #ended(child: ChildProcess, spoke: boolean): void {
    if (child !== this.#child) return;
    this.#child = undefined;
    this.#failures = spoke ? 1 : this.#failures + 1;
    const missing = child.pid === undefined;
    if (!this.#running || missing || this.#failures > ATTEMPTS) return;
    this.#restart = setTimeout(() => this.#spawn(), PAUSE_MS * 2 ** (this.#failures - 1));
  }
}

/** Returns whether a program exists. To try its start costs 5 ms of CPU. Windows also finds other names, so there it is tried. */
function exists(command: string): boolean {
  if (process.platform === 'win32') return true;
  if (command.includes('/')) return existsSync(command);
  const { PATH = '' } = process.env;
  return PATH.split(delimiter).some((folder) => existsSync(join(folder, command)));
}
