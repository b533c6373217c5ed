// Checks which requests may read a dashboard. Pages of other sites are refused, also in the browser of an allowed user
// (DNS rebinding, cross-site WebSockets). Requests from other machines need a token. Every check is a pure function of
// a request.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { invalidArgument } from '../base/errors.js';

export interface AccessRules {
  /** Lower-case host names under which a browser may call the server. IP addresses are always allowed. */
  readonly names: ReadonlySet<string>;
  /** Secret that a request must contain; undefined if none is required. */
  readonly token: string | undefined;
  /** Name of the cookie with the token. Browsers share cookies between ports, so the name contains the port. */
  readonly cookie: string;
  /** Headers that decide which other pages may show a page of the server in a frame. */
  readonly frames: FrameRule;
}

interface FrameRule {
  /** Directive of the Content-Security-Policy. */
  readonly policy: string;
  /** Value of the header `X-Frame-Options`. Undefined if this header cannot express the rule. */
  readonly options: 'DENY' | 'SAMEORIGIN' | undefined;
}

const ORIGIN = /^https?:\/\/(?:(?:\*\.)?[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(?:\d{1,5}|\*))?$/i;

/**
 * Returns the rule for the origins that may show a page in a frame, or the rule that no page may.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for a value that is neither an origin nor `self`
 */
export function frameRule(frameAncestors: readonly string[] = []): FrameRule {
  if (!Array.isArray(frameAncestors) || !frameAncestors.every((one) => one === 'self' || ORIGIN.test(one)))
    throw invalidArgument(
      "frameAncestors: expected an array of origins such as 'http://localhost:8888', or 'self' for the dashboard's own origin.",
    );
  if (frameAncestors.length === 0) return { policy: "frame-ancestors 'none'", options: 'DENY' };
  const sources = frameAncestors.map((one) => (one === 'self' ? "'self'" : one));
  const isSelf = frameAncestors.every((one) => one === 'self');
  return {
    policy: `frame-ancestors ${sources.join(' ')}`,
    options: isSelf ? 'SAMEORIGIN' : undefined,
  };
}

/** Returns true if only this machine can reach a server that listens at `host`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/**
 * Returns true if the Host header names this server. An attacker's host name that resolves to 127.0.0.1 (DNS rebinding)
 * is refused. An IP address is allowed, because no DNS entry can redirect it.
 */
export function isHostAllowed({ names }: AccessRules, header: string | undefined): boolean {
  const name = hostName(header);
  return name !== undefined && (isIP(name) !== 0 || names.has(name));
}

/** Returns the host of a Host header in lower case, without the port; undefined for an invalid header. */
function hostName(header: string | undefined): string | undefined {
  if (header === undefined || header.length > 300) return undefined;
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/**
 * Returns true if a WebSocket is opened by a page of this server. Programs other than browsers send no Origin header.
 */
export function isOriginAllowed(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers;
  if (origin === undefined) return true;
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/**
 * Returns true if the URL (`query`), the Authorization header or the cookie holds the token, or if none is required.
 */
export function isTokenRight(
  { token, cookie }: AccessRules,
  headers: IncomingHttpHeaders,
  query: string | null,
): boolean {
  if (token === undefined) return true;
  const given = [query, bearer(headers.authorization), cookieOf(headers.cookie, cookie)];
  // Compare every one, so that the duration does not depend on the result.
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

/** Compares in a time that does not depend on the texts. */
function isSame(given: string, secret: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}
