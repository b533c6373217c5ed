// DaskCluster: a scheduler in this process, and Node processes on the workers of a Dask cluster that run its tasks. See
// docs/decisions/typescript-on-dask.md.
import { internalError, invalidArgument, LongpoleError, sentenceOf } from '../../base/errors.js';
import { visibleText } from '../../base/visibleText.js';
import { countText } from '../../base/words.js';
import { type DaskWorkerFacts, RunBridge, type RunBridgeEvent } from '../../dask/runBridge.js';
import { hostOf, schedulerAddress } from '../../dask/schedulerAddress.js';
import { WORKER_ENTRY, workerFiles } from '../../dask/workerFiles.js';
import { onDask } from '../../engine/cluster/engineWorker.js';
import type { ProcessPlace, RemotePlaces } from '../../engine/cluster/processCluster.js';
import type { WorkerSite } from '../../engine/cluster/workerPlaces.js';
import { ownPlace } from '../../engine/store/processIdentity.js';
import { remoteChannel } from '../../engine/workerProcess/remoteChannel.js';
import { ALLOCATOR } from '../../engine/workerProcess/workerChannel.js';
import type { PeerNetwork } from '../../protocol/workerMessages.js';
import { epochSeconds } from '../../resources/clock.js';
import { isImportedByWorker } from '../runPlan.js';
import { Cluster } from './cluster.js';
import { clusterSettings, type DaskOptions, sharedOptions } from './clusterOptions.js';
import type { ClusterParts } from './clusterParts.js';
import { serveTasks } from './servedTasks.js';
import { ShippedModules } from './shippedModules.js';

/** Oldest version of Node that can run a worker: major and minor. */
const OLDEST_NODE = [20, 19] as const;
/** Number of workers that a warning names. */
const MAX_NAMES = 5;

/**
 * A Dask cluster that runs tasks of this program. Closing it does not end the Dask cluster, unless that is `'dask'`.
 */
export class DaskCluster extends Cluster {
  readonly kind = 'DaskCluster';
  /** Address of Dask's scheduler. */
  readonly address: string;
  readonly #bridge: RunBridge;
  readonly #sites: Sites;
  #closed: Promise<void> | undefined;

  private constructor(parts: ClusterParts, bridge: RunBridge, sites: Sites, address: string) {
    super(parts);
    this.#bridge = bridge;
    this.#sites = sites;
    this.address = address;
  }

  /**
   * Connects to a scheduler. Resolves when a Node process is up for each thread of the present workers.
   *
   * @param target address of the scheduler, or `'dask'` for a new cluster on this machine
   * @param options options that were checked
   * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_PYTHON, ERR_LONGPOLE_DASK_CONNECT,
   *   ERR_LONGPOLE_DASK_VERSION, ERR_LONGPOLE_DASK_NODE, ERR_LONGPOLE_DASK_BRIDGE, ERR_LONGPOLE_WORKER_START
   */
  static async connect(target: string, options: DaskOptions = {}): Promise<DaskCluster> {
    // Workers import the script of the program, too. There the script waits here forever, instead of connecting.
    if (isImportedByWorker()) return new Promise(() => undefined);
    const begun = epochSeconds();
    const { timeout = 10, nodeModules = 'bundle', security } = options;
    const address = target === 'dask' ? target : schedulerAddress(target, security);
    const { serving, ...settings } = clusterSettings(sharedOptions(options));
    // Bundling takes place while Python starts.
    const sites = new Sites(new ShippedModules(nodeModules));
    const { bridge, hello } = await RunBridge.start({
      address,
      security,
      python: options.python,
      node: options.node ?? process.env['LONGPOLE_NODE'],
      timeout,
      more: bridgeArguments(options),
      onEvent: (event) => sites.onEvent(event),
      onLost: (error) => sites.onLost(error),
    });
    let started: DaskCluster | undefined;
    try {
      const [{ makeClusterParts }, files] = await Promise.all([import('./clusterParts.js'), workerFiles()]);
      for (const file of files) bridge.file(file);
      const remote = sites.places(bridge, networkOf(hello.scheduler, hello.host));
      const parts = makeClusterParts({ ...settings, threads: false, remote });
      const cluster = new DaskCluster(parts, bridge, sites, hello.scheduler);
      started = cluster;
      serveTasks(cluster);
      sites.begin(parts, () => void cluster.close());
      await cluster.serve(serving);
      const up = Promise.all(hello.workers.map((worker) => sites.join(worker)));
      sites.catchUp();
      await cluster.engine.waits.during('connect', `${hello.workers.length} Dask workers`, up);
      cluster.reportStart(begun);
      return cluster;
    } catch (error) {
      await (started ?? bridge).close();
      throw error;
    }
  }

  /** @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, because only the owner of a Dask cluster can adapt it */
  override async adapt(): Promise<void> {
    throw invalidArgument(
      "Client.adapt cannot add workers to a Dask cluster. Call `cluster.adapt(minimum=…, maximum=…)` of Dask's cluster in Python. Workers that join or leave are noticed.",
    );
  }

  override close(): Promise<void> {
    this.#sites.end();
    this.#closed ??= super.close().finally(async () => warnUnanswered(await this.#bridge.close()));
    return this.#closed;
  }
}

/** The present Dask workers. */
class Sites {
  readonly #byAddress = new Map<string, { readonly facts: DaskWorkerFacts; readonly site: WorkerSite }>();
  readonly #modules: ShippedModules;
  #parts: ClusterParts | undefined;
  #close: () => void = () => undefined;
  #hasEnded = false;
  readonly #reported = new Set<string>();
  /** Events before the first workers had joined; undefined afterwards. */
  #early: RunBridgeEvent[] | undefined = [];

  constructor(modules: ShippedModules) {
    this.#modules = modules;
  }

  /** Sets the cluster. `close` is called when the bridge is lost, because then no worker can be reached. */
  begin(parts: ClusterParts, close: () => void): void {
    this.#parts = parts;
    this.#close = close;
  }

  end(): void {
    this.#hasEnded = true;
  }

  places(bridge: RunBridge, network: PeerNetwork): RemotePlaces {
    this.#modules.begin((file) => bridge.file(file));
    const of = ({ info }: { readonly info: { readonly address: string } }): ProcessPlace => {
      const facts = [...this.#byAddress.values()].find(({ site }) => site.address === info.address)?.facts;
      if (facts === undefined) throw internalError(`There is no Dask worker ${info.address}.`);
      return {
        open: remoteChannel({
          start: (events) => bridge.process(facts.address, WORKER_ENTRY, ALLOCATOR, events),
          bundle: (functions) => this.#modules.bundle(functions),
          locate: (fn) => this.#modules.locate(fn),
          isLocal: facts.place === ownPlace(),
        }),
        directory: facts.directory,
        network: networkOf(facts.address),
      };
    };
    return { of, network };
  }

  /** Starts the processes of a Dask worker. Resolves when they are up, or when the worker has left meanwhile. */
  async join(facts: DaskWorkerFacts): Promise<void> {
    const places = this.#parts?.places;
    if (places === undefined || this.#hasEnded) return;
    checkNode(facts);
    const site: WorkerSite = {
      address: onDask(facts.address),
      host: hostOf(facts.address),
      memoryLimit: Math.floor(facts.memory / facts.threads),
      resources: new Map(Object.entries(facts.resources)),
    };
    this.#byAddress.set(facts.address, { facts, site });
    const name = `dask-${facts.name.replace(/^[a-z]+:\/\//, '').replaceAll(/[^\w.-]+/g, '-')}`;
    const names = Array.from({ length: facts.threads }, (_, thread) =>
      facts.threads === 1 ? name : `${name}-${thread}`,
    );
    // A worker runs one task at a time, so only tasks of one worker may use the resources of the Dask worker.
    const others = { ...site, resources: new Map() };
    try {
      await Promise.all(names.map((one, thread) => places.add(one, thread === 0 ? site : others)));
    } catch (error) {
      if (this.#hasEnded || this.#byAddress.get(facts.address)?.site === site) throw error;
      this.#unused(sentenceOf(error));
    }
  }

  /** Reports that a worker takes no part. The bridge tries some workers again and again. */
  #unused(text: string): void {
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    this.#parts?.engine.event('dask-worker', text);
    warn(text);
  }

  /** Handles the events that arrived while the first workers joined. */
  catchUp(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const event of early) this.onEvent(event);
  }

  onEvent(event: RunBridgeEvent): void {
    if (this.#early !== undefined) {
      this.#early.push(event);
      return;
    }
    const parts = this.#parts;
    if (parts === undefined || this.#hasEnded) return;
    if (event.type === 'joined')
      this.join(event.worker).catch((error: unknown) => {
        if (!this.#hasEnded) this.#unused(sentenceOf(error));
      });
    if (event.type === 'warning') this.#unused(event.text);
    if (event.type === 'disconnected' || event.type === 'reconnected') {
      const text = connectionText(event);
      parts.engine.event('dask', text);
      warn(text);
    }
    if (event.type !== 'left' && event.type !== 'leaving') return;
    const { address } = event;
    const found = this.#byAddress.get(address);
    if (found === undefined) return;
    this.#byAddress.delete(address);
    if (event.type === 'left')
      parts.places.remove(found.site, `The Dask worker ${address} has left: ${event.why}.`);
    else parts.places.retire(found.site, `The Dask worker ${address} is closing.`);
  }

  onLost(error: LongpoleError): void {
    if (this.#hasEnded) return;
    for (const { site } of this.#byAddress.values()) this.#parts?.places.remove(site, error.message);
    this.#byAddress.clear();
    this.#parts?.engine.failEverything(error);
    this.#close();
  }
}

function connectionText(event: Extract<RunBridgeEvent, { type: 'disconnected' | 'reconnected' }>): string {
  return event.type === 'reconnected'
    ? 'The connection to the Dask scheduler was restored.'
    : `The connection to the Dask scheduler broke. Longpole tries to connect again for ${event.seconds} s; tasks that run continue.`;
}

/** @param workers what RunBridge.close() resolves with */
function warnUnanswered(workers: readonly string[] | undefined): void {
  if (workers === undefined) return;
  const first = workers.slice(0, MAX_NAMES).join(', ');
  warn(
    workers.length === 0
      ? 'The Dask scheduler did not answer when the client closed. ' +
          'Processes of Node may be left on its workers, which end them after a minute.'
      : `${countText(workers.length, 'Dask worker')} did not answer when the client closed: ${first}${workers.length > MAX_NAMES ? ', …' : ''}. ` +
          'Processes of Node may be left there. They end when the Dask worker continues or ends.',
  );
}

function warn(text: string): void {
  process.emitWarning(visibleText(text), { type: 'LongpoleWarning', code: 'LONGPOLE_DASK_CONNECTION' });
}

function bridgeArguments({ workers, threads }: DaskOptions): string[] {
  return [
    ...(workers === undefined ? [] : ['--workers', String(workers)]),
    ...(threads === undefined ? [] : ['--threads', String(threads)]),
  ];
}

function checkNode({ address, node }: DaskWorkerFacts): void {
  const [major = 0, minor = 0] = node.replace(/^v/, '').split('.').map(Number);
  const [oldest, oldestMinor] = OLDEST_NODE;
  if (major > oldest || (major === oldest && minor >= oldestMinor)) return;
  throw new LongpoleError(
    'ERR_LONGPOLE_DASK_NODE',
    `The Node of the Dask worker ${address} is too old: ${node}. Install Node ${OLDEST_NODE.join('.')} or newer there. Pass its path ` +
      'as the option node, as --node, or as LONGPOLE_NODE in the environment of the worker.',
  );
}

/** Connections to the host of this address are encrypted if Dask encrypts its own. */
function networkOf(address: string, host = hostOf(address)): PeerNetwork {
  return { host, isEncrypted: /^(tls|wss):/.test(address) };
}
