// The address of a worker for its peers: a socket in its own directory, closed to other users. `unix:///path` is a unix
// domain socket, `pipe://name` a named pipe of Windows. Between machines it is `tcp://host:port`, or `tls://host:port` if
// connections are encrypted.
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, isIPv6, type ListenOptions } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { invalidArgument, LongpoleError, sentenceOf } from '../../base/errors.js';
import type { PeerNetwork } from '../../protocol/workerMessages.js';

const TLS = 'tls://';
const UNIX = 'unix://';
const PIPE = 'pipe://';
const PIPE_FOLDER = '\\\\.\\pipe\\';
/** A socket's path may have 103 bytes on macOS and 107 on Linux; the system truncates longer ones silently. */
const MAX_PATH_BYTES = 103;

export interface Endpoint {
  /** Options for a server of `net`. */
  readonly options: ListenOptions;
  /** Returns the address. `bound` is that of the listening server. */
  readonly address: (bound?: AddressInfo | string | null) => string;
  /** Removes the files of the endpoint after the server was closed. */
  readonly remove: () => void;
}

/**
 * Returns the address at which a worker listens, and how to listen there.
 *
 * @param file returns the path of a file of this name in the worker's directory
 * @param network how peers on other machines reach this machine; undefined: all peers are on this machine
 */
export function makeEndpoint(file: (name: string) => string, name: string, network?: PeerNetwork): Endpoint {
  if (network !== undefined) return networkEndpoint(network);
  if (process.platform === 'win32') {
    const pipe = `longpole-${process.pid}-${name}`;
    return {
      options: { path: PIPE_FOLDER + pipe },
      address: () => PIPE + pipe,
      remove: () => undefined,
    };
  }
  const path = file(`${name}.sock`);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) {
    return {
      options: { path },
      address: () => UNIX + path,
      remove: () => rmSync(path, { force: true }),
    };
  }
  const folder = shortFolder(path);
  const short = join(folder, 's');
  return {
    options: { path: short },
    address: () => UNIX + short,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** @throws LongpoleError ERR_LONGPOLE_LOCAL_DIRECTORY if the folder for temporary files cannot be written */
function shortFolder(path: string): string {
  try {
    return mkdtempSync(join(tmpdir(), 'lp-'));
  } catch (cause) {
    throw new LongpoleError(
      'ERR_LONGPOLE_LOCAL_DIRECTORY',
      `A worker cannot create its socket: the path ${path} is too long for a socket, and the folder for temporary files ` +
        `cannot be used: ${sentenceOf(cause)} Pass a shorter localDirectory, or set TMPDIR to a folder that can be written.`,
      { cause },
    );
  }
}

/** The system chooses the port. */
function networkEndpoint({ host, isEncrypted }: PeerNetwork): Endpoint {
  const written = isIPv6(host) ? `[${host}]` : host;
  return {
    options: { host, port: 0 },
    address: (bound) =>
      `${isEncrypted ? TLS : 'tcp://'}${written}:${typeof bound === 'object' ? (bound?.port ?? 0) : 0}`,
    remove: () => undefined,
  };
}

/** Whether the peer may be on another machine. */
export function isOnNetwork(address: string): boolean {
  return /^t(?:cp|ls):/.test(address);
}

/** Whether connections to the address are encrypted. */
export function isEncrypted(address: string): boolean {
  return address.startsWith(TLS);
}

/** Returns options for a connection of `net`. Throws ERR_LONGPOLE_INVALID_ARGUMENT for an invalid address. */
export function connectionTo(
  address: string,
): { readonly path: string } | { readonly host: string; readonly port: number } {
  if (address.startsWith(`${UNIX}/`)) return { path: address.slice(UNIX.length) };
  if (address.startsWith(PIPE)) return { path: PIPE_FOLDER + address.slice(PIPE.length) };
  const [, host, port] = /^t(?:cp|ls):\/\/\[?([^\]]+)\]?:(\d+)$/.exec(address) ?? [];
  if (host !== undefined && port !== undefined) return { host, port: Number(port) };
  throw invalidArgument(
    `'${address}' is not the address of a peer: unix:///path, tcp://host:port, tls://host:port, or pipe://name on Windows.`,
  );
}
