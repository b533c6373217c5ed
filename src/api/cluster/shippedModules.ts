// Sends the modules of tasks to the workers of a Dask cluster, as one bundle with all modules that have registered
// tasks so far. A task of a module that registers later causes another bundle.
import { LongpoleError, sentenceOf } from '../../base/errors.js';
import { bundleModules, type NodeModules } from '../../dask/moduleBundle.js';
import type { WorkerFile } from '../../dask/workerFiles.js';
import { registeredUrls } from '../../graph/taskRegistry.js';
import type { FunctionRef } from '../../protocol/functionRef.js';

/** Name of the bundle with a module, or the error of its build. */
type Shipped = string | LongpoleError;

export class ShippedModules {
  readonly #nodeModules: NodeModules;
  #send: ((file: WorkerFile) => void) | undefined;
  /** Bundles that were built before the workers are known. */
  readonly #early: WorkerFile[] = [];
  readonly #shipped = new Map<string, Shipped>();
  readonly #building = new Map<string, Promise<void>>();

  constructor(nodeModules: NodeModules) {
    this.#nodeModules = nodeModules;
    // The modules that have registered tasks so far are bundled while the program connects.
    const first = [...registeredUrls()].find(travels);
    if (first !== undefined) void this.#ship(first);
  }

  /** @param send sends a file to all workers, ahead of later messages */
  begin(send: (file: WorkerFile) => void): void {
    this.#send = send;
    for (const file of this.#early.splice(0)) send(file);
  }

  /** Bundles the modules of functions. Returns undefined if they are bundled. Never rejects. */
  bundle(functions: readonly FunctionRef[]): Promise<unknown> | undefined {
    const missing = functions.flatMap((ref) =>
      ref.type === 'module' && travels(ref.url) && !this.#shipped.has(ref.url) ? [ref.url] : [],
    );
    return missing.length === 0
      ? undefined
      : Promise.all([...new Set(missing)].map((url) => this.#ship(url)));
  }

  /** Returns a function with the bundle of its module. A module that cannot be bundled makes it unavailable. */
  locate(ref: FunctionRef): FunctionRef {
    const shipped = ref.type === 'module' ? this.#shipped.get(ref.url) : undefined;
    if (ref.type !== 'module' || shipped === undefined) return ref;
    if (typeof shipped === 'string') return { ...ref, bundle: shipped };
    return { type: 'unavailable', name: ref.name, code: shipped.code, message: shipped.message };
  }

  #ship(url: string): Promise<void> {
    const building = this.#building.get(url);
    if (building !== undefined) return building;
    const urls = [...new Set([...registeredUrls(), url])].filter(travels);
    const built = this.#build(urls, url);
    for (const one of urls) if (!this.#shipped.has(one)) this.#building.set(one, built);
    return built;
  }

  async #build(urls: readonly string[], wanted: string): Promise<void> {
    try {
      const file = await bundleModules(urls, this.#nodeModules);
      if (this.#send === undefined) this.#early.push(file);
      else this.#send(file);
      for (const url of urls) if (!this.#shipped.has(url)) this.#shipped.set(url, file.name);
    } catch (error) {
      // Find the modules that can be bundled.
      if (urls.length > 1) {
        await Promise.all(urls.map((url) => this.#build([url], url)));
        return;
      }
      const cause =
        error instanceof LongpoleError
          ? error
          : new LongpoleError(
              'ERR_LONGPOLE_BUNDLE',
              `The module ${wanted} could not be bundled for the workers: ${sentenceOf(error)} ` +
                'Check that the module and its imports can be read.',
              { cause: error },
            );
      this.#shipped.set(wanted, cause);
    }
  }
}

/** Returns whether the workers need a bundle with this module. */
function travels(url: string): boolean {
  return url.startsWith('file:');
}
