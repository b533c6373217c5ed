// Reads the HTML pages that the server sends: the files of the build, each with its Content-Security-Policy.
import { readFileSync } from 'node:fs';
import { LongpoleError, messageOf } from '../base/errors.js';

export interface PageFile {
  readonly html: Buffer;
  /**
   * Value of the header, which allows the page's own script and style, and connections to its own server. The rule for
   * frames is missing.
   */
  readonly contentSecurityPolicy: string;
}

const FOLDER = new URL('../dashboard/', import.meta.url);
const POLICY_TAG = /[ \t]*<meta\s+http-equiv="Content-Security-Policy"\s+content="([^"]*)"\s*\/?>\n?/i;

/**
 * Reads a page of the installation, e.g. `dashboard.html`.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be read or has no policy
 */
export function readPage(name: string): PageFile {
  const url = new URL(name, FOLDER);
  let text: string;
  try {
    text = readFileSync(url, 'utf8');
  } catch (cause) {
    throw pageError(url, `cannot be read (${messageOf(cause)})`, { cause });
  }
  const policy = POLICY_TAG.exec(text)?.[1];
  if (policy === undefined) throw pageError(url, 'has no Content-Security-Policy');
  return {
    // The policy in the file forbids all connections and would apply besides the header, so remove it from the page.
    html: Buffer.from(text.replace(POLICY_TAG, '')),
    contentSecurityPolicy: servedPolicy(policy),
  };
}

function pageError({ href }: URL, what: string, options?: ErrorOptions): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_PAGE_FILE',
    `The page ${href} ${what}. Install longpole again, or build it with \`npm run build\`.`,
    options,
  );
}

function servedPolicy(policy: string): string {
  const own = policy
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .split(';')
    .map((directive) => directive.trim())
    .filter((directive) => directive !== '' && !/^(?:connect-src|frame-ancestors)\b/.test(directive));
  return [...own, "connect-src 'self'"].join('; ');
}
