// A package registry on this machine that serves the packages of a node_modules folder, so that a test can run a real
// `npm install` without a network.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { basename, dirname, join } from 'node:path';

/** Serves each package in its installed versions; the top-level version is the latest. Answers 404 for other packages. */
export class LocalRegistry {
  readonly #server: Server;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(nodeModules: string): Promise<LocalRegistry> {
    const registry = new LocalRegistry(nodeModules);
    await new Promise<void>((resolve) => registry.#server.listen(0, '127.0.0.1', resolve));
    return registry;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('The registry is not listening.');
    return `http://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(new URL(request.url ?? '/', this.url).pathname).slice(1);
    const [, tarballName, version] = /^tarballs\/(.+)@([^@]+)\.tgz$/.exec(path) ?? [];
    const name = tarballName ?? path;
    const copies = /^(@[\w.-]+\/)?[\w.-]+$/.test(name) ? this.#copies(name) : new Map<string, string>();
    const folder = version === undefined ? undefined : copies.get(version);
    if (copies.size === 0 || (version !== undefined && folder === undefined)) {
      response.writeHead(404).end('{}');
    } else if (folder === undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(this.#packument(name, copies));
    } else {
      // npm drops the first part of every path in a tarball, and needs no compression.
      const tar = spawn('tar', ['-cf', '-', '-C', dirname(folder), basename(folder)]);
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      tar.stdout.pipe(response);
    }
  }

  /** Version → folder: the package itself, and copies of other versions inside the packages that need them. */
  #copies(name: string): Map<string, string> {
    const found = new Map<string, string>();
    const outer = readdirSync(this.#folder).flatMap((entry) =>
      entry.startsWith('@')
        ? readdirSync(join(this.#folder, entry)).map((part) => join(entry, part))
        : [entry],
    );
    for (const owner of ['', ...outer.map((entry) => join(entry, 'node_modules'))]) {
      const folder = join(this.#folder, owner, name);
      if (existsSync(join(folder, 'package.json'))) found.set(manifestOf(folder).version, folder);
    }
    return found;
  }

  #packument(name: string, copies: ReadonlyMap<string, string>): string {
    const versions = Array.from(copies, ([version, folder]) => {
      const dist = { tarball: `${this.url}/tarballs/${encodeURIComponent(`${name}@${version}`)}.tgz` };
      return [version, { ...manifestOf(folder), dist }];
    });
    const latest = [...copies.keys()][0];
    return JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) });
  }
}

function manifestOf(folder: string): { version: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
