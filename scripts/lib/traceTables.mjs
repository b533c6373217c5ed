// Writes the tables of docs/trace-format.md from the schema of the trace.
const BEGIN = '<!-- Written by scripts/writeTraceTables.mjs from src/protocol/traceSchema.ts. -->';
const END = '<!-- End of the written tables. -->';

/** Formats lists as text, and escapes bars, which would end a cell. */
function cell(text) {
  return text.replaceAll('|', '\\|');
}

function meaning({ doc, among }) {
  return among === undefined ? doc : `${doc} One of ${among.map((text) => `\`${text}\``).join(', ')}.`;
}

const HEADER = ['column', 'type', 'unit', 'meaning', 'absent', 'since'];
const UNITS = { time: 'seconds since 1970' };

function absence({ absent }, type) {
  const value = type === 'float64' ? 'NaN' : 'null';
  return absent === undefined ? '' : `${value}: ${absent}`;
}

function tableText(name, { row, since = '1.0' }, columns, types) {
  const rows = columns.map((column) => {
    const { title, kind, unit = '', since: own = since } = column;
    const type = types[kind];
    return [`\`${title}\``, type, UNITS[unit] ?? unit, meaning(column), absence(column, type), own].map(cell);
  });
  return [`### ${name}.arrows`, '', `One row per ${row}.`, '', ...aligned([HEADER, ...rows]), ''].join('\n');
}

/** Aligns the lines of a table like the formatter of this repository. */
function aligned(rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((cells) => cells[i].length)));
  const line = (cells) => `| ${cells.map((text, i) => text.padEnd(widths[i])).join(' | ')} |`;
  const [header, ...others] = rows;
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)];
}

/** Returns all tables as Markdown. The first argument is the compiled traceSchema.js. */
export function traceTables({ TRACE_SCHEMA, RECORDED_TABLES }, fileColumns, types) {
  return RECORDED_TABLES.map((name) => tableText(name, TRACE_SCHEMA[name], fileColumns(name), types)).join(
    '\n',
  );
}

/** Returns the document with new tables. */
export function withTables(text, tables) {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`The document lacks the lines '${BEGIN}' and '${END}'.`);
  return `${text.slice(0, from)}${BEGIN}\n\n${tables}\n${text.slice(to)}`;
}
