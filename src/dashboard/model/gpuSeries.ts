// Plots of GPUs over time: one line per GPU if the samples name the GPU, else one line for all GPUs of a host or
// worker.

import { sortBy } from '../../base/groups.js';
import { pushTo } from '../../base/lookUps.js';
import type { Trace } from '../../trace/trace.js';
import { assignColors } from './palette.js';
import type { LinesPlot, PlotLine } from './profileModel.js';
import { lineSeries } from './series.js';
import { linesPlot } from './traceSeries.js';

/** Name of a figure of one GPU of a host, e.g. `gpu_1_memory_used`. */
const NUMBERED = /^gpu_(\d+)_(\w+)$/;

const PLOTS = {
  utilization: { title: 'GPU', unit: 'percent', of: 'gpuUtilization' },
  memory_used: { title: 'GPU memory', unit: 'bytes', of: 'gpuMemoryUsed' },
} as const;

/** Returns the plot of the utilization of GPUs in percent, or of their used memory in bytes. */
export function gpuPlot(trace: Trace, origin: number, what: keyof typeof PLOTS): LinesPlot {
  const { title, unit, of } = PLOTS[what];
  const { resources } = trace;
  const found = [...resources.figures].flatMap(([figure, values]): [number, Float64Array][] => {
    const [, number, name] = NUMBERED.exec(figure) ?? [];
    return name === what ? [[Number(number), values]] : [];
  });
  found.sort(([a], [b]) => a - b);
  const rows = Array.from({ length: resources.length }, (_, row) => row);
  const lines =
    found.length > 0
      ? found.map(([number, values]): Line => ({ name: `GPU ${number}`, values, rows }))
      : byOrigin(trace, resources[of]);
  const known = lines
    .map((line) => ({ ...line, rows: line.rows.filter((row) => !Number.isNaN(line.values[row])) }))
    .filter((line) => line.rows.length > 0);
  const slots = assignColors(known.map(({ name }) => name));
  const plotted = known.map((line, i): PlotLine => {
    const inTime = Uint32Array.from(line.rows);
    sortBy(inTime, resources.time);
    const time = Float64Array.from(inTime, (row) => resources.time[row]!);
    const value = Float64Array.from(inTime, (row) => line.values[row]!);
    return { name: line.name, slot: slots[i]!, series: lineSeries(time, value, origin) };
  });
  return linesPlot(title, unit, plotted, 'The trace has no samples of GPUs.');
}

interface Line {
  readonly name: string;
  readonly values: Float64Array;
  readonly rows: readonly number[];
}

/** Returns a line for each device that the recorder named, else for each worker, or for the host. */
function byOrigin({ resources, workers, strings }: Trace, values: Float64Array): Line[] {
  const rowsOf = new Map<string, number[]>();
  for (let row = 0; row < resources.length; row++) {
    const device = resources.device[row]!;
    const worker = workers.name[resources.worker[row]!] ?? -1;
    const owner = worker < 0 ? 'all GPUs' : strings.get(worker);
    const name = device < 0 ? owner : worker < 0 ? strings.get(device) : `${owner} ${strings.get(device)}`;
    pushTo(rowsOf, name, row);
  }
  return Array.from(rowsOf, ([name, rows]) => ({ name, values, rows }));
}
