// Compares what a sample prints with what its page shows. This file has the only rule for what may differ.

/**
 * What differs between machines and runs: durations, sizes, shares, ports, process ids, tokens of keys, the length of
 * progress bars. Everything else, other numbers included, has to be the same.
 */
const VARIES: readonly (readonly [RegExp, string])[] = [
  [/\b\d+(?:\.\d+)?(?:e[+-]\d+)? ?(?:[nµm]?s|min|h)\b/g, '<time>'],
  [/\b\d+(?:\.\d+)? ?(?:bytes|[kKMGT]i?B)\b/g, '<size>'],
  [/\b\d+(?:\.\d+)? ?%/g, '<share>'],
  [/\b(127\.0\.0\.1|localhost):\d+/g, '$1:<port>'],
  [/\bpid \d+/g, 'pid <id>'],
  [/-[0-9a-f]{8,}\b/g, '-<token>'],
  [/\[#* *\]/g, '<bar>'],
  // A row of metrics, such as [ 'execute', 'load', 'thread-cpu', 'seconds' ] 12.4
  [/('(?:seconds|bytes)' *\]) [\d.e+-]+/g, '$1 <amount>'],
  [/[ \t]+/g, ' '],
  [/(?<=[[{(]) | (?=[\]})])/g, ''],
];

const shapeOf = (line: string): string =>
  VARIES.reduce((text, [pattern, name]) => text.replace(pattern, name), line).trim();

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

/** A progress bar that is not on a terminal is printed again every few seconds. Matches its lines before the last one. */
const EARLIER_BARS = /^\[#* *\] \| \d{1,2}% Completed .*\n(?=\[#* *\] \| )/gm;

/** Returns whether a line has the shape of a line on the page. There, `…` stands for any text. */
function hasShape(line: string, shown: string): boolean {
  const parts = shown.split('…').map((part) => shapeOf(part).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(shapeOf(line));
}

/** Returns whether the output has the lines of the page and no others. A line `…` stands for any lines. */
export function isShown(printed: string, shown: string): boolean {
  const lines = linesOf(printed.replace(EARLIER_BARS, ''));
  const matches = (from: number, rest: readonly string[]): boolean => {
    const [first, ...others] = rest;
    if (first === undefined) return from === lines.length;
    if (first.trim() !== '…')
      return from < lines.length && hasShape(lines[from]!, first) && matches(from + 1, others);
    return lines.slice(from).some((_, skipped) => matches(from + skipped, others)) || others.length === 0;
  };
  return matches(0, linesOf(shown));
}

/** Returns the first of these lines that the output lacks, in their order; undefined if it has all of them. */
export function firstMissing(printed: string, shown: readonly string[]): string | undefined {
  const lines = linesOf(printed);
  let from = 0;
  for (const line of shown) {
    const found = lines.findIndex((text, index) => index >= from && hasShape(text, line));
    if (found < 0) return line;
    from = found + 1;
  }
  return undefined;
}
