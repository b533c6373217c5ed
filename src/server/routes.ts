// Answers the requests of the dashboard's server, or refuses them. Only the page has a content type that a browser
// executes.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { LongpoleError } from '../base/errors.js';
import { visibleText } from '../base/visibleText.js';
import { DASK_PAGES, individualPlotAt, individualPlotPaths } from '../protocol/individualPlots.js';
import { GRAPH_PATH } from '../protocol/openGraph.js';
import { RECORDED_TABLES } from '../protocol/traceSchema.js';
import { LIVE_PATH } from '../protocol/viewMessages.js';
import { type AccessRules, isHostAllowed, isTokenRight } from './access.js';
import { wholeTable } from './catchUp.js';
import type { PageFile } from './pageFiles.js';
import type { PrometheusMetrics } from './prometheus/prometheus.js';
import type { DashboardSource, LiveSource } from './source.js';
import type { Stream } from './stream.js';
import { taskDetails } from './taskDetails.js';

const MAX_URL = 2048;
const NOTHING = "default-src 'none'; frame-ancestors 'none'";
const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const ARROW_TYPE = 'application/vnd.apache.arrow.stream';
/** Status for a valid request if the needed part of the trace is damaged. */
const UNPROCESSABLE = 422;
/** Headers that HTTP requires with a status, and the end of a connection with an unread body. */
const HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': 'Bearer' },
  405: { Allow: 'GET, HEAD', Connection: 'close' },
  426: { Upgrade: 'websocket', Connection: 'Upgrade' },
};
const TASK_PATH = '/api/task/';
const TABLE_PATH = /^\/api\/trace\/(.+)\.arrow$/;

export class Routes {
  readonly #rules: AccessRules;
  readonly #source: DashboardSource;
  readonly #stream: Stream;
  readonly #page: PageFile;
  #metrics: Promise<PrometheusMetrics> | undefined;
  readonly #stuckMs: number;

  /** @param stuckMs milliseconds after which a client that reads nothing of its answer is disconnected */
  constructor(rules: AccessRules, source: DashboardSource, stream: Stream, page: PageFile, stuckMs: number) {
    this.#rules = rules;
    this.#source = source;
    this.#stream = stream;
    this.#page = page;
    this.#stuckMs = stuckMs;
  }

  /** Returns the status and text with which to refuse a request; undefined if the request is allowed. */
  deny(request: IncomingMessage): { readonly status: number; readonly text: string } | undefined {
    const { headers, method, url = '' } = request;
    if (url.length > MAX_URL) return { status: 414, text: 'The URL is too long.' };
    if (!isHostAllowed(this.#rules, headers.host))
      return {
        status: 403,
        text: 'The host name in the URL is not a name of this server. Use the IP address, or add the name to { names }.',
      };
    if (method !== 'GET' && method !== 'HEAD')
      return { status: 405, text: 'The dashboard answers only GET and HEAD requests.' };
    if (!isTokenRight(this.#rules, headers, urlOf(request).searchParams.get('token')))
      return { status: 401, text: 'A token is required. Open the link that the program printed.' };
    return undefined;
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const denied = this.deny(request);
    if (denied !== undefined) {
      this.#sendText(response, denied.status, denied.text);
      return;
    }
    // Discard the body.
    request.resume();
    this.#route(response, urlOf(request)).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else this.#sendError(response, error);
    });
  }

  async #route(response: ServerResponse, { pathname, searchParams }: URL): Promise<void> {
    if (pathname === '/' || pathname === '/index.html') {
      // The URL of the page must not hold the token, because others may see it.
      if (this.#hasToken(searchParams)) return this.#redirect(response, toRoot(pathname), searchParams);
      return this.#sendPage(response);
    }
    const address = DASK_PAGES.get(pathname.slice(1));
    if (address !== undefined)
      return this.#redirect(response, `${toRoot(pathname)}#${address}`, searchParams);
    if (pathname === '/individual-plots.json') return this.#sendJson(response, individualPlotPaths());
    if (pathname.startsWith('/individual-')) return this.#sendIndividual(response, pathname, searchParams);
    if (pathname === '/health') return this.#sendHealth(response);
    if (pathname === '/metrics') return this.#sendMetrics(response);
    if (pathname === `/${GRAPH_PATH}`) return this.#sendGraph(response);
    if (pathname.startsWith(TASK_PATH)) return this.#sendTask(response, pathname.slice(TASK_PATH.length));
    if (pathname === `/${LIVE_PATH}`)
      return this.#sendText(response, 426, 'This path answers only WebSockets of the page.');
    const name = TABLE_PATH.exec(pathname)?.[1];
    if (name !== undefined) return this.#sendTable(response, name);
    this.#sendText(response, 404, 'The dashboard has no page at this path.');
  }

  #hasToken(query: URLSearchParams): boolean {
    return this.#rules.token !== undefined && query.has('token');
  }

  /** Redirects the browser. Moves a token from the URL into a cookie that no script can read. */
  #redirect(response: ServerResponse, location: string, query: URLSearchParams): void {
    const { token, cookie } = this.#rules;
    this.#head(response, 303, TEXT_TYPE, {
      Location: location,
      ...(this.#hasToken(query)
        ? { 'Set-Cookie': `${cookie}=${token}; HttpOnly; SameSite=Lax; Path=/` }
        : {}),
    });
    response.end();
  }

  /** Sends the page for a plot alone. The page reads the name of the plot from its URL. */
  #sendIndividual(response: ServerResponse, pathname: string, query: URLSearchParams): void {
    // Browsers send no such cookie for a frame in a page of another site. The frame keeps the token in its URL.
    const isFramed = this.#rules.frames.options !== 'DENY';
    if (individualPlotAt(pathname) === undefined)
      this.#sendText(
        response,
        404,
        'The dashboard has no plot of this name; /individual-plots.json lists its plots.',
      );
    else if (this.#hasToken(query) && !isFramed) this.#redirect(response, `.${pathname}`, query);
    else this.#sendPage(response);
  }

  #sendPage(response: ServerResponse): void {
    const { html, contentSecurityPolicy } = this.#page;
    const { policy, options } = this.#rules.frames;
    this.#head(response, 200, 'text/html; charset=utf-8', {
      'Content-Security-Policy': `${contentSecurityPolicy}; ${policy}`,
      'Content-Length': String(html.length),
      'X-Frame-Options': options,
    });
    response.end(html);
  }

  #sendHealth(response: ServerResponse): void {
    const { kind, title } = this.#source;
    this.#sendJson(response, { status: 'ok', source: kind, title, viewers: this.#stream.viewers });
  }

  async #sendMetrics(response: ServerResponse): Promise<void> {
    const source = this.#source;
    if (source.kind !== 'live')
      return this.#sendText(response, 404, 'A recorded trace has no metrics. Only a running cluster has.');
    this.#metrics ??= metricsOf(source);
    const metrics = await this.#metrics;
    const text = await metrics.text();
    this.#head(response, 200, metrics.contentType);
    response.end(text);
  }

  #sendGraph(response: ServerResponse): void {
    const source = this.#source;
    if (source.kind === 'live') this.#sendJson(response, source.trace.openGraph(source.processing()));
    else this.#sendText(response, 404, 'Each task of a recorded trace has a row in its table of tasks.');
  }

  #sendTask(response: ServerResponse, text: string): void {
    const id = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    const { trace } = this.#source;
    const isId = Number.isSafeInteger(id);
    const details = isId ? taskDetails('snapshot' in trace ? trace.snapshot() : trace, id) : undefined;
    if (details !== undefined) this.#sendJson(response, details);
    else if (isId)
      this.#sendText(
        response,
        404,
        'The trace has no run of this task. The task is still running, or its row was evicted.',
      );
    else this.#sendText(response, 400, 'The id of a task is a whole number from 0 to 2^53 - 1.');
  }

  async #sendTable(response: ServerResponse, name: string): Promise<void> {
    const source = this.#source;
    const table = RECORDED_TABLES.find((one) => one === name);
    if (table === undefined || source.kind === 'live')
      return this.#sendText(
        response,
        404,
        `Only a recorded trace has tables, and it has these: ${RECORDED_TABLES.join(', ')}.`,
      );
    const pieces = wholeTable(source.trace, table);
    const first = pieces.next();
    this.#head(response, 200, ARROW_TYPE);
    const all = function* (): Generator<Uint8Array> {
      if (first.done !== true) yield first.value;
      yield* pieces;
    };
    await pipeline(Readable.from(all()), response);
  }

  /** Of a damaged trace, columns that are read when they are used fail here. */
  #sendError(response: ServerResponse, error: unknown): void {
    const known = error instanceof LongpoleError;
    const code = known ? error.code : 'ERR_LONGPOLE_INTERNAL';
    const message = known ? error.message : `The request failed: ${visibleText(String(error))}`;
    this.#sendJson(response, { error: { code, message } }, known ? UNPROCESSABLE : 500);
  }

  #sendJson(response: ServerResponse, value: unknown, status = 200): void {
    this.#head(response, status, JSON_TYPE);
    response.end(JSON.stringify(value));
  }

  #sendText(response: ServerResponse, status: number, text: string): void {
    this.#head(response, status, TEXT_TYPE, HEADERS[status]);
    response.end(`${text}\n`);
  }

  #head(
    response: ServerResponse,
    status: number,
    contentType: string,
    more: Readonly<Record<string, string | undefined>> = {},
  ): void {
    const headers = {
      'Content-Type': contentType,
      'Content-Security-Policy': NOTHING,
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      ...more,
    };
    for (const [name, value] of Object.entries(headers))
      if (value !== undefined) response.setHeader(name, value);
    response.writeHead(status);
    response.setTimeout(this.#stuckMs, () => response.destroy());
  }
}

/** A URL that no request can have, because several slashes at the beginning of its path are replaced by one. */
const NOWHERE = 'http://dashboard//';

/** Returns the URL of the request, or NOWHERE for an invalid path. */
export function urlOf({ url = '' }: IncomingMessage): URL {
  // Two slashes or backslashes, or a whole URL, would replace the host.
  const path = url.replace(/^\/[/\\]*/, '/');
  const isPath = path.startsWith('/') && URL.canParse(path, NOWHERE);
  return new URL(isPath ? path : NOWHERE, NOWHERE);
}

/** Returns the relative URL of the root, because a proxy may have removed a prefix from the path. */
function toRoot(pathname: string): string {
  return `./${'../'.repeat(pathname.split('/').length - 2)}`;
}

/** Loads prom-client for the first scrape, because most programs are never scraped. */
async function metricsOf(source: LiveSource): Promise<PrometheusMetrics> {
  const { PrometheusMetrics: Metrics } = await import('./prometheus/prometheus.js');
  return new Metrics(() => source.figures());
}
