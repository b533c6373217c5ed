// The dashboard over HTTP: one page, a WebSocket with the trace, and a few answers in JSON. It only reads: there is no
// request that changes or runs anything. docs/dashboard.md says who may connect.

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { hostname } from 'node:os';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { invalidArgument, LongpoleError } from '../base/errors.js';
import { isError } from '../base/isError.js';
import { LIVE_PATH, MAX_PAGE_MESSAGE_BYTES } from '../protocol/viewMessages.js';
import { type AccessRules, isHostAllowed, isLoopback, isOriginAllowed, isTokenRight } from './access.js';
import { DEFAULT_LIMITS, type ViewerLimits } from './limits.js';
import { type PageFile, readPage } from './pageFiles.js';
import { Routes } from './routes.js';
import type { DashboardSource } from './source.js';
import { type Stream, streamOf } from './stream.js';

export interface DashboardServerOptions {
  readonly source: DashboardSource;
  /** The address to listen at. Default 127.0.0.1: nobody but this machine. Elsewhere a token is asked for. */
  readonly host?: string;
  /** Default 8787, or any that is free if that is taken; 0: any. One that is given has to be free. */
  readonly port?: number;
  /**
   * A secret of at least 16 letters, digits, `-` or `_` that everybody needs who looks. Default: none at 127.0.0.1, a
   * random one elsewhere; `link` has it.
   */
  readonly token?: string;
  /** Other names by which browsers call this server, e.g. that of a proxy. */
  readonly names?: readonly string[];
  /** @internal */
  readonly limits?: Partial<ViewerLimits>;
  /** @internal The page to serve. */
  readonly page?: PageFile;
}

export const DEFAULT_PORT = 8787;
const MAX_URL = 2048;
const MAX_HEADER_BYTES = 8192;
const MAX_CONNECTIONS = 256;
const PAGE = 'dashboard.html';
/**
 * What a connection has to end in good order: turns of this thread, and milliseconds between two. A thread that stood still
 * has sent nothing in the meantime.
 */
const GOODBYE_TURNS = 6;
const GOODBYE_TURN_MS = 50;

export class DashboardServer {
  /** What to open in a browser, with the token if there is one. */
  readonly link: string;
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #stream: Stream;
  readonly #open = new Set<Socket>();
  #closed: Promise<void> | undefined;

  /**
   * Listens. The server does not keep the program alive; see `keepAlive`.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_DASHBOARD if it cannot listen there; ERR_LONGPOLE_INVALID_ARGUMENT for a
   *   token or port that is none; ERR_LONGPOLE_PAGE_FILE if the page is not part of the installation.
   */
  static async start(options: DashboardServerOptions): Promise<DashboardServer> {
    const { source, host = '127.0.0.1', names = [] } = options;
    const token = checkToken(options.token, host);
    const wanted = checkPort(options.port);
    const page = options.page ?? readPage(PAGE);
    const server = createServer({
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: 10_000,
      requestTimeout: 10_000,
      keepAliveTimeout: 10_000,
    });
    server.maxConnections = MAX_CONNECTIONS;
    const port = await listen(server, host, wanted);
    const rules: AccessRules = {
      names: new Set(['localhost', hostname().toLowerCase(), host.toLowerCase(), ...lowerCase(names)]),
      token,
      cookie: `longpole-${port}`,
    };
    const stream = streamOf(source, { ...DEFAULT_LIMITS, ...options.limits });
    return new DashboardServer({ server, host, port, rules, stream, source, page });
  }

  private constructor({ server, host, port, rules, stream, source, page }: Listening) {
    this.#server = server;
    this.#stream = stream;
    this.port = port;
    const query = rules.token === undefined ? '' : `?token=${rules.token}`;
    this.link = `http://${reachableName(host)}:${port}/${query}`;
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: MAX_PAGE_MESSAGE_BYTES,
      perMessageDeflate: false,
      clientTracking: false,
    });
    const routes = new Routes(rules, source, stream, page);
    server.on('connection', (socket) => {
      socket.unref();
      this.#open.add(socket);
      socket.on('close', () => this.#open.delete(socket));
    });
    server.on('request', (request, response) => this.#answer(rules, routes, request, response));
    server.on('upgrade', (request, socket, head) => this.#upgrade(rules, request, socket, head));
    server.on('clientError', (_error, socket) => refuse(socket, 400));
    server.unref();
  }

  /** Pages that are connected. */
  get viewers(): number {
    return this.#stream.viewers;
  }

  /** The program goes on until the server is closed. */
  keepAlive(): void {
    this.#server.ref();
  }

  /** Tells the pages that it is over, and ends all connections. */
  close(reason = 'The server was closed.'): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#stream.close(reason);
      this.#sockets.close();
      // What was just sent gets out before; whoever does not take it, or does not say good-bye, is not waited for.
      let turns = GOODBYE_TURNS;
      const patience = setInterval(() => {
        if (--turns <= 0) for (const socket of this.#open) socket.destroy();
      }, GOODBYE_TURN_MS);
      this.#server.close(() => {
        clearInterval(patience);
        resolve();
      });
      this.#server.closeIdleConnections();
    });
    return this.#closed;
  }

  #answer(rules: AccessRules, routes: Routes, request: IncomingMessage, response: ServerResponse): void {
    const denied = deny(rules, request);
    if (denied !== undefined) routes.sendText(response, denied.status, denied.text);
    else routes.answer(request, response, urlOf(request));
  }

  #upgrade(rules: AccessRules, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const { pathname, searchParams } = urlOf(request);
    const status = deny(rules, request)?.status ?? this.#denySocket(request, pathname);
    if (status !== undefined) refuse(socket, status);
    else
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) =>
        this.#stream.connect(webSocket, socket, searchParams),
      );
  }

  /** The status with which a WebSocket is refused, for other reasons than any request. */
  #denySocket({ headers }: IncomingMessage, pathname: string): number | undefined {
    if (!isOriginAllowed(headers)) return 403;
    if (pathname !== `/${LIVE_PATH}`) return 404;
    return this.#closed !== undefined ? 503 : undefined;
  }
}

interface Listening {
  readonly server: Server;
  readonly host: string;
  readonly port: number;
  readonly rules: AccessRules;
  readonly stream: Stream;
  readonly source: DashboardSource;
  readonly page: PageFile;
}

/** Why a request is not answered. */
function deny(
  rules: AccessRules,
  request: IncomingMessage,
): { readonly status: number; readonly text: string } | undefined {
  const { headers, method, url = '' } = request;
  if (url.length > MAX_URL) return { status: 414, text: 'The address is too long.' };
  if (!isHostAllowed(rules, headers.host))
    return {
      status: 403,
      text: 'This server is not called by that name. Open it by its address, or name it in { names }.',
    };
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: 'Only GET is answered here.' };
  if (!isTokenRight(rules, headers, urlOf(request).searchParams.get('token')))
    return { status: 401, text: 'Open the link that the program printed: its token is needed here.' };
  return undefined;
}

/** A path that no request can have: slashes at the beginning are made one. */
const NOWHERE = 'http://dashboard//';

/** Where the request goes; what cannot be read as a path goes nowhere. */
function urlOf({ url = '' }: IncomingMessage): URL {
  // Two slashes, or a whole address, would bring a host of their own.
  const path = url.replace(/^\/+/, '/');
  const isPath = path.startsWith('/') && URL.canParse(path, NOWHERE);
  return new URL(isPath ? path : NOWHERE, NOWHERE);
}

function refuse(socket: Duplex, status: number): void {
  // The other side may never end the connection itself.
  socket.once('finish', () => socket.destroy());
  if (socket.writable)
    socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  else socket.destroy();
}

function checkToken(token: string | undefined, host: string): string | undefined {
  if (token === undefined) return isLoopback(host) ? undefined : randomBytes(18).toString('base64url');
  if (/^[\w-]{16,256}$/.test(token)) return token;
  throw invalidArgument(
    "token: expected 16 to 256 letters, digits, '-' or '_'. Leave it out, and a random one is made where one is needed.",
  );
}

function checkPort(port: number | undefined): number | undefined {
  if (port === undefined || (Number.isInteger(port) && port >= 0 && port < 65_536)) return port;
  throw invalidArgument(`port: expected a whole number from 0 to 65535, not ${port}.`);
}

/** The port that is taken. */
async function listen(server: Server, host: string, wanted: number | undefined): Promise<number> {
  try {
    return await listenAt(server, host, wanted ?? DEFAULT_PORT);
  } catch (cause) {
    const isTaken = isError(cause) && 'code' in cause && cause.code === 'EADDRINUSE';
    if (isTaken && wanted === undefined) return listen(server, host, 0);
    const what = isTaken ? 'the port is taken' : String(cause);
    throw new LongpoleError(
      'ERR_LONGPOLE_DASHBOARD',
      `The dashboard cannot listen at ${host}, port ${wanted ?? DEFAULT_PORT}: ${what}. Choose another host or port, or port 0 for any.`,
      { cause },
    );
  }
}

function listenAt(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(portOf(server.address()));
    });
  });
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** By what a browser on this machine, or on another, reaches a server that listens at `host`. */
function reachableName(host: string): string {
  if (host === '0.0.0.0' || host === '::') return hostname();
  return host.includes(':') ? `[${host}]` : host;
}

function lowerCase(names: readonly string[]): string[] {
  return names.map((name) => name.toLowerCase());
}
