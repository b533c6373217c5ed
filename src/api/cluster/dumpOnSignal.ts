// A program that seems to hang can be asked where its clusters stand, without a change of the program: the setting
// `dump-signal` names a signal, and the program prints the dump when it gets it. That works as long as its event loop turns.

import { dumpCluster } from '../../engine/cluster/clusterDump.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';

/** Begins each line of the brief dump, which follows the whole one, so that the lines can be found in a log. */
const BRIEF = 'longpole: ';

/** Returns a function that ends it. The listener does not keep the program alive. */
export function dumpOnSignal(engine: ClusterEngine, signal: NodeJS.Signals): () => void {
  const print = async (): Promise<void> => {
    const dump = await dumpCluster(engine);
    const handles = process.getActiveResourcesInfo().join(', ');
    const brief = `process ${process.pid}, kept alive by ${handles}\n${dump.brief()}\nend of the dump`;
    process.stderr.write(
      `Longpole: where the cluster of process ${process.pid} stands (${signal}):\n${dump}\n${brief.replace(/^/gm, BRIEF)}\n`,
    );
  };
  const onSignal = (): void => void print();
  process.on(signal, onSignal);
  return () => void process.off(signal, onSignal);
}
