// Workers that are processes. Each keeps its results and serves them to its peers. This module holds their shared
// parts: the directory, the secret token, and a server for scattered data.
import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transfer } from '../../protocol/clusterObserver.js';
import type { PackedResult, ResultId } from '../../protocol/packedResult.js';
import type { PeerNetwork } from '../../protocol/workerMessages.js';
import type { HostEvents, WorkerHost } from '../host/hostTypes.js';
import { SpillDirectory } from '../store/spillDirectory.js';
import { Store } from '../store/store.js';
import { PeerClient } from '../transfer/peerClient.js';
import { PeerServer } from '../transfer/peerServer.js';
import { TransferLog } from '../transfer/transferLog.js';
import { ProcessHost } from '../workerProcess/processHost.js';
import { forkWorker, type OpenChannel } from '../workerProcess/workerChannel.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ClusterStores } from './clusterStores.js';
import type { ClusterWorker } from './clusterWorker.js';
import type { WorkerSettings } from './workerPlaces.js';

const CLIENT = -1;

/** Where a worker process runs. */
export interface ProcessPlace {
  readonly open: OpenChannel;
  /** Directory for its files. */
  readonly directory: string;
  /** See `birth` in ToWorker. */
  readonly network: PeerNetwork | undefined;
}

/** Worker processes that may run on other machines. */
export interface RemotePlaces {
  of(worker: ClusterWorker): ProcessPlace;
  /** How the workers reach this program. */
  readonly network: PeerNetwork;
}

export class ProcessCluster implements ClusterStores {
  readonly #engine: ClusterEngine;
  readonly #settings: WorkerSettings;
  readonly #directory: SpillDirectory;
  readonly #token = randomBytes(16).toString('hex');
  readonly #clientStore: Store;
  readonly #client: PeerClient;
  readonly #hosts = new Set<ProcessHost>();
  #server: { readonly server: PeerServer; readonly listening: Promise<string> } | undefined;
  #offers = 0;

  readonly #remote: RemotePlaces | undefined;

  readonly #open: OpenChannel;

  /** Without `remote`, workers are children of this process, and `open` opens the channels to them. */
  constructor(
    engine: ClusterEngine,
    settings: WorkerSettings,
    localDirectory: string | undefined,
    remote?: RemotePlaces,
    open = forkWorker,
  ) {
    this.#engine = engine;
    this.#open = open;
    this.#remote = remote;
    this.#settings = settings;
    this.#directory = SpillDirectory.create(localDirectory);
    this.#clientStore = new Store({
      file: (name) => this.#directory.file(name),
      name: 'client',
      now: engine.clock,
    });
    this.#client = new PeerClient({
      token: this.#token,
      worker: CLIENT,
      now: engine.clock,
    });
  }

  makeHost(worker: ClusterWorker, events: HostEvents): WorkerHost {
    const { index, name, memoryLimit } = worker.info;
    const incoming = new TransferLog();
    const outgoing = new TransferLog();
    worker.onTransfer = (transfer) => this.#named(transfer, { incoming, outgoing });
    const place = this.#remote?.of(worker) ?? {
      open: this.#open,
      directory: this.#directory.path,
      network: undefined,
    };
    const host: ProcessHost = new ProcessHost(
      {
        open: place.open,
        birth: {
          type: 'birth',
          index,
          name,
          memoryLimit,
          epochOffsetMs: this.#engine.epochOffsetMs,
          thresholds: this.#settings.thresholds,
          profile: this.#settings.profile,
          directory: place.directory,
          token: this.#token,
          network: place.network,
        },
        clock: this.#engine.clock,
        client: this.#client,
        ttl: this.#settings.ttl,
        transferLogs: () => ({
          incomingTransferLog: incoming.toArray(),
          outgoingTransferLog: outgoing.toArray(),
        }),
        ended: () => this.#ended(host, worker),
      },
      events,
    );
    this.#hosts.add(host);
    return host;
  }

  async offer(results: ReadonlyMap<ResultId, PackedResult>): Promise<string> {
    for (const [result, packed] of results) this.#clientStore.put(result, packed);
    this.#offers++;
    this.#server ??= this.#listen();
    return this.#server.listening;
  }

  async withdraw(results: Iterable<ResultId>): Promise<void> {
    for (const result of results) this.#clientStore.delete(result);
    // An open server would keep the program alive.
    if (--this.#offers > 0) return;
    const server = this.#server?.server;
    this.#server = undefined;
    await server?.close();
  }

  async close(): Promise<void> {
    this.#client.close();
    await this.#server?.server.close();
    await this.#clientStore.close();
    await this.#directory.close();
  }

  #listen(): { readonly server: PeerServer; readonly listening: Promise<string> } {
    const server = new PeerServer({
      source: this.#clientStore,
      file: (name) => this.#directory.file(name),
      name: `client-${randomBytes(3).toString('hex')}`,
      network: this.#remote?.network,
      token: this.#token,
      worker: CLIENT,
      now: this.#engine.clock,
    });
    return { server, listening: server.listen() };
  }

  /** Replaces the ids of results in a transfer by their keys, which the workers lack. */
  #named(transfer: Transfer, logs: { incoming: TransferLog; outgoing: TransferLog }): Transfer {
    const keys = transfer.keys.map((id) => this.#engine.keyOf(Number(id)) ?? id);
    const named = { ...transfer, keys };
    const peer = this.#engine.workers.get(transfer.peer)?.address ?? 'client://';
    logs[transfer.direction].add(named, peer);
    return named;
  }

  #ended(host: ProcessHost, worker: ClusterWorker): void {
    this.#hosts.delete(host);
    this.#client.forget(worker.address);
    for (const other of this.#hosts) other.peerGone(worker.address);
    void this.#clean(`${worker.info.name}-${worker.info.index}`);
  }

  /** Deletes the files that a killed process left behind. */
  async #clean(prefix: string): Promise<void> {
    const names = await readdir(this.#directory.path).catch(() => []);
    for (const name of names)
      if (name.startsWith(`${prefix}-`) || name.startsWith(`${prefix}.`))
        await rm(join(this.#directory.path, name), { force: true });
  }
}
