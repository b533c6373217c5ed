// Where a worker's peers find it: a socket in its own directory, which nobody else may enter. `unix:///path` is a unix
// domain socket, `pipe://name` a named pipe of Windows.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LongpoleError } from '../../base/errors.js';

const UNIX = 'unix://';
const PIPE = 'pipe://';
const PIPE_FOLDER = '\\\\.\\pipe\\';
/** A socket's path may have 103 bytes on macOS and 107 on Linux; the system cuts longer ones off without a word. */
const MAX_PATH_BYTES = 103;

export interface Endpoint {
  /** For `net`. */
  readonly path: string;
  readonly address: string;
  /** Removes what was made for it, once nobody listens any more. */
  readonly remove: () => void;
}

/** `file`: path of a file of this name in the worker's directory. */
export function makeEndpoint(file: (name: string) => string, name: string): Endpoint {
  if (process.platform === 'win32') {
    const pipe = `longpole-${process.pid}-${name}`;
    return { path: PIPE_FOLDER + pipe, address: PIPE + pipe, remove: () => undefined };
  }
  const path = file(`${name}.sock`);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) {
    return { path, address: UNIX + path, remove: () => rmSync(path, { force: true }) };
  }
  const folder = mkdtempSync(join(tmpdir(), 'lp-'));
  const short = join(folder, 's');
  return {
    path: short,
    address: UNIX + short,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The path for `net`. Throws ERR_LONGPOLE_INVALID_ARGUMENT. */
export function pathOf(address: string): string {
  if (address.startsWith(`${UNIX}/`)) return address.slice(UNIX.length);
  if (address.startsWith(PIPE)) return PIPE_FOLDER + address.slice(PIPE.length);
  throw new LongpoleError(
    'ERR_LONGPOLE_INVALID_ARGUMENT',
    `'${address}' is not the address of a peer: unix:///path, or pipe://name on Windows.`,
  );
}
