// A run over time, as seed 002 stacks its figures: the task stream, CPU and memory, results in the cache, with the legend
// and what is known of the task that was clicked. What `visualize` and a MemorySampler write begins here.
import { Plots } from '../views/plots.js';
import { SideBar } from '../views/sideBar.js';
import { useFlows } from '../views/useFlows.js';
import type { PageProps } from './pageProps.js';
import { TaskMore } from './streamPage.js';

export function RunPage({ state, update, stage, frames }: PageProps) {
  useFlows(state, update.trace);
  return (
    <div class="body">
      <Plots state={state.view} stage={stage} frames={frames} />
      <SideBar state={state.view} more={(row) => <TaskMore state={state} trace={update.trace} row={row} />} />
    </div>
  );
}
