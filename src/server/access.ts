// Who may see a dashboard. A page of another site must not reach it through the browser of somebody who may (DNS rebinding,
// cross-site WebSockets), and beyond this machine a secret is asked for. Every check is a pure function of a request.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

export interface AccessRules {
  /** Names, in small letters, by which a browser may call the server; addresses are always allowed. */
  readonly names: ReadonlySet<string>;
  /** Asked for unless undefined. */
  readonly token: string | undefined;
  /** The name of the cookie that holds the token; cookies do not tell ports apart, so it names the port. */
  readonly cookie: string;
}

/** Only this machine reaches a server that listens there. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/**
 * Whether the request was meant for this server. A site that has its own name resolve to 127.0.0.1 makes a browser send
 * that name; nobody can do that with an address.
 */
export function isHostAllowed({ names }: AccessRules, header: string | undefined): boolean {
  const name = hostName(header);
  return name !== undefined && (isIP(name) !== 0 || names.has(name));
}

/** Without its port, in small letters; undefined if it is no host. */
function hostName(header: string | undefined): string | undefined {
  if (header === undefined || header.length > 300) return undefined;
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** Browsers say which site opens a WebSocket: it must be this one. Programs that are no browsers say nothing. */
export function isOriginAllowed(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers;
  if (origin === undefined) return true;
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/** `query` is the token that stands in the URL. */
export function isTokenRight(
  { token, cookie }: AccessRules,
  headers: IncomingHttpHeaders,
  query: string | null,
): boolean {
  if (token === undefined) return true;
  const given = [query, bearer(headers.authorization), cookieOf(headers.cookie, cookie)];
  // All are compared, whichever is right.
  return given.map((one) => one !== null && isSame(one, token)).includes(true);
}

function bearer(header: string | undefined): string | null {
  return /^Bearer ([^\s]{1,256})$/i.exec(header ?? '')?.[1] ?? null;
}

function cookieOf(header: string | undefined, name: string): string | null {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return null;
}

/** Takes as long for every wrong token. */
export function isSame(given: string, secret: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}
