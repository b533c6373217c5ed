// A program that seems to hang can be asked where its clusters stand, without a change of the program: the setting
// `dump-signal` names a signal, and the program prints the dump when it gets it. That works as long as its event loop turns.

import { dumpCluster } from '../../engine/cluster/clusterDump.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';

/** Returns a function that ends it. The listener does not keep the program alive. */
export function dumpOnSignal(engine: ClusterEngine, signal: NodeJS.Signals): () => void {
  const print = async (): Promise<void> => {
    const dump = await dumpCluster(engine);
    process.stderr.write(
      `Longpole: where the cluster of process ${process.pid} stands (${signal}):\n${dump}\n`,
    );
  };
  const onSignal = (): void => void print();
  process.on(signal, onSignal);
  return () => void process.off(signal, onSignal);
}
