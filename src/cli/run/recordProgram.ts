// Runs in the program: records its computations and shows their progress.
import { config } from '../../api/config.js';
import { localDashboard } from '../../api/localDashboard.js';
import { observeProgramAnd } from '../../api/observeProgram.js';
import { packageVersion } from '../../api/packageVersion.js';
import { observeLifetime } from '../../api/programLifetime.js';
import { TraceWriter } from '../../api/traceWriter.js';
import { RunProgress } from './runProgress.js';

/** Seconds between two writes. The summary of a killed program lacks at most that time. */
const WRITE_EVERY = 0.25;

export function recordProgram(directory: string): void {
  // Listeners for signals would disable Ctrl+C for a program that blocks its thread.
  const writer = TraceWriter.create(directory, {
    overwrite: true,
    interval: WRITE_EVERY,
    onSignals: false,
    tool: `longpole ${packageVersion()}`,
  });
  const progress = new RunProgress({ port: config.get('dashboard-port') });
  observeLifetime(writer);
  observeProgramAnd(
    [writer, progress],
    config.get('dashboard') ? localDashboard((event) => progress.event(event)) : [],
  );
}
