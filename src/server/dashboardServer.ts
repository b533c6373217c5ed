// The HTTP server of the dashboard: one page, a WebSocket with the trace, and some answers in JSON. No request changes
// or runs anything. docs/dashboard.md describes who may connect.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { hostname } from 'node:os';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import { invalidArgument, isError, LongpoleError } from '../base/errors.js';
import { fieldOf } from '../base/json.js';
import { LIVE_PATH, MAX_PAGE_MESSAGE_BYTES } from '../protocol/viewMessages.js';
import { type AccessRules, frameRule, isLoopback, isOriginAllowed } from './access.js';
import { DEFAULT_LIMITS, type ViewerLimits } from './outlet.js';
import { type PageFile, readPage } from './pageFiles.js';
import { Routes, urlOf } from './routes.js';
import type { DashboardSource } from './source.js';
import { Stream } from './stream.js';

export interface DashboardServerOptions {
  readonly source: DashboardSource;
  /** Address to listen at. Default 127.0.0.1, which only this machine can reach. Other addresses require a token. */
  readonly host?: string;
  /** Port to listen at; 0 for any free port. Default 8787, or any free port if that one is taken. */
  readonly port?: number;
  /**
   * Secret of 16 to 256 letters, digits, `-` or `_` that requests must contain. Default: none at 127.0.0.1, otherwise a
   * random token, which is part of `link`.
   */
  readonly token?: string;
  /** Other host names under which browsers call this server, e.g. the name of a proxy. */
  readonly names?: readonly string[];
  /**
   * Origins of the pages that may show the dashboard in a frame, e.g. `['http://localhost:8888']` for JupyterLab. `'self'`
   * is the origin of the dashboard. Default: none.
   */
  readonly frameAncestors?: readonly string[];
  /** @internal */
  readonly limits?: Partial<ViewerLimits>;
  /** @internal The page to serve. */
  readonly page?: PageFile;
}

const DEFAULT_PORT = 8787;
const MAX_HEADER_BYTES = 8192;
const MAX_CONNECTIONS = 256;
const PAGE = 'dashboard.html';
/**
 * Number of polls, and milliseconds between two, in which connections can close after `close()`. The limit counts
 * polls, because a blocked thread sends nothing.
 */
const CLOSING_POLLS = 6;
const CLOSING_POLL_MS = 50;

export class DashboardServer {
  /** URL to open in a browser, with the token if one is required. */
  readonly link: string;
  readonly port: number;
  readonly #server: Server;
  #sockets: Promise<WebSocketServer> | undefined;
  readonly #stream: Stream;
  readonly #open = new Set<Socket>();
  #closed: Promise<void> | undefined;

  /**
   * Starts a server, which does not keep the program alive; see `keepAlive`.
   *
   * @throws (rejects) LongpoleError ERR_LONGPOLE_DASHBOARD if the server cannot listen at the host and port;
   *   ERR_LONGPOLE_INVALID_ARGUMENT for an invalid token, port or origin; ERR_LONGPOLE_PAGE_FILE if the installation lacks the page.
   */
  static async start(options: DashboardServerOptions): Promise<DashboardServer> {
    const { source, names = [] } = options;
    const { host, token, wanted, frames } = checked(options);
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
      names: new Set(['localhost', hostname(), host, ...names].map((name) => name.toLowerCase())),
      token,
      cookie: `longpole-${port}`,
      frames,
    };
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const stream = new Stream(source, limits);
    const routes = new Routes(rules, source, stream, page, limits.stuckMs);
    const query = token === undefined ? '' : `?token=${token}`;
    const link = `http://${reachableName(host)}:${port}/${query}`;
    return new DashboardServer(server, link, port, stream, routes);
  }

  /** Checks that a server with these options can start, without answering any request. Throws what `start` throws. */
  static async check(options: Omit<DashboardServerOptions, 'source'>): Promise<void> {
    const { host, wanted } = checked(options);
    const server = createServer();
    await listen(server, host, wanted);
    await new Promise((resolve) => server.close(resolve));
  }

  private constructor(server: Server, link: string, port: number, stream: Stream, routes: Routes) {
    this.#server = server;
    this.#stream = stream;
    this.port = port;
    this.link = link;
    server.on('connection', (socket) => {
      socket.unref();
      this.#open.add(socket);
      socket.on('close', () => this.#open.delete(socket));
    });
    server.on('request', (request, response) => routes.answer(request, response));
    server.on('upgrade', (request, socket, head) => this.#upgrade(routes, request, socket, head));
    server.on('clientError', (error, socket) =>
      refuse(socket, fieldOf(error, 'code') === 'HPE_HEADER_OVERFLOW' ? 431 : 400),
    );
    server.unref();
  }

  /** Number of connected pages. */
  get viewers(): number {
    return this.#stream.viewers;
  }

  /** Notifies the pages that the run is over, and continues to serve it. The trace must not change any more. */
  over(reason: string): void {
    this.#stream.over(reason);
  }

  /** Keeps the program alive until the server is closed. */
  keepAlive(): void {
    this.#server.ref();
  }

  /** Notifies the pages of the reason, and ends all connections. */
  close(reason = 'The server was closed.'): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#stream.close(reason);
      // Leave time for the last messages, then end connections that do not read them or do not close.
      let polls = CLOSING_POLLS;
      const timer = setInterval(() => {
        if (--polls <= 0) for (const socket of this.#open) socket.destroy();
      }, CLOSING_POLL_MS);
      this.#server.close(() => {
        clearInterval(timer);
        resolve();
      });
      this.#server.closeIdleConnections();
    });
    return this.#closed;
  }

  #upgrade(routes: Routes, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    // A request that offers another protocol, e.g. HTTP/2, is answered as if it offered none.
    if (request.headers.upgrade?.toLowerCase() !== 'websocket' && socket instanceof Socket) {
      answerOnce(routes, request, socket);
      return;
    }
    const { pathname, searchParams } = urlOf(request);
    const status = routes.deny(request)?.status ?? denySocket(request, pathname);
    if (status !== undefined) {
      refuse(socket, status);
      return;
    }
    const connect = (sockets: WebSocketServer): void => {
      if (this.#closed !== undefined) refuse(socket, 503);
      else
        sockets.handleUpgrade(request, socket, head, (webSocket) =>
          this.#stream.connect(webSocket, socket, searchParams),
        );
    };
    this.#sockets ??= webSocketServer();
    void this.#sockets.then(connect, () => refuse(socket, 500));
  }
}

/** Answers a request for which Node has given up the connection, and ends the connection. */
function answerOnce(routes: Routes, request: IncomingMessage, socket: Socket): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  // Node does not pass these events on any more.
  socket.on('drain', () => response.emit('drain'));
  socket.on('timeout', () => response.emit('timeout'));
  // The client may never end the connection.
  response.on('finish', () => socket.destroySoon());
  routes.answer(request, response);
}

/** Returns the HTTP status with which to refuse a WebSocket, beyond the checks of every request. */
function denySocket({ headers }: IncomingMessage, pathname: string): number | undefined {
  if (!isOriginAllowed(headers)) return 403;
  return pathname === `/${LIVE_PATH}` ? undefined : 404;
}

/** Loads `ws` for the first page. Loading it takes a fifth of the time in which a short program starts a cluster and ends. */
async function webSocketServer(): Promise<WebSocketServer> {
  const { WebSocketServer: Sockets } = await import('ws');
  return new Sockets({
    noServer: true,
    maxPayload: MAX_PAGE_MESSAGE_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
  });
}

function refuse(socket: Duplex, status: number): void {
  // The client may never end the connection.
  socket.once('finish', () => socket.destroy());
  if (socket.writable)
    socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  else socket.destroy();
}

/** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT */
function checked({
  host = '127.0.0.1',
  token,
  port,
  frameAncestors,
}: Omit<DashboardServerOptions, 'source'>) {
  return {
    host,
    token: checkToken(token, host),
    wanted: checkPort(port),
    frames: frameRule(frameAncestors),
  };
}

function checkToken(token: string | undefined, host: string): string | undefined {
  if (token === undefined) return isLoopback(host) ? undefined : randomBytes(18).toString('base64url');
  if (/^[\w-]{16,256}$/.test(token)) return token;
  throw invalidArgument(
    "token: expected 16 to 256 letters, digits, '-' or '_'. Without this option, a random token is made if one is required.",
  );
}

function checkPort(port: number | undefined): number | undefined {
  if (port === undefined || (Number.isInteger(port) && port >= 0 && port < 65_536)) return port;
  throw invalidArgument(`port: expected a whole number from 0 to 65535, not ${port}.`);
}

/** Listens at the port, or at any free port if the default port is taken. Returns the port. */
async function listen(server: Server, host: string, wanted: number | undefined): Promise<number> {
  try {
    return await listenAt(server, host, wanted ?? DEFAULT_PORT);
  } catch (cause) {
    const isTaken = isError(cause) && 'code' in cause && cause.code === 'EADDRINUSE';
    if (isTaken && wanted === undefined) return listen(server, host, 0);
    const what = isTaken ? 'the port is taken' : String(cause);
    throw new LongpoleError(
      'ERR_LONGPOLE_DASHBOARD',
      `The dashboard cannot listen at ${host}, port ${wanted ?? DEFAULT_PORT}: ${what}. Choose another host or port, or port 0 for any free port.`,
      { cause },
    );
  }
}

async function listenAt(server: Server, host: string, port: number): Promise<number> {
  await once(server.listen(port, host), 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Returns the host name under which a browser reaches a server bound to `host`. */
function reachableName(host: string): string {
  if (host === '0.0.0.0' || host === '::') return hostname();
  return host.includes(':') ? `[${host}]` : host;
}
