// Workers that are threads of this process. Their stores share memory, so a transfer copies nothing and is only
// recorded.
import type { Transfer } from '../../protocol/clusterObserver.js';
import type { PackedResult, ResultId } from '../../protocol/packedResult.js';
import type { HostEvents, HostFacts, WorkerHost } from '../host/hostTypes.js';
import { ThreadHost } from '../host/threadHost.js';
import { CLIENT, ThreadPeers } from '../host/threadPeers.js';
import { WorkerDigests } from '../metrics/workerDigests.js';
import { SpillDirectory } from '../store/spillDirectory.js';
import { Store } from '../store/store.js';
import { TransferLog } from '../transfer/transferLog.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ClusterStores } from './clusterStores.js';
import type { ClusterWorker } from './clusterWorker.js';
import type { WorkerSettings } from './workerPlaces.js';

interface Logs {
  readonly incoming: TransferLog;
  readonly outgoing: TransferLog;
  readonly digests: WorkerDigests;
}

const CLIENT_ADDRESS = 'client://';

export class ThreadCluster implements ClusterStores {
  readonly #engine: ClusterEngine;
  readonly #settings: WorkerSettings;
  readonly #directory: SpillDirectory;
  readonly #peers: ThreadPeers;
  readonly #clientStore: Store;
  readonly #logs = new Map<number, Logs>();

  constructor(engine: ClusterEngine, settings: WorkerSettings, localDirectory: string | undefined) {
    this.#engine = engine;
    this.#settings = settings;
    this.#directory = SpillDirectory.create(localDirectory);
    this.#peers = new ThreadPeers(engine.clock, (transfer) => this.#noteTransfer(transfer));
    this.#clientStore = new Store({
      file: (name) => this.#directory.file(name),
      name: 'client',
      now: engine.clock,
    });
    this.#peers.join(CLIENT, this.#clientStore);
  }

  makeHost(worker: ClusterWorker, events: HostEvents): WorkerHost {
    const { index, name, address } = worker.info;
    const facts: HostFacts = {
      name,
      address,
      pid: process.pid,
      memoryLimit: this.#settings.memoryLimit,
      localDirectory: this.#directory.path,
      nthreads: 1,
    };
    let host: ThreadHost | undefined;
    const logs: Logs = {
      incoming: new TransferLog(),
      outgoing: new TransferLog(),
      digests: new WorkerDigests(),
    };
    const store = new Store({
      file: (file) => this.#directory.file(file),
      name: `${name}-${index}`,
      now: this.#engine.clock,
      onInterval: (interval, cause) => {
        const known = { ...interval, worker: index, thread: 0 };
        logs.digests.interval(known, cause);
        events.interval(known);
      },
      onError: (error) => events.event('store', error.message),
      onSpillFailed: (error) => events.warning('spill-failed', error.message),
      onSpilled: (result) => host?.spilled([result]),
    });
    this.#logs.set(index, logs);
    this.#peers.join(index, store);
    host = new ThreadHost(
      {
        facts,
        index,
        store,
        epochOffsetMs: this.#engine.epochOffsetMs,
        fetch: this.#peers.of(index),
        clock: this.#engine.clock,
        thresholds: this.#settings.thresholds,
        digests: logs.digests,
        profile: this.#settings.profile,
        processBytes: undefined,
        giveUp: (why) => host?.restart(new Error(why)),
        transferLogs: () => ({
          incomingTransferLog: logs.incoming.toArray(),
          outgoingTransferLog: logs.outgoing.toArray(),
        }),
        closed: () => {
          this.#peers.leave(index);
          this.#logs.delete(index);
        },
      },
      events,
    );
    events.ready(facts);
    return host;
  }

  async offer(results: ReadonlyMap<ResultId, PackedResult>): Promise<string> {
    for (const [result, packed] of results) this.#clientStore.put(result, packed);
    return CLIENT_ADDRESS;
  }

  async withdraw(results: Iterable<ResultId>): Promise<void> {
    for (const result of results) this.#clientStore.delete(result);
  }

  async close(): Promise<void> {
    await this.#clientStore.close();
    await this.#directory.close();
  }

  #noteTransfer(transfer: Transfer): void {
    const logs = this.#logs.get(transfer.worker);
    const log = transfer.direction === 'incoming' ? logs?.incoming : logs?.outgoing;
    logs?.digests.transfer(transfer);
    log?.add(transfer, this.#engine.workers.get(transfer.peer)?.address ?? CLIENT_ADDRESS);
    this.#engine.notify((observer) => observer.transfer?.(transfer));
  }
}
