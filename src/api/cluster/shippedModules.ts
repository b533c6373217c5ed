// Sends the modules of tasks to the workers of a Dask cluster, as one bundle with all modules that have registered
// tasks so far. A task of a module that registers later causes another bundle.
import { LongpoleError, sentenceOf } from '../../base/errors.js';
import { bundleModules, isOwnModule, type NodeModules } from '../../dask/moduleBundle.js';
import { registeredUrls } from '../../graph/taskRegistry.js';
import type { FunctionRef, UnavailableFunctionRef } from '../../protocol/functionRef.js';

/** Name of the bundle with a module, or the error of its build. */
type Shipped = string | LongpoleError;

export class ShippedModules {
  readonly #send: (name: string, bytes: Uint8Array) => void;
  readonly #nodeModules: NodeModules;
  readonly #shipped = new Map<string, Shipped>();
  readonly #building = new Map<string, Promise<void>>();

  /** @param send sends a file to all workers, ahead of later messages */
  constructor(send: (name: string, bytes: Uint8Array) => void, nodeModules: NodeModules) {
    this.#send = send;
    this.#nodeModules = nodeModules;
  }

  /** Sends the modules that have registered tasks so far, while the workers start. */
  shipRegistered(): void {
    const first = [...registeredUrls()].find((url) => this.#travels(url));
    if (first !== undefined) void this.#ship(first);
  }

  /**
   * Returns the functions with the bundles of their modules, or a promise if a bundle has to be built. Never rejects.
   */
  prepare(functions: readonly FunctionRef[]): readonly FunctionRef[] | Promise<readonly FunctionRef[]> {
    const missing = functions.flatMap((ref) =>
      ref.type === 'module' && this.#travels(ref.url) ? [ref.url] : [],
    );
    const now = (): readonly FunctionRef[] => functions.map((ref) => this.#located(ref));
    const waits = [...new Set(missing)].flatMap((url) => (this.#shipped.has(url) ? [] : [this.#ship(url)]));
    return waits.length === 0 ? now() : Promise.all(waits).then(now);
  }

  #travels(url: string): boolean {
    return url.startsWith('file:') && !isOwnModule(url);
  }

  #located(ref: FunctionRef): FunctionRef {
    const shipped = ref.type === 'module' ? this.#shipped.get(ref.url) : undefined;
    if (ref.type !== 'module' || shipped === undefined) return ref;
    return typeof shipped === 'string' ? { ...ref, bundle: shipped } : unavailable(ref.name, shipped);
  }

  #ship(url: string): Promise<void> {
    const building = this.#building.get(url);
    if (building !== undefined) return building;
    const urls = [...new Set([...registeredUrls(), url])].filter((one) => this.#travels(one));
    const built = this.#build(urls, url);
    for (const one of urls) if (!this.#shipped.has(one)) this.#building.set(one, built);
    return built;
  }

  async #build(urls: readonly string[], wanted: string): Promise<void> {
    try {
      const { name, bytes } = await bundleModules(urls, this.#nodeModules);
      this.#send(name, bytes);
      for (const url of urls) if (!this.#shipped.has(url)) this.#shipped.set(url, name);
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

function unavailable(name: string, { code, message }: LongpoleError): UnavailableFunctionRef {
  return { type: 'unavailable', name, code, message };
}
