// What Profiler and CacheProfiler watch a run with: it only keeps the recording growing.
import type { RunInfo, RunObserver } from '../protocol/runObserver.js';
import { epochSeconds } from '../resources/clock.js';
import { RunRecording } from '../trace/runRecording.js';

/** Joins the recording of the run and hands it to `joined` once, before the first task. */
export function recordingObserver(joined: (recording: RunRecording, run: RunInfo) => void): RunObserver {
  let recording: RunRecording | undefined;
  const observer: RunObserver = {
    runStarted(run) {
      recording = RunRecording.join(run, epochSeconds(), observer);
      joined(recording, run);
    },
    completed(tasks) {
      recording?.append(tasks, observer);
    },
    runFinished() {
      if (recording) recording.endTime = epochSeconds();
    },
  };
  return observer;
}
