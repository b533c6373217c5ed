// Refuses everyday words where the field has a term, in comments, strings, identifiers and documents. The words and the
// exceptions are the data below.
//
//   node scripts/checkWords.mjs [ROOT]
//
// Prints one line per finding and exits with 1 if there is any. An exception that matches nothing is a finding
// too, so that the list only shrinks.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Each pattern matches words in lower case: `letGo` and `let go` are the same. `within` limits a word with several
 * meanings to the paths in which one of them has another term.
 */
export const WORDS = [
  { pattern: /\b(un)?told\b|\btells?\b|\btelling\b/, instead: 'notified, reports, names' },
  { pattern: /\bhears?\b|\bheard\b|\bunheard\b/, instead: 'receives' },
  {
    pattern: /\b(no|some|any)body\b|\bwhoever\b/,
    instead: 'no worker, no client, the caller, another process',
  },
  { pattern: /\brobbed\b|\bin vain\b/, instead: "stealState: 'idle', 'requested', 'empty'" },
  {
    pattern: /\brumou?r(s|ed)?\b|\bspares\b|\bleftovers?\b/,
    instead: 'in transit, idle workers, remaining tasks',
  },
  { pattern: /\b(let|lets|letting) (\w+ )?go\b/, instead: 'releases, evicts, discards' },
  { pattern: /\b(go|goes|going|went) on\b/, instead: 'continues' },
  { pattern: /\b(a|few|some|many|\d+|in|per) looks\b/, instead: 'polls' },
  { pattern: /(?<!\bas )\bso long\b/, instead: 'as long as, until then' },
  { pattern: /\ba word of\b|\bways to\b/, instead: 'a message, paths, links, or a verb' },
  {
    pattern: /(?<!stack |call )\bframes?\b(?! ancestors)/,
    within:
      /^(src\/(engine|api\/cluster)\/|src\/protocol\/packedResult|docs\/decisions\/results-|bench\/|soak\/)/,
    instead: 'packed result, buffers, messages, stack frames',
  },
  {
    pattern: /(?<!animation |stack |lz4 )\bframes?\b/,
    within: /^src\/dashboard\//,
    instead: 'animation frames, stack frames, iframes',
  },
  { pattern: /\brests?\b/, within: /^src\/dashboard\//, instead: 'throttle (a limiter), remaining' },
];

/** Lines in which a word of the table is correct. `path` is a file or a folder, `text` a part of the line. */
export const EXCEPTIONS = [
  { path: 'scripts/checkWords', text: '' },
  { path: 'docs/decisions/results-as-bytes.md', text: 'wrong answer that nobody notices' },
  // The table of the trace.
  { path: 'src/dashboard/pages/workersPage', text: 'frame' },
  { path: 'src/dashboard/source/liveTables', text: 'frames' },
  // A name in reports of earlier versions.
  { path: 'src/trace/recording/reportBytes', text: 'letGo' },
];

const ROOTS = /^(src|scripts|test|docs|examples|bench|soak|python)\/|^[A-Z]+\.md$/;
const TEXT = /\.(ts|tsx|mjs|js|css|html|py|sh|md)$/;
/** Files of other programs, and output of tools. */
const FOREIGN = /(^|\/)(node_modules|dist|dist-test|__pycache__|fixtures|\.[^/]+)\//;

/**
 * @param {string} root folder of the repository
 * @param {typeof EXCEPTIONS} [exceptions]
 * @returns {{ problems: string[], files: number }}
 */
export function checkWords(root, exceptions = EXCEPTIONS) {
  const problems = [];
  const used = new Set();
  const files = textFiles(root);
  for (const file of files) {
    for (const { line, text, word, instead } of findings(file, readFileSync(join(root, file), 'utf8'))) {
      const exception = exceptions.find((one) => file.startsWith(one.path) && text.includes(one.text));
      if (exception === undefined) problems.push(`${file}:${line}: '${word}' (${instead}): ${text.trim()}`);
      else used.add(exception);
    }
  }
  for (const one of exceptions) {
    if (!used.has(one)) problems.push(`The exception '${one.text}' for ${one.path} matches nothing`);
  }
  return { problems, files: files.length };
}

function* findings(file, content) {
  const refused = WORDS.filter(({ within }) => within?.test(file) ?? true);
  for (const [index, text] of content.split('\n').entries()) {
    const words = text.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase();
    for (const { pattern, instead } of refused) {
      const word = pattern.exec(words)?.[0];
      if (word !== undefined) yield { line: index + 1, text, word, instead };
    }
  }
}

function textFiles(root, folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}${entry.name}`;
      if (entry.isDirectory()) {
        const below = `${path}/`;
        return ROOTS.test(below) && !FOREIGN.test(below) ? textFiles(root, below) : [];
      }
      return entry.isFile() && ROOTS.test(path) && TEXT.test(path) ? [path] : [];
    })
    .sort();
}

function main() {
  const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
  const { problems, files } = checkWords(root);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) {
    console.error(`${problems.length} problems in the words of ${files} files`);
    process.exitCode = 1;
  } else {
    console.log(`Checked the words of ${files} files.`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
