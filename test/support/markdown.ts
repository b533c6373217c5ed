// Reads pages of Markdown: headings with their anchors, links and fenced code. The documentation's site and its tests use
// this file.

export interface Heading {
  readonly level: number;
  /** Text without markup. */
  readonly text: string;
  /** Fragment of a link to this heading, as GitHub builds it. */
  readonly anchor: string;
  /** 1-based. */
  readonly line: number;
}

export interface Link {
  readonly text: string;
  readonly target: string;
  readonly isImage: boolean;
  /** 1-based. */
  readonly line: number;
}

export interface Fence {
  /** Line of text above the fence; empty if the fence follows a heading or another fence. */
  readonly above: string;
  /** First word of the info string; empty if there is none. */
  readonly language: string;
  /** Rest of the info string. */
  readonly info: string;
  readonly text: string;
  /** Line of the opening fence, 1-based. */
  readonly line: number;
}

export interface MarkdownTable {
  /** Text of the first row. */
  readonly titles: readonly string[];
  /** Cells of the other rows, with their markup. */
  readonly rows: readonly (readonly string[])[];
}

export interface MarkdownPage {
  readonly headings: readonly Heading[];
  readonly links: readonly Link[];
  readonly fences: readonly Fence[];
  readonly tables: readonly MarkdownTable[];
}

const FENCE = /^( *)(`{3,})[ \t]*(\S*)[ \t]*(.*)\n([\s\S]*?)^ *\2[ \t]*$/gm;
const CODE_SPAN = /(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g;
const LINK = /(!?)\[((?:[^[\]]|!?\[[^[\]]*\](?:\([^()]*\))?)*)\]\(\s*<?([^\s()<>]+)>?(?:\s+"[^"]*")?\s*\)/g;

export function readMarkdown(text: string): MarkdownPage {
  const fences = [...text.matchAll(FENCE)].map((match) => ({
    above: aboveOf(text.slice(0, match.index)),
    language: match[3]!,
    info: match[4]!.trim(),
    text: match[5]!,
    line: lineOf(text, match.index),
  }));
  const prose = text.replace(FENCE, blank).replace(/<!--[\s\S]*?-->/g, blank);
  return {
    headings: headingsOf(prose),
    links: [...linksOf(prose.replace(CODE_SPAN, blank))],
    fences,
    tables: tablesOf(prose),
  };
}

/** Returns the fragment of a link to a heading, before duplicates are numbered. GitHub's rule. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

function headingsOf(prose: string): Heading[] {
  const uses = new Map<string, number>();
  return [...prose.matchAll(/^(#{1,6})[ \t]+(.+?)[ \t]*#*$/gm)].map((match) => {
    const text = match[2]!.replace(LINK, '$2').replace(/[`*]|(?<!\w)_|_(?!\w)/g, '');
    const anchor = anchorOf(text);
    const use = uses.get(anchor) ?? 0;
    uses.set(anchor, use + 1);
    const line = lineOf(prose, match.index);
    return { level: match[1]!.length, text, anchor: use === 0 ? anchor : `${anchor}-${use}`, line };
  });
}

function* linksOf(prose: string): Generator<Link> {
  for (const match of prose.matchAll(LINK)) {
    const line = lineOf(prose, match.index);
    yield { text: match[2]!, target: match[3]!, isImage: match[1] === '!', line };
    // A picture may be the text of a link.
    for (const inner of linksOf(match[2]!)) yield { ...inner, line };
  }
}

function tablesOf(prose: string): MarkdownTable[] {
  return Array.from(prose.matchAll(/^(?:\|.*\|\n)+/gm), ([text]) => {
    const [titles = [], , ...rows] = text.trimEnd().split('\n').map(cellsOf);
    return { titles, rows };
  });
}

function cellsOf(line: string): string[] {
  const cells = line.slice(1, -1).split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function aboveOf(before: string): string {
  const line = before.trimEnd().split('\n').at(-1)!;
  return /^ *(#|`{3})/.test(line) ? '' : line;
}

/** Replaces everything but line breaks, so that lines keep their numbers. */
const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length;
