// Prints a dump of the cluster when the program receives the signal of the setting `dump-signal`, e.g. because it
// hangs. The event loop of the program must still turn.
import { visibleText } from '../../base/visibleText.js';
import { dumpCluster } from '../../engine/cluster/clusterDump.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';

/** Prefix of each line of the brief dump after the full one, to find these lines in a log. */
const BRIEF = 'longpole: ';

/** Listens for the signal. Returns a function that removes the listener, which does not keep the program alive. */
export function dumpOnSignal(engine: ClusterEngine, signal: NodeJS.Signals): () => void {
  const print = async (): Promise<void> => {
    const dump = await dumpCluster(engine);
    const handles = process.getActiveResourcesInfo().join(', ');
    const brief = `process ${process.pid}, kept alive by ${handles}\n${dump.brief()}\nend of the dump`;
    process.stderr.write(
      visibleText(
        `Longpole: state of the cluster of process ${process.pid} (${signal}):\n${dump}\n${brief.replace(/^/gm, BRIEF)}\n`,
      ),
    );
  };
  const onSignal = (): void => void print();
  process.on(signal, onSignal);
  return () => void process.off(signal, onSignal);
}
