// Runs one measurement of traces in a separate process, so that its memory is measured alone. Prints a line of JSON.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { QUESTIONS, TraceAnalyser } from 'longpole/analysis';
import { EventProfiler, MultiEventDatabase, openTrace, type Trace } from 'longpole/trace';
import { TraceWriter } from '#internal/files/traceWriter.js';
import { writeEvents } from './dasfEvents.js';
import { observeTasks } from './recording.js';

/** Figures by name. Memory in bytes, times in seconds. */
type Figures = Record<string, number>;

const seconds = (action: () => void): number => {
  const start = performance.now();
  action();
  return (performance.now() - start) / 1000;
};

const COMMANDS: Readonly<Record<string, (path: string, value: string) => Figures>> = {
  /** Records `value` tasks into the directory `path`. */
  record(path, value) {
    const [count = '', style] = value.split(' ');
    const writer = TraceWriter.create(path, { overwrite: true });
    const took = observeTasks(writer, Number(count), style === 'short' ? 'short' : 'tuple');
    const close = seconds(() => writer.close());
    const bytes = readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
    return { ...took, close, bytes };
  },
  /** Opens the trace directory `path` and runs all analyses, `value` times. Returns the figures of the last time. */
  analyse(path, value) {
    let figures: Figures = {};
    for (let i = 0; i < Number(value); i++) figures = analyse(path);
    return { ...figures, peak: process.resourceUsage().maxRSS * 1024 };
  },
  /** Writes event files of `value` events into the folder `path`. */
  'write-events'(path, value) {
    return { write: seconds(() => writeEvents(path, Number(value))) };
  },
  /** Runs DASF's three analyses of the event files in the folder `path`. */
  events(path, value) {
    let figures: Figures = {};
    for (let i = 0; i < Number(value); i++) figures = analyseEvents(path);
    return { ...figures, peak: process.resourceUsage().maxRSS * 1024 };
  },
};

function analyse(path: string): Figures {
  const opened: { trace?: Trace } = {};
  const figures: Figures = {
    open: seconds(() => {
      opened.trace = openTrace(path);
    }),
  };
  const { trace } = opened;
  if (trace === undefined) throw new Error('The trace was not opened.');
  for (const { name, run } of QUESTIONS) {
    figures[name] = seconds(() => {
      if (run(trace).length === 0 && trace.tasks.length === 0) throw new Error(`${name} has no rows.`);
    });
  }
  const total = Object.values(figures).reduce((sum, value) => sum + value, 0);
  return { ...figures, total, events: trace.eventCount };
}

function analyseEvents(path: string): Figures {
  const start = performance.now();
  const files = readdirSync(path).map((name) => join(path, name));
  const analyser = new TraceAnalyser(new MultiEventDatabase(files.map((file) => new EventProfiler(file))));
  const rows = analyser.perFunctionBottleneck().length + analyser.perTaskBottleneck().length;
  if (rows + analyser.perWorkerTaskBalance().length === 0) throw new Error('The analyses have no rows.');
  return { total: (performance.now() - start) / 1000, events: analyser.trace.eventCount };
}

const [command = '', path = '', value = ''] = process.argv.slice(2);
const run = COMMANDS[command];
if (run === undefined) throw new RangeError(`There is no measurement called '${command}'.`);
console.log(JSON.stringify(run(path, value)));
