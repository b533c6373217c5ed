// Wraps sentences to the width of a terminal.

const NO_BREAK = '\u00a0';
const UNIT = /(?<=\d) (?=(?:µs|ms|s|min|[kMGT]?B|%)(?![\w]))/g;

/**
 * Returns lines of at most `width` characters. Does not separate a number from its unit. Cuts a longer word. Continued
 * lines are indented like the first one, after spaces or `1. `.
 */
export function wrapped(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const indent = /^(?: +|\d+\. )/.exec(text)?.[0].length ?? 0;
  return wrapWords(text.replace(UNIT, NO_BREAK), width, indent).map((line) => line.replaceAll(NO_BREAK, ' '));
}

function wrapWords(text: string, width: number, indent: number): string[] {
  const margin = ' '.repeat(indent);
  const lines: string[] = [];
  let line = text.startsWith(' ') ? margin : '';
  for (const word of text.trimStart().split(' ')) {
    const part = word.length > width - indent ? `${word.slice(0, width - indent - 1)}…` : word;
    const isEmpty = line.trim() === '';
    if (!isEmpty && line.length + 1 + part.length > width) {
      lines.push(line);
      line = `${margin}${part}`;
    } else line = isEmpty ? `${line}${part}` : `${line} ${part}`;
  }
  return [...lines, line];
}
