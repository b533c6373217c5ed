// A package registry on this machine that offers what lies in a node_modules folder, so that a test can run a real
// `npm install` without a network.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';

/** Serves each package in the one version that is installed. A package that is not there is answered with 404. */
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
    const tarball = /^tarballs\/(.+)\.tgz$/.exec(path)?.[1];
    const name = tarball ?? path;
    const folder = join(this.#folder, name);
    if (!/^(@[\w.-]+\/)?[\w.-]+$/.test(name) || !existsSync(join(folder, 'package.json'))) {
      response.writeHead(404).end('{}');
    } else if (tarball === undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(this.#packument(name, folder));
    } else {
      // npm drops the first part of every path in a tarball, whatever it is called.
      const tar = spawn('tar', [
        '-czf',
        '-',
        '-C',
        dirname(folder),
        folder.slice(dirname(folder).length + 1),
      ]);
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      tar.stdout.pipe(response);
    }
  }

  #packument(name: string, folder: string): string {
    const manifest: { version: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const { version } = manifest;
    const dist = { tarball: `${this.url}/tarballs/${encodeURIComponent(name)}.tgz` };
    return JSON.stringify({
      name,
      'dist-tags': { latest: version },
      versions: { [version]: { ...manifest, dist } },
    });
  }
}
